"""One web process as `manage.py serve` runs it, without worker and preparation."""

import contextlib
import os
import signal
import socket
import sys
import threading

from ember_site.core.management.commands.serve import AnnouncingServer, server_config


def end_with_parent() -> None:
    """Stop when the tests are gone: then nobody holds the other end of our input any more."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGINT)


def main() -> None:
    """
    Serve on a free port of this machine and print the address.

    `TEST_SEND_BUFFER` sets how many bytes the system keeps for who does not read; by itself it may take
    megabytes, by which a test could never tell where a slow reader stands. `TEST_PONG_S` sets how long a
    client may owe a pong, which who does not read never sends.
    """
    threading.Thread(target=end_with_parent, daemon=True).start()
    listener = socket.create_server(("127.0.0.1", 0))
    if send_buffer := os.environ.get("TEST_SEND_BUFFER"):  # the connections inherit it
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, int(send_buffer))
    address = "{}:{}".format(*listener.getsockname())
    config = server_config(ws_ping_timeout=float(os.environ.get("TEST_PONG_S", "20")))
    server = AnnouncingServer(config, lambda: print(f"Serving on {address}", flush=True))
    with contextlib.suppress(KeyboardInterrupt):  # the server ends in order and then passes it on
        server.run(sockets=[listener])


if __name__ == "__main__":
    main()
