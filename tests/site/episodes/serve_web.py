"""One web process as `manage.py serve` runs it, without worker and preparation."""

import os
import signal
import socket
import sys
import threading

import uvicorn

from ember_site.core.management.commands.serve import AnnouncingServer


def end_with_parent() -> None:
    """Stop when the tests are gone: then nobody holds the other end of our input any more."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGINT)


def main() -> None:
    """Serve on a free port of this machine and print the address."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    listener = socket.create_server(("127.0.0.1", 0))
    address = "{}:{}".format(*listener.getsockname())
    config = uvicorn.Config(
        "ember_site.asgi:application",
        lifespan="on",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=5,
        ws_max_size=1024 * 1024,
    )
    AnnouncingServer(config, lambda: print(f"Serving on {address}", flush=True)).run(sockets=[listener])


if __name__ == "__main__":
    main()
