"""A small thread-safe store that keeps the most recently used values."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """Unlike ``functools.lru_cache``, the key is chosen by the caller, not by hashing big arguments."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = Lock()
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of ``key``, made once; two threads may both make it, the first one stays."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        made = make()
        with self._lock:
            value = self._values.setdefault(key, made)
            while len(self._values) > self._size:
                self._values.popitem(last=False)
        return value
