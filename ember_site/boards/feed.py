"""A board as an Atom feed (RFC 4287): its complete entries, the one that finished last first."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.feedgenerator import Atom1Feed

from ember_site.boards.rows import Board, BoardRow

FEED_ROWS = 100
"""Entries on one page of the feed."""

_ID_SPACE = uuid.UUID("5f0a3f0e-9d0f-4a57-9a3c-6f4d1c1b7a52")
"""IDs of feeds and entries are derived from it, so that they stay the same at another address."""

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class FeedLinks:
    """Absolute addresses: of the board, of this page of the feed and its neighbours, of an agent by slug."""

    board: str
    feed: str
    next: str | None
    previous: str | None
    agent: Callable[[str], str]


class _PagedFeed(Atom1Feed):
    """Atom with links between the pages of a feed (RFC 5005)."""

    def add_root_elements(self, handler: Any) -> None:
        """Write the elements of the feed itself."""
        super().add_root_elements(handler)
        for relation in ("next", "previous"):
            if self.feed[relation]:
                handler.addQuickElement("link", "", {"rel": relation, "href": self.feed[relation]})

    def latest_post_date(self) -> Any:
        """When the newest entry of the whole board finished, whatever page this is."""
        return self.feed["updated"]


def board_atom(board: Board, rows: Sequence[BoardRow], links: FeedLinks) -> bytes:
    """
    One page of the feed; `rows` are complete entries of the board.

    The title of an entry says rank, name and score, its summary all three criteria. It is updated
    when another run counts.
    """
    evaluation = board.evaluation
    finished = (row.entry.finished_at for row in board.ranked)
    feed = _PagedFeed(
        title=f"EMBERBench: {evaluation.title}",
        link=links.board,
        description="",
        subtitle="Agents with a verified run for every slot; the one that finished last comes first.",
        feed_url=links.feed,
        feed_guid=_id(evaluation.slug),
        author_name="EMBERBench",
        next=links.next,
        previous=links.previous,
        updated=max(finished, default=evaluation.created_at),
    )
    for row in rows:
        _entry_add(feed, board, row, links)
    return feed.writeString("utf-8").encode()


def _entry_add(feed: Atom1Feed, board: Board, row: BoardRow, links: FeedLinks) -> None:
    scores, attempts = row.entry.scores, row.entry.attempt_count
    assert scores is not None  # a complete entry
    evacuated, casualties = float(scores.evacuation_rate) * 100, float(scores.casualty_rate) * 100
    feed.add_item(
        title=f"#{row.entry.rank} {_xml(row.agent.name)}: {evacuated:.1f} % evacuated",
        link=links.agent(row.agent.slug),
        description=f"Rank {row.entry.rank}: {evacuated:.1f} % evacuated, {casualties:.1f} % casualties, "
        f"exit step {float(scores.exit_step):.2f}; {attempts} verified run{'s' * (attempts != 1)}.",
        unique_id=_id(f"{board.evaluation.slug}/{row.entry.key}"),
        updateddate=row.entry.finished_at,
        author_name=_xml(row.agent.owner_name) or "EMBERBench",
        categories=[row.agent.kind],
    )


def _id(text: str) -> str:
    return uuid.uuid5(_ID_SPACE, text).urn


def _xml(text: str) -> str:
    """Text without what XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
