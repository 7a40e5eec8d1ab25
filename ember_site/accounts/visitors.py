"""Who asks: a person with an account or a guest, in the words in which selectors and services are asked."""

from __future__ import annotations

from typing import TypeAlias, TypedDict

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from ember_site.accounts.guests import guest_key_get
from ember_site.accounts.models import User

Viewer: TypeAlias = User | AnonymousUser


class Asker(TypedDict):
    """A viewer with the key that ties a guest to what was made in the same session; empty without one."""

    viewer: Viewer
    guest_key: str


def visitor_of(request: HttpRequest) -> Asker:
    """Who asks by this request, as keyword arguments."""
    return {"viewer": request.user, "guest_key": guest_key_get(request.session)}


def is_organiser(viewer: Viewer | None) -> bool:
    """Whether the viewer may run evaluations on this site."""
    return viewer is not None and viewer.is_authenticated and viewer.is_organiser
