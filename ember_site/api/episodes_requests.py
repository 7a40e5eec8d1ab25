"""What clients send to live episodes, read as strictly as on the socket."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import msgspec

from ember_site.accounts.visitors import Viewer
from ember_site.boards.slots import slot_to_play, slot_to_rank
from ember_site.catalog.models import Scenario
from ember_site.catalog.selectors import scenario_get
from ember_site.core.errors import BadInput
from ember_site.episodes.models import Episode
from ember_site.episodes.protocol import Act
from ember_site.episodes.seeds import seed_read

SLOT = re.compile(r"(?P<slug>[-a-zA-Z0-9_]{1,80})/(?P<position>[1-9][0-9]{0,5})")
PLACE = re.compile(r" - at `\$\.?(?P<place>[^`]*)`$")

Sent = TypeVar("Sent", bound=msgspec.Struct)


class StartRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A wish to play: `mode` is `practice`, `ranked`, or the slot `<evaluation>/<number>`."""

    agent: Annotated[str, msgspec.Meta(max_length=80)]
    scenario: Annotated[str, msgspec.Meta(max_length=200)] = ""
    mode: Annotated[str, msgspec.Meta(max_length=90)] = "practice"
    seed: Annotated[str, msgspec.Meta(max_length=20)] | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """What is to be played; without a seed a secret one is drawn."""

    scenario: Scenario
    mode: str
    seed: int | None


def start_read(body: Any) -> StartRequest:
    """Read the body of a new episode.

    Raises:
        BadInput: with the place.
    """
    return _read(body, StartRequest)


def act_read(body: Any) -> Act:
    """Read the body of a step: that of the socket's `act`, without its kind.

    Raises:
        BadInput: with the place.
    """
    return _read({**body, "t": "act"} if isinstance(body, dict) and "t" not in body else body, Act)


def start_resolve(wish: StartRequest, *, viewer: Viewer) -> Start:
    """Find scenario and seed.

    Raises:
        NotFound: no such scenario or slot.
        WrongState: the slot cannot be played now.
        BadInput: the parts do not fit together.
    """
    if wish.seed is not None and wish.mode != Episode.Mode.PRACTICE:
        raise BadInput("A seed may be chosen in practice only.", place="seed")
    if slot := SLOT.fullmatch(wish.mode):
        return _start_of_slot(wish, slot, viewer)
    if wish.mode not in (Episode.Mode.PRACTICE, Episode.Mode.RANKED):
        raise BadInput("Expected practice, ranked, or a slot such as public-dev/3.", place="mode")
    if not wish.scenario:
        raise BadInput("Expected the hash of a scenario, or suite/id.", place="scenario")
    scenario = scenario_get(viewer=viewer, ref=wish.scenario)
    if wish.mode == Episode.Mode.PRACTICE:
        return Start(scenario, wish.mode, None if wish.seed is None else seed_read(wish.seed))
    return Start(scenario, wish.mode, int(slot_to_rank(scenario=scenario).seed))


def _start_of_slot(wish: StartRequest, slot: re.Match[str], viewer: Viewer) -> Start:
    found = slot_to_play(viewer=viewer, slug=slot["slug"], position=int(slot["position"]))
    if wish.scenario and scenario_get(viewer=viewer, ref=wish.scenario) != found.scenario:
        raise BadInput(f"The slot {wish.mode} has another scenario.", place="scenario")
    return Start(found.scenario, Episode.Mode.RANKED, int(found.seed))


def _read(body: Any, kind: type[Sent]) -> Sent:
    try:
        return msgspec.convert(body, kind)
    except msgspec.ValidationError as error:
        text = str(error)[:300]
        place = PLACE.search(text)
        raise BadInput(
            f"{PLACE.sub('', text)}.", place=place["place"].removesuffix("[...]") if place else None
        ) from error
