"""API tokens: making, showing once, using, revoking."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from knox.auth import TokenAuthentication

from ember_site.accounts.models import ApiToken, User
from ember_site.accounts.notices import notice_create
from ember_site.accounts.selectors import notices_unread, token_list
from ember_site.accounts.services import token_create, token_mark_used, token_revoke
from ember_site.core import clock
from ember_site.core.errors import BadInput, LimitExceeded, NotFound, SignInRequired
from tests.conftest import PASSWORD

NO_TOKEN = "00000000-0000-4000-8000-000000000000"


def make_token(owner: User, **fields: object) -> tuple[ApiToken, str]:
    return token_create(**{"owner": owner, "name": "laptop", "scope": "submit", "days": 30} | fields)


def test_only_the_digest_of_a_key_is_stored(user: User) -> None:
    token, key = make_token(user)
    stored = ApiToken.objects.values_list(named=False).get(pk=token.pk)
    assert key.startswith("ember_")
    assert key not in map(str, stored)
    assert token.expiry is not None
    assert token.expiry - clock.now() > timedelta(days=29)


def test_the_key_names_its_owner_and_a_changed_key_nobody(user: User) -> None:
    _, key = make_token(user)
    authenticated, token = TokenAuthentication().authenticate_credentials(key.encode())
    assert authenticated == user
    assert token.name == "laptop"
    wrong = key[:-1] + ("0" if key[-1] != "0" else "1")
    with pytest.raises(Exception, match="Invalid token"):
        TokenAuthentication().authenticate_credentials(wrong.encode())


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"name": "   "}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"name": "lap\u202epot"}, "name"),
        ({"name": "laptop\u200b"}, "name"),
        ({"name": "lap\0top"}, "name"),
        ({"scope": "admin"}, "scope"),
        ({"days": 0}, "days"),
        ({"days": 366}, "days"),
    ],
)
def test_what_a_token_cannot_be_is_refused_with_its_place(
    user: User, fields: dict[str, object], place: str
) -> None:
    with pytest.raises(BadInput) as refusal:
        make_token(user, **fields)
    assert refusal.value.place == place
    assert not ApiToken.objects.exists()


def test_an_account_has_a_limited_number_of_tokens(user: User, settings: object) -> None:
    settings.EMBER_TOKENS_PER_USER = 2
    make_token(user)
    make_token(user)
    with pytest.raises(LimitExceeded) as refusal:
        make_token(user)
    assert refusal.value.data == {"limit": 2, "used": 2}
    assert refusal.value.error_code == "too_many_tokens"


def test_nobody_sees_or_revokes_the_token_of_another(user: User, other_user: User) -> None:
    token, _ = make_token(user)
    assert list(token_list(viewer=user)) == [token]
    assert list(token_list(viewer=other_user)) == []
    with pytest.raises(NotFound):
        token_revoke(owner=other_user, public_id=token.public_id)
    with pytest.raises(SignInRequired):
        token_list(viewer=AnonymousUser())
    token_revoke(owner=user, public_id=token.public_id)
    assert not ApiToken.objects.exists()
    with pytest.raises(NotFound):
        token_revoke(owner=user, public_id=token.public_id)


def test_the_last_use_is_noted_to_the_minute(
    user: User, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: object
) -> None:
    token, _ = make_token(user)
    start = clock.now()
    monkeypatch.setattr(clock, "now", lambda: start)
    token_mark_used(token=token)
    token.refresh_from_db()
    assert token.last_used_at == start
    monkeypatch.setattr(clock, "now", lambda: start + timedelta(seconds=30))
    with django_assert_num_queries(0):
        token_mark_used(token=token)
    monkeypatch.setattr(clock, "now", lambda: start + timedelta(seconds=90))
    token_mark_used(token=token)
    token.refresh_from_db()
    assert token.last_used_at == start + timedelta(seconds=90)


def test_the_page_shows_a_new_key_once(user_client: Client) -> None:
    answer = user_client.post("/me/tokens/create/", {"name": "laptop", "scope": "play", "days": "90"})
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    key = answer.context["key"]
    assert key in answer.content.decode()
    page = user_client.get("/me/tokens/").content.decode()
    assert key not in page
    assert key[:15] in page
    assert "laptop" in page


def test_a_form_that_is_not_right_comes_back_with_its_errors(user_client: Client) -> None:
    answer = user_client.post("/me/tokens/create/", {"name": "", "scope": "root", "days": "90"})
    assert answer.status_code == 422
    assert set(answer.context["form"].errors) == {"name", "scope"}


def test_a_token_that_never_expires_can_be_asked_for(user_client: Client) -> None:
    user_client.post("/me/tokens/create/", {"name": "robot", "scope": "read", "days": "never"})
    assert ApiToken.objects.get().expiry is None


def test_the_page_says_when_there_are_too_many(user_client: Client, settings: object) -> None:
    settings.EMBER_TOKENS_PER_USER = 0
    answer = user_client.post("/me/tokens/create/", {"name": "one", "scope": "read", "days": "7"})
    assert answer.status_code == 429
    assert "An account may have 0 tokens" in answer.content.decode()


def test_revoking_goes_back_to_the_list(user: User, user_client: Client) -> None:
    token, _ = make_token(user)
    answer = user_client.post(f"/me/tokens/{token.public_id}/revoke/", follow=True)
    assert answer.redirect_chain == [("/me/tokens/", 302)]
    assert "The token is revoked" in answer.content.decode()
    assert user_client.post(f"/me/tokens/{NO_TOKEN}/revoke/").status_code == 404


@pytest.mark.parametrize("path", ["/me/tokens/", "/me/tokens/create/", f"/me/tokens/{NO_TOKEN}/revoke/"])
def test_guests_are_led_to_sign_in(db: None, client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 302
    assert answer["Location"] == f"/accounts/login/?next={path}"


@pytest.mark.parametrize("what", ["tokens/create", "tokens/{}/revoke", "notices/read"])
def test_who_was_signed_out_meanwhile_comes_back_to_the_form_and_nothing_is_done(
    what: str, user: User, client: Client
) -> None:
    token, _ = make_token(user)
    notice_create(user=user, key="x", title="Verdicts are in", text="")
    path = f"/me/{what.format(token.public_id)}/"
    door = client.post(path, {"name": "laptop", "scope": "read", "days": "7"})["Location"]
    form = {"login": "ada", "password": PASSWORD, "next": path}
    answer = client.post(door, form, follow=True)
    assert answer.redirect_chain == [(path, 302), (f"/me/{what.split('/')[0]}/", 302)]
    assert answer.status_code == 200
    assert list(ApiToken.objects.all()) == [token]
    assert notices_unread(viewer=user) == 1
