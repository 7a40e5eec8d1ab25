"""A mailbox stays small, and a reader never has an unannounced hole."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ember_site.episodes.mailbox import CONTROL_KEPT, Mailbox


class Source:
    """Publishes steps 1, 2, 3… into a mailbox whose snapshot is the newest step."""

    def __init__(self, max_frames: int = 32, max_bytes: int = 512 * 1024) -> None:
        self.step = 0
        self.box = Mailbox(max_frames=max_frames, max_bytes=max_bytes, snapshot=lambda: f"S{self.step}")

    def publish(self, padding: int = 0) -> None:
        self.step += 1
        self.box.put_delta(f"D{self.step}" + " " * padding)

    async def drain(self) -> list[str]:
        self.box.close()
        frames = []
        while (frame := await self.box.take()) is not None:
            frames.append(frame.strip())
        return frames


async def test_frames_come_out_in_order() -> None:
    source = Source()
    source.publish()
    source.box.put_control("ack")
    source.publish()
    assert await source.drain() == ["D1", "ack", "D2"]


async def test_too_many_frames_become_one_snapshot_of_the_newest_state() -> None:
    source = Source(max_frames=4)
    for _ in range(50):
        source.publish()
    assert len(source.box) == 1
    assert await source.drain() == ["S50"]


async def test_too_many_bytes_become_one_snapshot() -> None:
    source = Source(max_bytes=1000)
    for _ in range(5):
        source.publish(padding=300)
    assert source.box.size_bytes <= 1000
    assert await source.drain() == ["S5"]


async def test_deltas_after_a_snapshot_was_taken_follow_it() -> None:
    source = Source(max_frames=2)
    for _ in range(3):
        source.publish()
    assert await source.box.take() == "S3"
    source.publish()
    assert await source.drain() == ["D4"]


async def test_acks_survive_a_collapse_but_stay_bounded() -> None:
    source = Source(max_frames=16)
    for number in range(100):
        source.publish()
        source.box.put_control(f"ack{number}")
    frames = await source.drain()
    assert frames[0].startswith("S")
    assert frames[-1] == "ack99"
    assert len([frame for frame in frames if frame.startswith("ack")]) <= 16 + CONTROL_KEPT


@settings(max_examples=200)
@given(st.lists(st.sampled_from(["publish", "take", "control", "sync"]), max_size=120), st.integers(2, 6))
async def test_a_reader_of_any_speed_always_reaches_the_newest_state(moves: list[str], frames: int) -> None:
    source = Source(max_frames=frames)
    got: list[str] = []
    for move in moves:
        if move == "publish":
            source.publish()
        elif move == "control":
            source.box.put_control("C")
        elif move == "sync":
            source.box.put_snapshot()
        elif len(source.box):
            frame = await source.box.take()
            assert frame is not None
            got.append(frame)
        assert len(source.box) <= frames + 1
    got += await source.drain()
    step = 0
    for frame in got:
        if frame.startswith("D"):
            assert int(frame[1:]) == step + 1, got
            step += 1
        elif frame.startswith("S"):
            assert int(frame[1:]) >= step, got
            step = int(frame[1:])
    assert step == source.step
