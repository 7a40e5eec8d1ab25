"""Every route of the site outside the API, and an address for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, reverse

from ember_site.accounts.models import User
from ember_site.accounts.notices import notice_create
from ember_site.accounts.services import token_create
from ember_site.boards.services import evaluation_ensure_open
from ember_site.catalog.services import suite_import
from ember_site.environment import BASE_DIR
from ember_site.web.documents import document_images
from tests.site.api.world import world_make


def pages(patterns: list[Any] | None = None, before: str = "") -> Iterator[URLPattern]:
    """The routes, in the order in which they are tried."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        address = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from pages(pattern.url_patterns, address)
        elif not address.startswith("api/v1/"):
            yield pattern


PAGES = {str(pattern.name): pattern for pattern in pages()}


def addresses_make(*, owner: User) -> dict[str, str]:
    """Make one of everything, private where it can be, and give the address of every page about it."""
    suite = suite_import(directory=BASE_DIR / "scenarios" / "public" / "v1")
    world = world_make(owner=owner, evaluation=evaluation_ensure_open(suite=suite))
    notice = notice_create(user=owner, key="x", title="Verdicts are in", text="All good.", page="suite_list")
    token, _ = token_create(owner=owner, name="laptop", scope="read", days=1)
    assert notice is not None
    parts: dict[str, Any] = dict(world.names) | {
        "notice_id": notice.pk, "public_id": token.public_id, "key": "bad", "uidb36": "1",
        "name": next(iter(document_images())), "policy": "greedy",
    }  # fmt: skip
    slugs = {"agent_detail": parts["agent_slug"], "agent_edit": parts["agent_slug"], "docs_page": "api"}
    found = {}
    for name, pattern in PAGES.items():
        wanted = getattr(pattern.pattern, "converters", None) or pattern.pattern.regex.groupindex
        own = parts | {"slug": slugs.get(name, parts["slug"])}
        found[name] = reverse(name, kwargs={part: own.get(part, parts["content_hash"]) for part in wanted})
    return found
