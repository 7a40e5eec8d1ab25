"""Who gets which page: one table of (route, method, role, status). A route that is missing fails the test.

The API has a table of its own (`tests/site/api/test_api_roles.py`); between them they name every route.
"""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.test import Client

from ember_site.accounts.models import User
from tests.site.core.pages import PAGES, pages

ROLES = ("guest", "other user", "organiser", "owner")
"""The owner has a private agent with run, upload and live episode, a token and a notice."""

Row = tuple[int, int, int, int]
SHOWN: Row = (200, 200, 200, 200)
NOBODY: Row = (405, 405, 405, 405)  # the page knows no such method
MEMBERS: Row = (302, 200, 200, 200)  # guests are led to sign in
MEMBERS_NOBODY: Row = (302, 405, 405, 405)
DONE: Row = (302, 302, 302, 302)  # done or refused, it leads on to another page
HIDDEN: Row = (404, 404, 200, 200)

# What GET and POST, this one with an empty form, answer to each role.
TABLE: dict[str, tuple[Row, Row]] = {
    # Accounts
    "account_login": ((200, 302, 302, 302), (200, 302, 302, 302)),
    "account_logout": (MEMBERS, DONE),
    "account_inactive": (SHOWN, NOBODY),
    "account_signup": ((200, 302, 302, 302), (200, 302, 302, 302)),
    "account_reauthenticate": (MEMBERS, MEMBERS),
    "account_request_reauthentication_code": (DONE, DONE),
    "account_confirm_reauthentication_code": (DONE, DONE),
    "account_email": (MEMBERS, DONE),
    "account_email_verification_sent": (SHOWN, NOBODY),
    "account_change_password": (MEMBERS, MEMBERS),
    "account_set_password": (DONE, DONE),  # for accounts without one, of which there are none
    "account_reset_password": (SHOWN, SHOWN),
    "account_confirm_login_code": (DONE, DONE),
    "account_confirm_email": (SHOWN, (404, 404, 404, 404)),  # a link that is not good
    "account_reset_password_from_key": (SHOWN, SHOWN),  # likewise: says so, sets nothing
    "account_reset_password_from_key_done": (SHOWN, NOBODY),
    "account_reset_password_done": (SHOWN, NOBODY),
    "account": (MEMBERS, MEMBERS),
    "account_delete": (MEMBERS, MEMBERS),
    "notices": (MEMBERS, MEMBERS_NOBODY),
    "notices_read": (DONE, DONE),
    "notice_open": ((302, 404, 404, 302), MEMBERS_NOBODY),
    "tokens": (MEMBERS, MEMBERS_NOBODY),
    "token_create": (DONE, (302, 422, 422, 422)),  # GET leads back to the form, and changes nothing
    "token_revoke": (DONE, (302, 404, 404, 302)),
    "me": (MEMBERS, MEMBERS_NOBODY),
    # The site itself
    "home": (SHOWN, NOBODY),
    "docs": (SHOWN, NOBODY),
    "docs_page": (SHOWN, NOBODY),
    "docs_image": (SHOWN, NOBODY),
    "healthz": (SHOWN, NOBODY),
    "readyz": (SHOWN, NOBODY),
    "status": (SHOWN, NOBODY),
    "status_json": (SHOWN, NOBODY),
    "audit": ((302, 403, 200, 403), MEMBERS_NOBODY),
    # Suites and scenarios
    "suite_list": (SHOWN, NOBODY),
    "suite_detail": (SHOWN, NOBODY),
    "suite_manifest": (SHOWN, NOBODY),
    "suite_archive": (SHOWN, NOBODY),
    "scenario_detail": (SHOWN, NOBODY),
    "scenario_file": (SHOWN, NOBODY),
    "scenario_layout": (SHOWN, NOBODY),
    "scenario_observation": (SHOWN, NOBODY),
    # Agents, uploads, runs
    "agent_list": (SHOWN, NOBODY),
    "agent_create": (MEMBERS, MEMBERS),
    "agent_detail": (HIDDEN, NOBODY),
    "agent_edit": ((302, 404, 403, 200), (302, 404, 403, 200)),
    "submit": (SHOWN, (401, 422, 422, 422)),
    "submission_list": (MEMBERS, MEMBERS_NOBODY),
    "submission_detail": (HIDDEN, NOBODY),
    "submission_status": (HIDDEN, NOBODY),
    "run_detail": (HIDDEN, NOBODY),
    "run_record": (HIDDEN, NOBODY),
    "run_track": (HIDDEN, NOBODY),
    "run_status": (HIDDEN, NOBODY),
    "run_visibility": (NOBODY, (422, 422, 422, 422)),  # says nothing of the run before the form is right
    "run_verify": (NOBODY, (404, 404, 302, 403)),
    # Live episodes
    "play_index": (SHOWN, NOBODY),
    "scenario_play": (SHOWN, DONE),
    "watch_start": (NOBODY, DONE),
    "guest_claim": (MEMBERS_NOBODY, DONE),
    "live_list": (SHOWN, NOBODY),
    "live_detail": (SHOWN, NOBODY),
    "watch_speed": (NOBODY, (403, 403, 403, 403)),  # it is no baseline's
    # Boards
    "board_list": (SHOWN, NOBODY),
    "board_detail": (SHOWN, NOBODY),
    "board_json": (SHOWN, NOBODY),
    "board_csv": (SHOWN, NOBODY),
    "board_atom": (SHOWN, NOBODY),
    # Last, since it cannot be undone
    "run_withdraw": (NOBODY, (404, 404, 403, 302)),
}


