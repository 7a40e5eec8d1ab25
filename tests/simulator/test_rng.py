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
