"""The language of the episode socket: close codes, frames, and strict reading of what clients send."""

from __future__ import annotations

import json
import math
from enum import IntEnum
from typing import Annotated, Any, Literal

import msgspec

PROTOCOL_VERSION = 1
MAX_STEP = 2**31 - 1
MAX_NESTING = 4
MAX_ID_LENGTH = 64


class CloseCode(IntEnum):
    """Why a socket was closed; a client decides by it whether to come back."""

    RESTART = 1012
    OVERLOADED = 1013
    BAD_MESSAGES = 4400
    SIGN_IN = 4401
    NOT_ALLOWED = 4403
    NO_SUCH_EPISODE = 4404
    TOO_SLOW = 4408
    TAKEN_OVER = 4409
    OVER = 4410
    TOO_MANY = 4429


Step = Annotated[int, msgspec.Meta(ge=0, le=MAX_STEP)]


class Have(msgspec.Struct, forbid_unknown_fields=True):
    """What the client already holds: the step of its last observation."""

    step: Step


class Hello(msgspec.Struct, tag="hello", tag_field="t", forbid_unknown_fields=True):
    """First message: the protocol version, and where to go on from."""

    v: Literal[1]
    have: Have | None = None


class Act(msgspec.Struct, tag="act", tag_field="t", forbid_unknown_fields=True):
    """Make `step` (1-based) with one action for each active person; `assist` is the help used."""

    step: Annotated[int, msgspec.Meta(ge=1, le=MAX_STEP)]
    actions: dict[str, str]
    assist: Literal[0, 1, 2] = 0


class Sync(msgspec.Struct, tag="sync", tag_field="t", forbid_unknown_fields=True):
    """Ask for the present state as one snapshot."""


class Got(msgspec.Struct, tag="got", tag_field="t", forbid_unknown_fields=True):
    """The client has drawn everything up to this step."""

    step: Step


class Ping(msgspec.Struct, tag="ping", tag_field="t", forbid_unknown_fields=True):
    """Ask for a sign of life."""


ClientMessage = Hello | Act | Sync | Got | Ping
_decoder = msgspec.json.Decoder(ClientMessage, strict=True)


class MessageError(Exception):
    """A message from a client that cannot be understood."""

    def __init__(self, code: str, message: str) -> None:
        """`code` is stable and listed in docs/errors.md; `message` is a sentence."""
        super().__init__(message)
        self.code = code
        self.message = message


def message_read(text: str | bytes | None, *, max_bytes: int) -> ClientMessage:
    """Read one client message, strictly.

    Refused are: binary frames, more than `max_bytes`, anything that is not one JSON object of
    a known kind, unknown, missing or repeated keys, numbers that are not plain integers in
    range, and nesting beyond what any message needs. It never raises anything else.

    Raises:
        MessageError: with the code `message_binary`, `message_too_large` or `message_invalid`.
    """
    if not isinstance(text, str):
        raise MessageError("message_binary", "Messages are JSON text, not binary.")
    # A character is at least one byte, so the cheap test comes first.
    if len(text) > max_bytes or len(text.encode("utf-8", "surrogatepass")) > max_bytes:
        raise MessageError("message_too_large", f"A message may have at most {max_bytes} bytes.")
    if _nesting(text) > MAX_NESTING:
        raise MessageError("message_invalid", f"The message is nested deeper than {MAX_NESTING} levels.")
    try:
        message = _decoder.decode(text)
        json.loads(text, object_pairs_hook=_unique_keys)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise MessageError("message_invalid", _sentence(error)) from error
    return message


def _nesting(text: str) -> int:
    """Depth of brackets, those inside strings included: an upper bound of the real depth.

    Person IDs cannot hold brackets, so a valid message is never refused for it.
    """
    depth = deepest = 0
    for character in text:
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
            if deepest > MAX_NESTING:
                return deepest
        elif character in "]}":
            depth -= 1
    return deepest


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        # One look at each key: thousands fit into a message, and the event loop reads it.
        seen: set[str] = set()
        for key, _value in pairs:
            if key in seen:
                break
            seen.add(key)
        raise ValueError(f"The key {key[:MAX_ID_LENGTH]!r} is repeated.")
    return result


def _sentence(error: Exception) -> str:
    text = str(error) or "The message is not valid."
    return text[:300]


def frame(kind: str, **content: Any) -> str:
    """One server message as JSON text, ASCII, `t` first."""
    return json.dumps({"t": kind, **content}, separators=(",", ":"), allow_nan=False)


def frame_welcome(*, step: int, role: str, state: str, watchers: int, limits: dict[str, float]) -> str:
    """Answer to `hello`; a snapshot or the missing deltas follow."""
    return frame(
        "welcome",
        v=PROTOCOL_VERSION,
        step=step,
        role=role,
        state=state,
        watchers=watchers,
        limits=limits,
    )


def frame_snapshot(observation: dict[str, Any]) -> str:
    """The whole present state."""
    return frame("snapshot", observation=observation)


def frame_delta(delta: dict[str, Any]) -> str:
    """The next state as a change."""
    return frame("delta", **delta)


def frame_ack(*, step: int, result: str, now: int, code: str = "", place: str = "", message: str = "") -> str:
    """Answer to `act`: `step` is the one asked for, `now` the last one made."""
    content: dict[str, Any] = {"step": step, "result": result, "now": now}
    content.update({key: value for key, value in (("code", code), ("place", place)) if value})
    if message:
        content["message"] = message
    return frame("ack", **content)


def frame_end(*, reason: str, summary: dict[str, int], run: str | None, seed: str | None) -> str:
    """The episode is over. `run` and `seed` are null where they must stay hidden."""
    return frame("end", reason=reason, summary=summary, run=run, seed=seed)


def frame_crowd(watchers: int) -> str:
    """How many sockets watch."""
    return frame("crowd", n=watchers)


def frame_notice(code: str, message: str) -> str:
    """Something that the reader should know and need not answer."""
    return frame("notice", code=code, message=message)


def frame_speed(steps_per_second: float) -> str:
    """Who started a baseline changed its speed."""
    message = f"The baseline now makes {steps_per_second:g} steps a second."
    return frame("notice", code="speed", message=message, steps_per_second=steps_per_second)


def frame_err(code: str, message: str) -> str:
    """The last message was refused; nothing happened."""
    return frame("err", code=code, message=message)


def frame_bye(close: CloseCode, why: str, *, retry_s: float | None = None) -> str:
    """The socket closes now; `retry` is the number of seconds after which to come back, or null."""
    retry = None if retry_s is None or not math.isfinite(retry_s) else retry_s
    return frame("bye", code=int(close), why=why, retry=retry)


def frame_pong(step: int) -> str:
    """Answer to `ping`: the last step, so that a quiet client notices a gap."""
    return frame("notice", code="pong", step=step, message="")