def test_the_tables_name_every_route_and_no_other() -> None:
    assert sorted(str(pattern.name) for pattern in pages()) == sorted(TABLE), "each has a name of its own"


def test_every_role_gets_what_the_table_says(
    addresses: dict[str, str], user: User, other_user: User, organiser: User
) -> None:
    people = {"other user": other_user, "organiser": organiser, "owner": user}

    def ask(role: str, method: str, name: str) -> int:
        cache.clear()  # the limits of the account pages have tests of their own
        client = Client()
        if role in people:
            client.force_login(people[role])
        return int(getattr(client, method)(addresses[name]).status_code)

    wrong = {
        (name, method, role): (got, wanted)
        for name, rows in TABLE.items()
        for method, row in zip(("get", "post"), rows, strict=True)
        for role, wanted in zip(ROLES, row, strict=True)
        if (got := ask(role, method, name)) != wanted
    }
    assert wrong == {}


def test_every_writing_page_asks_for_djangos_token(addresses: dict[str, str], user: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    answers = {name: client.post(address).status_code for name, address in addresses.items()}
    assert answers == dict.fromkeys(addresses, 403)


def test_every_page_says_which_methods_it_knows(addresses: dict[str, str], user: User) -> None:
    client = Client()
    client.force_login(user)
    own = {name: address for name, address in addresses.items() if is_ours(name)}
    for name, address in own.items():
        reads, writes = (rows != NOBODY and rows != MEMBERS_NOBODY for rows in TABLE[name])
        known = [m for m, may in (("GET", reads), ("HEAD", reads), ("POST", writes)) if may]
        for method in ("put", "patch", "delete"):
            answer = getattr(client, method)(address)
            assert (answer.status_code, answer["Allow"]) == (405, ", ".join(known)), (method, name)
        assert client.head(address).status_code == TABLE[name][0][ROLES.index("owner")], name


@pytest.mark.parametrize("who", ["guest", "owner"])
def test_a_program_is_refused_with_a_document_on_every_page(
    who: str, addresses: dict[str, str], user: User
) -> None:
    client = Client(headers={"accept": "application/json"})
    if who == "owner":
        client.force_login(user)
    for method in ("get", "post", "put", "delete", "options"):
        for name, address in addresses.items():
            cache.clear()
            answer = getattr(client, method)(address)
            assert answer.status_code < 500, (method, name)
            assert "/accounts/login/?" not in answer.get("Location", ""), (method, name)
            if answer.status_code >= 400:
                assert answer["Content-Type"] in documents(name), (method, name)


def documents(name: str) -> set[str]:
    """How a page refuses a program; allauth's forms name each field's fault in their own way."""
    return {"application/problem+json"} if is_ours(name) else {"application/problem+json", "application/json"}


def is_ours(name: str) -> bool:
    """Whether the page is made here, and not by allauth."""
    return bool(PAGES[name].callback.__module__.startswith("ember_site."))
