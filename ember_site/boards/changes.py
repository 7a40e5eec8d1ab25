"""
Whose runs changed: notes that the database itself writes, by triggers.

A board of ten thousand entries is kept in memory and brought up to date from these notes, so it has to
hold that no write can forget its note and that no reader can miss one.

Writers: triggers on runs, agents and accounts add a row in the transaction of the change, whoever makes
the change and however. They only ever add, so no two transactions wait for each other.

Readers: on SQLite transactions commit one after the other, so the IDs of notes rise in the order in which
notes become visible. On PostgreSQL they need not: there a note carries the number of its transaction, and
a reader starts again from the oldest transaction that was still under way at its last look.

Old notes are pruned. Each look sees, in the same query, the oldest note that is left: a reader who was away
for so long that notes may have gone since knows it, and reads everything again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from ember_site.boards.models import Change

RUN_COLUMNS = (
    "agent_id", "scenario_id", "seed", "simulator_version", "observation_version", "ranked", "state",
    "evacuated", "casualties", "exit_step_total", "ended", "visibility", "hidden_until", "hidden_ref",
    "withdrawn_at", "created_at",
)  # fmt: skip
AGENT_COLUMNS = ("slug", "name", "kind", "visibility", "owner_id")
USER_COLUMNS = ("username", "display_name")
"""What a board shows or judges by. A change of anything else is no change of a board."""

KEPT_NOTES = 10_000
"""A process that is further behind than this reads a board as a whole sooner than by its notes."""

TABLES = ("boards_change", "runs_run", "runs_agent", "accounts_user")
PREFIX = "boards_note_"


@dataclass(frozen=True, slots=True)
class Changes:
    """What a look at the notes gave: agents by the note's ID, and from where the next look starts."""

    since: int
    agents: Mapping[int, int]
    whole: bool
    """Whether no note from the mark on can have been pruned; else only a fresh reading is right."""


def changes_since(since: int | None) -> Changes:
    """
    The notes from a mark on; None gives those alone that the next look may give again. One query.

    Notes may come again in the next look: tell them by their IDs. What is read of runs after this look
    is at least as new as the notes.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT txid_snapshot_xmin(txid_current_snapshot()), (SELECT min(mark) FROM boards_change), "
                "(SELECT json_object_agg(id, agent_id) FROM boards_change "
                "WHERE mark >= coalesce(%s, txid_snapshot_xmin(txid_current_snapshot())))",
                [since],
            )
        else:
            cursor.execute(
                "SELECT (SELECT coalesce(max(id), 0) + 1 FROM boards_change), "
                "(SELECT min(id) FROM boards_change), "
                "(SELECT json_group_object(id, agent_id) FROM boards_change WHERE id >= %s)",
                [2**62 if since is None else since],
            )
        mark, oldest, notes = cursor.fetchone()
    if isinstance(notes, str):  # SQLite has JSON as text
        notes = json.loads(notes)
    agents = {int(key): agent for key, agent in (notes or {}).items()}
    # What is pruned is older than the mark of its time, and marks never fall: while the mark stands still,
    # nothing from it on can be gone.
    whole = since is None or oldest is None or oldest <= since or mark <= since
    return Changes(mark, agents, whole=whole)


def changes_prune(**_: Any) -> int:
    """
    Delete all but the newest notes and give how many went; a receiver of `queue_swept`.

    Safe beside readers and writers: whatever goes is older than all that stays and all that may still
    come, so the oldest note that a reader sees tells whether it missed one.
    """
    notes = Change.objects.all()
    last_to_stay = notes.order_by("-pk").values_list("pk", "mark")[KEPT_NOTES - 1 : KEPT_NOTES].first()
    if last_to_stay is None:
        return 0
    pk, mark = last_to_stay
    if connection.vendor == "postgresql":
        old = notes.filter(mark__lt=min(mark, _oldest_under_way()))
    else:
        old = notes.filter(pk__lt=pk)
    return old.delete()[0]


def _oldest_under_way() -> int:
    """The number of the oldest transaction that may still commit a note, on PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT txid_snapshot_xmin(txid_current_snapshot())")
        return int(cursor.fetchone()[0])


