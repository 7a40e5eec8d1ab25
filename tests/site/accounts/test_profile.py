"""The account page: name, mail, sessions, rate limits, deletion."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from allauth.account.models import EmailAddress
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django_tasks_db.models import DBTaskResult

from ember_site.accounts.models import ApiToken, Notice, User
from ember_site.accounts.notices import notice_create
from ember_site.accounts.services import profile_update, token_create
from ember_site.accounts.tasks import forget_sessions
from ember_site.core import clock
from ember_site.core.errors import BadInput
from ember_site.core.models import AuditEntry
from ember_site.runs.models import Agent, Run
from ember_site.runs.tasks import sweep_queue
from tests.conftest import PASSWORD

ROOT = Path(__file__).resolve().parents[3]
FRESH = "ember-under-ash-42"


@pytest.fixture(autouse=True)
def _no_earlier_attempts() -> Iterator[None]:
    """Rate limits count in the cache, which outlives a test."""
    cache.clear()
    yield
    cache.clear()


def sign_in(name: str = "ada", password: str = PASSWORD) -> Client:
    client = Client()
    assert client.post("/accounts/login/", {"login": name, "password": password}).status_code == 302
    return client


def is_signed_in(client: Client) -> bool:
    return client.get("/me/account/").status_code == 200


class TestProfile:
    def test_name_and_mail_are_changed(self, user: User, user_client: Client) -> None:
        assert user_client.post("/me/account/", {"display_name": "  Ada   L. "})["Location"] == "/me/account/"
        user.refresh_from_db()
        assert (user.display_name, user.mail_notices) == ("Ada L.", False)
        user_client.post("/me/account/", {"display_name": "", "mail_notices": "on"})
        user.refresh_from_db()
        assert (user.public_name, user.mail_notices) == ("ada", True)

    def test_a_name_that_is_too_long_is_refused_and_nothing_changes(
        self, user: User, user_client: Client
    ) -> None:
        answer = user_client.post("/me/account/", {"display_name": "x" * 81})
        assert answer.status_code == 422
        assert '<span class="who">ada</span>' in answer.content.decode()
        user.refresh_from_db()
        assert user.display_name == ""

    def test_signs_that_turn_text_around_are_refused(self, user: User) -> None:
        with pytest.raises(BadInput) as refusal:
            profile_update(user=user, display_name="ada\u202egrace", mail_notices=True)
        assert refusal.value.place == "display_name"

    def test_it_is_for_people_with_an_account(self, db: None, client: Client) -> None:
        for path in ("/me/account/", "/me/account/delete/"):
            assert "/accounts/login/" in client.get(path)["Location"]


class TestSessions:
    def test_signing_out_ends_the_session_for_every_copy_of_its_cookie(self, user: User) -> None:
        client = sign_in()
        thief = Client()
        thief.cookies["ember_session"] = client.cookies["ember_session"].value
        assert is_signed_in(thief)
        client.post("/accounts/logout/")
        assert not is_signed_in(client)
        assert not is_signed_in(thief)

    def test_a_new_password_ends_all_other_sessions(self, user: User) -> None:
        here, elsewhere = sign_in(), sign_in()
        form = {"oldpassword": PASSWORD, "password1": FRESH, "password2": FRESH}
        assert here.post("/accounts/password/change/", form).status_code == 302
        assert is_signed_in(here)
        assert not is_signed_in(elsewhere)

    def test_an_account_that_is_switched_off_is_out_at_once(self, user: User) -> None:
        client = sign_in()
        User.objects.filter(pk=user.pk).update(is_active=False)
        assert not is_signed_in(client)


class TestRateLimits:
    def test_too_many_sign_ups_get_a_page_that_says_when(self, db: None, client: Client) -> None:
        form = {"username": "x", "password1": "a", "password2": "b"}
        for _ in range(20):
            assert client.post("/accounts/signup/", form).status_code == 200
        answer = client.post("/accounts/signup/", form)
        assert answer.status_code == 429
        assert int(answer["Retry-After"]) > 0
        assert "Too many tries" in answer.content.decode()
        assert 'class="mast"' in answer.content.decode(), "in the frame of the site"

    @pytest.mark.parametrize(
        ("path", "form", "limit"),
        [
            ("/accounts/login/", {"login": "nobody", "password": "x"}, 30),
            ("/accounts/password/reset/", {"email": "nobody@example.org"}, 20),
        ],
    )
    def test_every_door_has_a_limit(
        self, db: None, client: Client, path: str, form: dict[str, str], limit: int
    ) -> None:
        answers = [client.post(path, form).status_code for _ in range(limit + 1)]
        assert answers[-1] == 429
        assert 429 not in answers[:5]

    def test_another_address_is_not_held_up(self, db: None, client: Client) -> None:
        form = {"username": "x", "password1": "a", "password2": "b"}
        for _ in range(21):
            client.post("/accounts/signup/", form)
        assert client.post("/accounts/signup/", form, REMOTE_ADDR="192.0.2.7").status_code == 200

    def test_a_header_does_not_change_the_address(self, db: None, client: Client) -> None:
        form = {"username": "x", "password1": "a", "password2": "b"}
        for number in range(20):
            client.post("/accounts/signup/", form, headers={"x-forwarded-for": f"192.0.2.{number}"})
        answer = client.post("/accounts/signup/", form, headers={"x-forwarded-for": "192.0.2.99"})
        assert answer.status_code == 429

    def test_a_program_gets_a_problem_document(self, db: None, client: Client) -> None:
        form = {"username": "x", "password1": "a", "password2": "b"}
        for _ in range(20):
            client.post("/accounts/signup/", form)
        answer = client.post("/accounts/signup/", form, headers={"accept": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (429, "too_many")
        assert int(answer["Retry-After"]) > 0
        assert datetime.fromisoformat(answer.json()["retry_at"]) > clock.now()


class TestDeletion:
    @pytest.fixture
    def ada(self, make_user: Callable[..., User]) -> User:
        ada = make_user("ada", email="ada@example.org", display_name="Ada L.")
        EmailAddress.objects.create(user=ada, email=ada.email, primary=True, verified=True)
        token_create(owner=ada, name="laptop", scope="read", days=None)
        notice_create(user=ada, key="x", title="Hello", text="")
        agent = Agent.objects.create(slug="ada-planner", name="Ada's planner", owner=ada, note="by Ada")
        Run.objects.create(
            agent=agent,
            scenario_hash="0" * 64,
            digest="1" * 64,
            seed="1",
            source="upload",
            record_size_bytes=1,
        )
        return ada

    def test_the_password_is_asked_for(self, ada: User) -> None:
        client = sign_in()
        answer = client.post("/me/account/delete/", {"password": "wrong"})
        assert answer.status_code == 422
        assert "not the password" in answer.content.decode()
        ada.refresh_from_db()
        assert ada.is_active

    def test_guessing_it_has_a_limit(self, ada: User) -> None:
        client = sign_in()
        answers = [
            client.post("/me/account/delete/", {"password": f"guess{number}"}).status_code
            for number in range(11)
        ]
        assert answers[-1] == 429

    def test_nothing_of_the_person_stays_and_every_session_ends(self, ada: User) -> None:
        client, elsewhere, visitor = sign_in(), sign_in(), Client()
        run = Run.objects.get()
        assert visitor.get("/agents/ada-planner/").status_code == 200
        answer = client.post("/me/account/delete/", {"password": PASSWORD}, follow=True)
        assert "Your account is deleted" in answer.content.decode()
        assert not is_signed_in(client)
        assert not is_signed_in(elsewhere)
        for model in (ApiToken, Notice, EmailAddress):
            assert not model.objects.filter(user=ada).exists()
        row = str(User.objects.filter(pk=ada.pk).values().get()) + str(Agent.objects.values().get())
        for trace in ("ada", "Ada", "example.org"):
            assert trace not in row
        assert visitor.get("/agents/ada-planner/").status_code == 404
        assert visitor.get(f"/runs/{run.pk}/").status_code in (404, 410)
        assert visitor.post("/accounts/login/", {"login": "ada", "password": PASSWORD}).status_code == 200

    def test_a_worker_deletes_what_is_stored_of_the_sessions(self, ada: User, other_user: User) -> None:
        clients = sign_in(), sign_in(), sign_in("grace")
        assert Session.objects.count() == 3
        clients[0].post("/me/account/delete/", {"password": PASSWORD})
        task = DBTaskResult.objects.get(task_path__endswith="forget_sessions")
        forget_sessions.call(**task.args_kwargs["kwargs"])
        assert [session.get_decoded()["_auth_user_id"] for session in Session.objects.all()] == [
            str(other_user.pk)
        ]
        assert is_signed_in(clients[2])
        forget_sessions.call(**task.args_kwargs["kwargs"])

    def test_the_log_keeps_the_decision_without_the_name(self, ada: User, organiser: User) -> None:
        sign_in().post("/me/account/delete/", {"password": PASSWORD})
        actions = AuditEntry.objects.filter(actor_id=ada.pk).values_list("action", flat=True)
        assert {"account.erased", "run.withdrawn"} <= set(actions)
        page = sign_in("olga").get("/audit/").content.decode()
        assert "Ada" not in page
        assert "deleted-" in page

    def test_the_name_is_free_again(self, ada: User, client: Client) -> None:
        sign_in().post("/me/account/delete/", {"password": PASSWORD})
        answer = client.post("/accounts/signup/", {"username": "ada", "password1": FRESH, "password2": FRESH})
        assert answer.status_code == 302


@pytest.mark.parametrize(("mail_url", "asked"), [("", "none"), ("smtp://mail.example.org", "mandatory")])
def test_confirmation_is_asked_for_only_where_mail_leaves(tmp_path: Path, mail_url: str, asked: str) -> None:
    program = (
        "import json, django; django.setup(); from django.conf import settings as s;"
        "print(json.dumps([s.ACCOUNT_EMAIL_VERIFICATION, s.EMAIL_BACKEND, s.ACCOUNT_SIGNUP_FIELDS]))"
    )
    environment = {"EMBER_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "ember_site.settings"}
    if mail_url:
        environment["EMAIL_URL"] = mail_url
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    verification, backend, fields = json.loads(done.stdout)
    assert verification == asked
    assert ("console" in backend) is (mail_url == "")
    assert ("email*" in fields) is (mail_url != "")


@pytest.mark.django_db
def test_workers_remove_expired_sessions_when_they_start_and_once_a_day(user_client: Client) -> None:
    kept = Session.objects.get()

    def expired(key: str) -> None:
        Session.objects.create(session_key=key, session_data="", expire_date=clock.now() - timedelta(hours=1))

    def left() -> set[str]:
        return set(Session.objects.values_list("session_key", flat=True))

    expired("old")
    call_command("sweep_runs", verbosity=0)  # as `work` does when it starts
    assert left() == {kept.session_key}
    expired("newer")
    sweep_queue.call()
    assert left() == {kept.session_key, "newer"}, "the day is not over"
    cache.clear()
    sweep_queue.call()
    assert left() == {kept.session_key}
