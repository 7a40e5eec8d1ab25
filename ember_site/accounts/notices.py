"""Write notices: told once, read, and sent by one e-mail."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from smtplib import SMTPException, SMTPResponseException

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.db.models import F

from ember_site.accounts.models import MailState, Notice, User
from ember_site.core import clock

logger = logging.getLogger(__name__)

MAIL_TRIES = 5
FIRST_PAUSE = timedelta(minutes=1)
"""Before the second try; each further pause is four times as long."""

LOST_AFTER = timedelta(minutes=2)
"""A mail that is due for so long has lost its task to a killed worker and gets another."""

PERMANENT_REPLY = 500
"""SMTP replies from here on mean that trying again is of no use."""


@transaction.atomic
def notice_create(
    *, user: User, key: str, title: str, text: str, page: str = "", argument: str = ""
) -> Notice | None:
    """
    Tell an account something, once for each `key`; None where it was told before.

    Call it in the transaction of the event itself. The e-mail follows from a task of the same transaction,
    where the account has an address and wants it.
    """
    now = clock.now()
    state = MailState.DUE if takes_mail(user) else MailState.NONE
    notice, created = Notice.objects.get_or_create(
        user=user,
        key=key,
        defaults={
            "title": title,
            "text": text,
            "page": page,
            "argument": argument,
            "created_at": now,
            "mail_state": state,
            "mail_after": now if state == MailState.DUE else None,
        },
    )
    if not created:
        return None
    if state == MailState.DUE:
        _task_make(notice)
    return notice


def takes_mail(user: User) -> bool:
    """Whether notices go to this account by e-mail too."""
    return user.is_active and user.mail_notices and bool(user.email)


def notice_mark_read(*, notice: Notice) -> None:
    """Note that the notice was read. Twice is once."""
    Notice.objects.filter(pk=notice.pk, read_at__isnull=True).update(read_at=clock.now())


def notices_mark_read(*, user: User, key: str = "") -> int:
    """Note that the account read all its notices, or the one of an event; the number that was unread."""
    unread = Notice.objects.filter(user=user, read_at__isnull=True)
    if key:
        unread = unread.filter(key=key)
    return unread.update(read_at=clock.now())


def notice_mail_send(*, notice_id: int) -> None:
    """
    Send the e-mail of a notice if it is due: at most once, whatever dies meanwhile.

    Must not run inside a transaction: the claim has to be committed before the server is asked.
    """
    now = clock.now()
    due = Notice.objects.filter(pk=notice_id, mail_state=MailState.DUE, mail_after__lte=now)
    if not due.update(mail_state=MailState.SENDING, mail_tries=F("mail_tries") + 1):
        return
    notice = Notice.objects.select_related("user").get(pk=notice_id)
    if not takes_mail(notice.user):  # changed their mind meanwhile
        _mail_settle(notice, MailState.NONE)
        return
    try:
        _mail_send(notice)
    except TryAgain as reason:
        if notice.mail_tries >= MAIL_TRIES:
            logger.error("The mail of notice %d is given up: %s", notice.pk, reason)
            _mail_settle(notice, MailState.FAILED)
        else:
            logger.warning("The mail of notice %d could not be sent yet: %s", notice.pk, reason)
            _mail_put_back(notice)
    except (OSError, SMTPException, ValueError):
        # It may have left or never will; sending it again could double it.
        logger.exception("The mail of notice %d failed", notice.pk)
        _mail_settle(notice, MailState.FAILED)
    else:
        _mail_settle(notice, MailState.SENT)


def notices_mail_requeue() -> int:
    """Give a new task to every due mail whose task was lost with its worker; the number of them."""
    now = clock.now()
    lost = Notice.objects.filter(mail_state=MailState.DUE, mail_after__lt=now - LOST_AFTER)[:100]
    for notice in lost:
        with transaction.atomic():
            Notice.objects.filter(pk=notice.pk).update(mail_after=now)
            _task_make(notice)
    return len(lost)


class TryAgain(Exception):
    """The mail has certainly not left; a later try may do better."""


def _mail_send(notice: Notice) -> None:
    """Hand the mail over.

    Raises:
        TryAgain: the server was not reached, or refused for now.
    """
    link = f"{settings.PUBLIC_URL}{notice.path}"
    account = f"{settings.PUBLIC_URL}/me/account/"
    body = f"{notice.text}\n\n{link}\n\n-- \nTo get no more of these mails, change it on {account}\n"
    headers = {"Auto-Submitted": "auto-generated"}
    if settings.PUBLIC_URL:
        headers["List-Unsubscribe"] = f"<{account}>"
    message = EmailMessage(
        subject=f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{' '.join(notice.title.split())}",
        body=body,
        to=[notice.user.email],
        headers=headers,
    )
    connection = get_connection()
    try:
        connection.open()
    except (OSError, SMTPException) as error:
        raise TryAgain(type(error).__name__) from error
    try:
        connection.send_messages([message])
    except SMTPResponseException as error:
        if error.smtp_code < PERMANENT_REPLY:
            raise TryAgain(f"reply {error.smtp_code}") from error
        raise
    finally:
        connection.close()


def _mail_settle(notice: Notice, state: MailState) -> None:
    Notice.objects.filter(pk=notice.pk).update(mail_state=state, mail_after=None)


@transaction.atomic
def _mail_put_back(notice: Notice) -> None:
    after = clock.now() + FIRST_PAUSE * 4 ** (notice.mail_tries - 1)
    Notice.objects.filter(pk=notice.pk).update(mail_state=MailState.DUE, mail_after=after)
    _task_make(notice, run_after=after)


def _task_make(notice: Notice, *, run_after: datetime | None = None) -> None:
    from ember_site.accounts.tasks import mail_notice

    mail_notice.using(run_after=run_after).enqueue(notice_id=notice.pk)