def changes_watched() -> bool:
    """Whether every trigger is in place and active; where one is missing nothing may be kept. One query."""
    vendor = connection.vendor
    if vendor not in _TRIGGERS:
        return False
    catalogue = (
        "SELECT count(*) FROM pg_trigger WHERE tgname LIKE %s AND NOT tgisinternal AND tgenabled <> 'D' "
        "AND pg_table_is_visible(tgrelid)"
        if vendor == "postgresql"
        else "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name LIKE %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(catalogue, [f"{PREFIX}%"])
        return bool(cursor.fetchone()[0] == len(_TRIGGERS[vendor]))


def changes_watch(*, using: str = "default", **_: Any) -> None:
    """
    Put the triggers in place; a receiver of `post_migrate`.

    After each migration and not in one, because on SQLite changing a table makes it anew without them.
    """
    database = connections[using]
    if database.vendor not in _TRIGGERS:
        return
    with database.cursor() as cursor:
        if not set(TABLES) <= set(database.introspection.table_names(cursor)):
            return
        if database.vendor == "postgresql":
            for statement in _FUNCTIONS:
                cursor.execute(statement)
        for name, (table, body) in _TRIGGERS[database.vendor].items():
            _trigger_make(database, name, table, body)


def _trigger_make(database: BaseDatabaseWrapper, name: str, table: str, body: str) -> None:
    with database.cursor() as cursor:
        if database.vendor == "postgresql":  # making a trigger locks the table, so not where there is one
            cursor.execute(
                "SELECT 1 FROM pg_trigger WHERE tgname = %s AND tgrelid = %s::regclass", [name, table]
            )
            if cursor.fetchone():
                return
        else:
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
        cursor.execute(f"CREATE TRIGGER {name} {body}")


def _differ(columns: tuple[str, ...]) -> str:
    return " OR ".join(f"OLD.{column} IS NOT NEW.{column}" for column in columns)


def _rows_differ(columns: tuple[str, ...]) -> str:
    old, new = (", ".join(f"{row}.{column}" for column in columns) for row in ("OLD", "NEW"))
    return f"({old}) IS DISTINCT FROM ({new})"


# Names of tables and columns here are constants of this module; nothing comes from outside.
_NOTE = "INSERT INTO boards_change (agent_id, mark)"
_SQLITE = {
    f"{PREFIX}run_added": (
        "runs_run",
        "AFTER INSERT ON runs_run WHEN NEW.state = 'verified' AND NEW.agent_id IS NOT NULL "
        f"BEGIN {_NOTE} VALUES (NEW.agent_id, 0); END",
    ),
    f"{PREFIX}run_removed": (
        "runs_run",
        "AFTER DELETE ON runs_run WHEN OLD.state = 'verified' AND OLD.agent_id IS NOT NULL "
        f"BEGIN {_NOTE} VALUES (OLD.agent_id, 0); END",
    ),
    f"{PREFIX}run_changed": (
        "runs_run",
        f"AFTER UPDATE OF {', '.join(RUN_COLUMNS)} ON runs_run "
        f"WHEN (OLD.state = 'verified' OR NEW.state = 'verified') AND ({_differ(RUN_COLUMNS)}) "
        f"BEGIN {_NOTE} SELECT OLD.agent_id, 0 WHERE OLD.agent_id IS NOT NULL "
        "UNION SELECT NEW.agent_id, 0 WHERE NEW.agent_id IS NOT NULL; END",
    ),
    f"{PREFIX}agent_changed": (
        "runs_agent",
        f"AFTER UPDATE OF {', '.join(AGENT_COLUMNS)} ON runs_agent WHEN {_differ(AGENT_COLUMNS)} "
        f"BEGIN {_NOTE} VALUES (NEW.id, 0); END",
    ),
    f"{PREFIX}user_changed": (
        "accounts_user",
        f"AFTER UPDATE OF {', '.join(USER_COLUMNS)} ON accounts_user WHEN {_differ(USER_COLUMNS)} "
        f"BEGIN {_NOTE} SELECT id, 0 FROM runs_agent WHERE owner_id = NEW.id; END",
    ),
}
_POSTGRESQL = {
    f"{PREFIX}run": (
        "runs_run",
        f"AFTER INSERT OR UPDATE OR DELETE ON runs_run FOR EACH ROW EXECUTE FUNCTION {PREFIX}run()",
    ),
    f"{PREFIX}agent": (
        "runs_agent",
        f"AFTER UPDATE ON runs_agent FOR EACH ROW EXECUTE FUNCTION {PREFIX}agent()",
    ),
    f"{PREFIX}user": (
        "accounts_user",
        f"AFTER UPDATE ON accounts_user FOR EACH ROW EXECUTE FUNCTION {PREFIX}user()",
    ),
}
_FUNCTIONS = (
    f"""
    CREATE OR REPLACE FUNCTION {PREFIX}run() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP <> 'INSERT' THEN
        IF OLD.agent_id IS NOT NULL AND OLD.state = 'verified'
           AND (TG_OP = 'DELETE' OR {_rows_differ(RUN_COLUMNS)}) THEN
          {_NOTE} VALUES (OLD.agent_id, txid_current());
        END IF;
      END IF;
      IF TG_OP <> 'DELETE' THEN
        IF NEW.agent_id IS NOT NULL AND NEW.state = 'verified'
           AND (TG_OP = 'INSERT' OR {_rows_differ(RUN_COLUMNS)}
                AND (OLD.state, OLD.agent_id) IS DISTINCT FROM (NEW.state, NEW.agent_id)) THEN
          {_NOTE} VALUES (NEW.agent_id, txid_current());
        END IF;
      END IF;
      RETURN NULL;
    END $$
    """,
    f"""
    CREATE OR REPLACE FUNCTION {PREFIX}agent() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF {_rows_differ(AGENT_COLUMNS)} THEN
        {_NOTE} VALUES (NEW.id, txid_current());
      END IF;
      RETURN NULL;
    END $$
    """,
    f"""
    CREATE OR REPLACE FUNCTION {PREFIX}user() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF {_rows_differ(USER_COLUMNS)} THEN
        {_NOTE} SELECT id, txid_current() FROM runs_agent WHERE owner_id = NEW.id;
      END IF;
      RETURN NULL;
    END $$
    """,
)
_TRIGGERS = {"sqlite": _SQLITE, "postgresql": _POSTGRESQL}
