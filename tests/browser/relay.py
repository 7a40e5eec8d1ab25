"""A relay in front of the site that can fall silent: with it tests break the line to a browser."""

from __future__ import annotations

import contextlib
import socket
import threading
from urllib.parse import urlsplit


class Relay:
    """Passes bytes between browsers and the site. `target` is the site's address and may change."""

    def __init__(self, target: str) -> None:
        self.target = target
        self._flowing = threading.Event()
        self._flowing.set()
        self._ends: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://{}:{}".format(*self._listener.getsockname())
        threading.Thread(target=self._accept, daemon=True).start()

    def fall_silent(self) -> None:
        """Hold every byte back from now on, without closing anything, as a dead network does."""
        self._flowing.clear()

    def speak(self) -> None:
        """Let what was held back and everything after it through."""
        self._flowing.set()

    def cut(self) -> None:
        """Break every line that is open; new ones can be opened at once."""
        ends, self._ends = self._ends, []
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Take no more connections."""
        self._flowing.set()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _address = self._listener.accept()
                threading.Thread(target=self._serve, args=[near], daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        parts = urlsplit(self.target)
        try:
            far = socket.create_connection((str(parts.hostname), parts.port or 80))
        except OSError:
            near.close()
            return
        self._ends += [near, far]
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=self._pump, args=[source, sink], daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._flowing.wait()
                sink.sendall(data)
        # Either end is gone: so is the whole line.
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
