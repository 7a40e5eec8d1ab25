"""Notices: told once, read, and mailed at most once, whatever fails meanwhile."""

from __future__ import annotations

import smtplib
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client
from django_tasks_db.models import DBTaskResult

from ember_site.accounts.models import MailState, Notice, User
from ember_site.accounts.notices import (
    LOST_AFTER,
    MAIL_TRIES,
    notice_create,
    notice_mail_send,
    notices_mail_requeue,
    notices_mark_read,
)
from ember_site.accounts.selectors import notice_list, notices_unread
from ember_site.core import clock


@pytest.fixture
def ada(make_user: Callable[..., User]) -> User:
    return make_user("ada", email="ada@example.org")


def tell(user: User, key: str = "submission:1", **fields: str) -> Notice | None:
    return notice_create(user=user, key=key, title="3 of 3 records verified", text="All good.", **fields)


def tasks() -> int:
    return DBTaskResult.objects.filter(status="READY", task_path__endswith="mail_notice").count()


def test_the_same_event_is_told_once(ada: User) -> None:
    assert tell(ada) is not None
    assert tell(ada) is None
    assert notice_list(viewer=ada).count() == 1
    assert tasks() == 1


def test_the_mail_goes_to_the_account_once_however_often_its_task_runs(ada: User) -> None:
    notice = tell(ada, page="submission_detail", argument="00000000-0000-4000-8000-000000000000")
    assert notice is not None
    for _ in range(3):
        notice_mail_send(notice_id=notice.pk)
    (message,) = mail.outbox
    assert message.to == ["ada@example.org"]
    assert message.subject == "[EMBERBench] 3 of 3 records verified"
    assert "/submissions/00000000-0000-4000-8000-000000000000/" in message.body
    assert "/me/account/" in message.body
    notice.refresh_from_db()
    assert notice.mail_state == MailState.SENT


@pytest.mark.parametrize("fields", [{"mail_notices": False}, {"email": ""}, {"is_active": False}])
def test_no_mail_without_address_or_against_the_wish(ada: User, fields: dict[str, object]) -> None:
    User.objects.filter(pk=ada.pk).update(**fields)
    ada.refresh_from_db()
    notice = tell(ada)
    assert notice is not None
    assert tasks() == 0
    notice_mail_send(notice_id=notice.pk)
    assert mail.outbox == []
    assert notices_unread(viewer=ada) == 1


def test_who_opts_out_before_the_mail_leaves_gets_none(ada: User) -> None:
    notice = tell(ada)
    assert notice is not None
    User.objects.filter(pk=ada.pk).update(mail_notices=False)
    notice_mail_send(notice_id=notice.pk)
    assert mail.outbox == []
    notice.refresh_from_db()
    assert notice.mail_state == MailState.NONE


def test_a_line_break_in_a_title_makes_no_header(ada: User) -> None:
    notice = notice_create(user=ada, key="x", title="one\r\nBcc: all@example.org", text="")
    assert notice is not None
    notice_mail_send(notice_id=notice.pk)
    assert mail.outbox[0].subject == "[EMBERBench] one Bcc: all@example.org"


def test_a_server_that_is_away_is_asked_again_later_and_given_up_in_the_end(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(self: EmailBackend) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(EmailBackend, "open", away)
    notice = tell(ada)
    assert notice is not None
    now = clock.now()
    for number in range(1, MAIL_TRIES + 1):
        notice_mail_send(notice_id=notice.pk)
        notice_mail_send(notice_id=notice.pk)  # too early: nothing happens
        notice.refresh_from_db()
        assert notice.mail_tries == number
        if notice.mail_after is not None:
            now = notice.mail_after
            monkeypatch.setattr(clock, "now", lambda now=now: now)
    assert notice.mail_state == MailState.FAILED
    assert mail.outbox == []


def test_a_server_that_says_later_is_asked_again_and_one_that_says_never_is_not(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = {"a": 451, "b": 550}
    states = {}
    for key, reply in replies.items():

        def refuse(self: EmailBackend, messages: object, reply: int = reply) -> int:
            raise smtplib.SMTPDataError(reply, b"no")

        monkeypatch.setattr(EmailBackend, "send_messages", refuse)
        notice = tell(ada, key=key)
        assert notice is not None
        notice_mail_send(notice_id=notice.pk)
        notice.refresh_from_db()
        states[key] = notice.mail_state
    assert states == {"a": MailState.DUE, "b": MailState.FAILED}


def test_a_process_that_dies_while_it_sends_never_makes_a_second_mail(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    real = EmailBackend.send_messages

    def send_and_die(self: EmailBackend, messages: object) -> int:
        real(self, messages)
        raise Killed

    notice = tell(ada)
    assert notice is not None
    monkeypatch.setattr(EmailBackend, "send_messages", send_and_die)
    with pytest.raises(Killed):
        notice_mail_send(notice_id=notice.pk)
    monkeypatch.setattr(EmailBackend, "send_messages", real)
    notice_mail_send(notice_id=notice.pk)
    assert notices_mail_requeue() == 0
    assert len(mail.outbox) == 1


def test_a_mail_whose_task_was_lost_gets_another(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    notice = tell(ada)
    assert notice is not None
    DBTaskResult.objects.all().delete()
    assert notices_mail_requeue() == 0, "a task may still come"
    later = clock.now() + LOST_AFTER + timedelta(seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert notices_mail_requeue() == 1
    assert notices_mail_requeue() == 0
    assert tasks() == 1
    notice_mail_send(notice_id=notice.pk)
    assert len(mail.outbox) == 1


def test_the_frame_of_every_page_counts_what_is_unread(ada: User, client: Client) -> None:
    client.force_login(ada)
    assert "unread" not in client.get("/docs/").content.decode()
    tell(ada)
    tell(ada, key="submission:2")
    assert "2 unread" in client.get("/docs/").content.decode()


def test_opening_a_notice_marks_it_and_leads_to_its_page(ada: User, client: Client) -> None:
    client.force_login(ada)
    notice = tell(ada, page="suite_list")
    assert notice is not None
    tell(ada, key="other")
    page = client.get("/me/notices/").content.decode()
    assert "3 of 3 records verified" in page
    assert client.get(f"/me/notices/{notice.pk}/")["Location"] == "/suites/"
    assert notices_unread(viewer=ada) == 1
    client.post("/me/notices/read/")
    assert notices_unread(viewer=ada) == 0


def test_a_notice_without_a_page_leads_back_to_the_list(ada: User, client: Client) -> None:
    client.force_login(ada)
    notice = tell(ada)
    assert notice is not None
    assert client.get(f"/me/notices/{notice.pk}/")["Location"] == "/me/notices/"


def test_nobody_reads_the_notices_of_another(ada: User, other_user: User, client: Client) -> None:
    notice = tell(ada)
    assert notice is not None
    assert "/accounts/login/" in client.get("/me/notices/")["Location"]
    client.force_login(other_user)
    assert "3 of 3" not in client.get("/me/notices/").content.decode()
    assert client.get(f"/me/notices/{notice.pk}/").status_code == 404
    assert notices_mark_read(user=other_user) == 0
    assert notices_unread(viewer=ada) == 1
