"""Background tasks of accounts: each is safe to run twice."""

from __future__ import annotations

from django_tasks import task

from ember_site.accounts.notices import notice_mail_send
from ember_site.accounts.services import sessions_forget


@task()
def mail_notice(*, notice_id: int) -> None:
    """Send the e-mail of a notice, unless it has left already."""
    notice_mail_send(notice_id=notice_id)


@task()
def forget_sessions(*, user_id: int) -> None:
    """Delete what is stored of the sessions of an account that was erased."""
    sessions_forget(user_id=user_id)
