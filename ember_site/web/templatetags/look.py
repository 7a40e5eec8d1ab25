"""What templates need to draw the site: navigation, footer, and the numbers behind small marks."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.template.base import NodeList, Parser, Token
from django.template.context import Context
from django.urls import reverse

from simulator.versions import OBSERVATION_VERSION, SCHEMA_VERSION, SIMULATOR_VERSION

register = template.Library()

NAVIGATION = (
    ("suites", "Suites", "suite_list"),
    ("play", "Play", "play_index"),
    ("live", "Live", "live_list"),
    ("boards", "Boards", "board_list"),
    ("submit", "Submit", "submit"),
    ("docs", "Docs", "docs"),
)
"""Key of the section, its label and the name of its first page."""

LOSS_STEPS = ((10, 10), (9, 10), (8, 10), (65, 100), (40, 100))
"""Lower bounds of the share evacuated for shades 0 to 4; below the last it is shade 5."""

VERDICT_WORDS = {
    "queued": "Queued",
    "running": "Replaying",
    "verified": "Verified",
    "rejected": "Refused",
    "failed": "Failed on our side",
}

STATUS_TITLES = {
    401: "Sign in first",
    403: "You may not do this",
    404: "Nothing at this address",
    409: "Not in this state",
    410: "No longer here",
    413: "Too large",
    422: "Something is not as expected",
    429: "Too many requests",
    503: "Not available just now",
}

INTERVAL_LEFT, INTERVAL_RIGHT = 4.0, 146.0
"""Ends of the interval's axis in the units of components/interval.html."""


class MastheadNode(template.Node):
    """Renders the masthead; what stands inside the tag names the current section."""

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> str:
        current = self.nodelist.render(context).strip()
        links = [{"key": key, "label": label, "url": reverse(name)} for key, label, name in NAVIGATION]
        masthead = context.template.engine.get_template("components/masthead.html")  # type: ignore[union-attr]
        with context.push(links=links, current=current):
            return masthead.render(context)


@register.tag
def masthead(parser: Parser, token: Token) -> MastheadNode:
    """Wrap the block that names the current section: {% masthead %}suites{% endmasthead %}."""
    nodelist = parser.parse(("endmasthead",))
    parser.delete_first_token()
    return MastheadNode(nodelist)


@register.inclusion_tag("components/footer.html")
def site_footer() -> dict[str, Any]:
    """Show the versions that a run pins."""
    return {
        "simulator_version": SIMULATOR_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "schema_version": SCHEMA_VERSION,
    }


@register.simple_tag
def loss_step(evacuated: int, population: int) -> int:
    """Shade of a heat cell, 0 (nobody lost) to 5, by exact comparison."""
    for step, (share, whole) in enumerate(LOSS_STEPS):
        if evacuated * whole >= share * population:
            return step
    return len(LOSS_STEPS)


@dataclass(frozen=True)
class IntervalPoints:
    """Where score, low and high end of an interval stand on the drawn axis."""

    score: float
    low: float | None
    high: float | None
    outside: bool


@register.simple_tag
def interval_points(
    score: float, low: float | str | None, high: float | str | None, start: float = 0
) -> IntervalPoints:
    """Place a score and its interval (all 0 to 1) on an axis from `start` to 1.

    A score left of the axis is marked as outside; an interval that begins left of it is cut there.
    Ends that a template does not have are None or empty.
    """

    def x(value: float | str) -> float:
        share = max(0.0, (float(value) - float(start)) / (1 - float(start)))
        return round(INTERVAL_LEFT + (INTERVAL_RIGHT - INTERVAL_LEFT) * share, 2)

    return IntervalPoints(
        score=x(score),
        low=None if low in (None, "") else x(low),
        high=None if high in (None, "") else x(high),
        outside=float(score) < float(start),
    )


@register.filter
def percent(share: float | None, digits: int = 1) -> str:
    """A share from 0 to 1 as a percentage without its sign; a dash for None."""
    return "–" if share is None else f"{float(share) * 100:.{int(digits)}f}"


@register.filter
def decimal(value: float | None, digits: int = 2) -> str:
    """A number, exact fractions included, with that many decimals; a dash for None."""
    return "–" if value is None else f"{float(value):.{int(digits)}f}"


@register.filter
def points(share: float) -> float:
    """A share as percentage points."""
    return float(share) * 100


@register.filter
def signed(value: float, digits: int = 1) -> str:
    """A number with its sign, a true minus; what rounds to nothing has none."""
    text = f"{float(value):+.{int(digits)}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


@register.filter
def verdict_word(state: str) -> str:
    """The word for a verification's state."""
    return VERDICT_WORDS.get(str(state), str(state))


@register.filter
def hash_groups(value: str) -> str:
    """A hash in groups of eight characters."""
    return " ".join(value[i : i + 8] for i in range(0, len(value), 8))


@register.filter
def hash_ends(value: str) -> str:
    """The first sixteen and the last eight characters of a hash."""
    return f"{value[:8]} {value[8:16]} … {value[-8:]}" if len(value) > 32 else value


@register.filter
def bytes_size(value: int) -> str:
    """A number of bytes in the largest unit that keeps it readable (kB = 1000 bytes)."""
    if value < 1000:
        return f"{value} bytes"
    if value < 1_000_000:
        return f"{value / 1000:.3g} kB"
    return f"{value / 1_000_000:.3g} MB"


@register.filter
def status_title(status: int) -> str:
    """The heading of an error page."""
    return STATUS_TITLES.get(int(status), "This did not work")


@register.filter
def data_label(name: str) -> str:
    """The name of a field of an error's data as a label: retry_at becomes Retry at."""
    return name.replace("_", " ").capitalize()


@register.filter
def at_key(mapping: dict[Any, Any], key: Any) -> Any:
    """What a mapping holds under a key that is itself a variable; nothing where it has none."""
    return mapping.get(key)
