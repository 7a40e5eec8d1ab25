"""SplitMix64 streams: published vectors, seeds, draws and positions."""

from __future__ import annotations

import hashlib

import pytest

from simulator import rng
from tests.simulator.reference_engine import SplitMix

PUBLISHED = {
    1234567: [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ],
    0: [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F],
}


@pytest.mark.parametrize("start", PUBLISHED)
def test_the_published_vectors_hold(start: int) -> None:
    stream = rng.SplitMix64(start)
    assert [stream.next_output() for _ in PUBLISHED[start]] == PUBLISHED[start]


@pytest.mark.parametrize("seed", [0, 1, 42, 2**53 + 1, 2**64 - 1])
@pytest.mark.parametrize("label", ["fire", "policy/random"])
def test_the_stream_seed_is_the_head_of_a_sha256(seed: int, label: str) -> None:
    digest = hashlib.sha256(f"emberbench/stream/{label}/{seed}".encode()).digest()
    assert rng.stream_seed(seed, label) == int.from_bytes(digest[:8], "big")


def test_labels_give_unrelated_streams() -> None:
    assert rng.stream_seed(7, "fire") != rng.stream_seed(7, "policy/random")


@pytest.mark.parametrize("seed", [0, 5, 2**64 - 1])
def test_outputs_equal_those_of_the_plain_generator(seed: int) -> None:
    stream, plain = rng.SplitMix64.stream(seed, "fire"), SplitMix(seed, "fire")
    assert [stream.next_output() for _ in range(200)] == [plain.output() for _ in range(200)]


def test_uniform_draws_lie_in_the_half_open_unit_interval() -> None:
    stream, plain = rng.SplitMix64.stream(3, "fire"), SplitMix(3, "fire")
    bits = rng.UNIFORM_BITS
    draws = [(stream.next_output() >> (64 - bits)) * 2.0**-bits for _ in range(1000)]
    assert draws == [plain.uniform() for _ in range(1000)]
    assert all(0.0 <= draw < 1.0 for draw in draws)
    assert 0.45 < sum(draws) / len(draws) < 0.55


def test_the_largest_output_gives_a_draw_below_one() -> None:
    assert ((2**64 - 1) >> 11) * 2.0**-53 < 1.0


def test_the_position_counts_draws_and_the_state_is_a_counter() -> None:
    stream = rng.SplitMix64.stream(9, "fire")
    outputs = [stream.next_output() for _ in range(10)]
    assert stream.position == 10
    for position, output in enumerate(outputs):
        assert rng.SplitMix64(rng.stream_seed(9, "fire"), position).next_output() == output
