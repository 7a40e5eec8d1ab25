"""`manage.py serve`: the whole site with one command, for a person at home."""

import socket
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from redis.exceptions import RedisError

from ember_site.core.http_protocol import PipelineProtocol
from ember_site.core.static_collection import static_collect
from ember_site.core.stopping import end_promptly, stop_at_once, stop_with
from ember_site.core.turn import turn
from ember_site.core.worker_process import WorkerProcess

PUBLIC_SUITE = Path("scenarios", "public", "v1")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  (compared with, not bound to)
CLOSE_TIMEOUT_S = 5
SOCKET_FRAME_MAX_BYTES = 4 * settings.EMBER_SOCKET_MESSAGE_MAX_BYTES
"""Above the limit that consumers enforce with a code of their own; beyond it the socket just closes."""


class AnnouncingServer(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as usual, then tell, unless asked to stop meanwhile."""
        await super().startup(sockets=sockets)
        if self.started and not self.should_exit:
            self._announce()


class Command(BaseCommand):
    """Prepares database, static files, suite and demo data, then runs web process and worker."""

    help = "Prepare and run the whole site: one web process and one worker. Ctrl-C stops both."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to serve on (default: %(default)s)")
        parser.add_argument("--port", type=int, default=8000, help="port to serve on (default: %(default)s)")
        parser.add_argument("--no-demo", action="store_true", help="do not add demo agents to a new database")

    def handle(self, *args: Any, **options: Any) -> None:
        """Claim the port first, since everything else is in vain without it."""
        stop_at_once()
        host, port = options["host"], options["port"]
        with listener_open(host, port) as listener:
            with turn(settings.EMBER_DATA / "preparing", waiting=self._wait):
                self._prepare(demo=not options["no_demo"])
            self._run(listener, host)
        self.stdout.write("\nStopped.")
        end_promptly()

    def _prepare(self, *, demo: bool) -> None:
        self._say("Preparing the database")
        services_reach()
        call_command("migrate", interactive=False, verbosity=0)
        if static_collect():
            self._say("Collected the static files")
        self._say("Importing the public suite")
        call_command("import_suite", settings.BASE_DIR / PUBLIC_SUITE, verbosity=0)
        seeded = settings.EMBER_DATA / "seeded"
        if seeded.exists():
            return
        self._say("Running the baselines")
        call_command("run_baselines", verbosity=0)
        if demo:
            self._say("Adding demo agents")
            call_command("seed_demo", verbosity=0)
        seeded.touch()

    def _run(self, listener: socket.socket, host: str) -> None:
        settings.ALLOWED_HOSTS.extend(host_names(host))
        port = listener.getsockname()[1]
        server = AnnouncingServer(server_config(), lambda: self._announce(host, port))
        worker = WorkerProcess()
        stop_with(server.handle_exit)
        worker.start()
        try:
            server.run(sockets=[listener])
        finally:
            stop_at_once()  # who presses again does not want to wait; the worker leaves by itself then
            worker.stop()

    def _announce(self, host: str, port: int) -> None:
        shown = "127.0.0.1" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
        python = Path(sys.executable)
        if python.is_relative_to(settings.BASE_DIR):
            python = python.relative_to(settings.BASE_DIR)
        self.stdout.write("")
        self.stdout.write(self.style.SUCCESS(f"EMBERBench is ready:  http://{shown}:{port}/"))
        self.stdout.write(f"To make an organiser: {python} manage.py createsuperuser")
        self.stdout.write("Ctrl-C stops it.")
        self.stdout.flush()

    def _wait(self) -> None:
        self._say("Waiting for another start on the same data folder")

    def _say(self, what: str) -> None:
        self.stdout.write(f"{what} …")
        self.stdout.flush()


def server_config(app: Any = "ember_site.asgi:application", **changed: Any) -> uvicorn.Config:
    """Give the settings of a web process: of the site, or of another application as the site is served."""
    options: dict[str, Any] = {
        "lifespan": "on",
        "http": PipelineProtocol,
        "log_config": None,
        "access_log": False,
        "proxy_headers": bool(settings.PUBLIC_URL),
        "server_header": False,
        "timeout_graceful_shutdown": CLOSE_TIMEOUT_S,
        "ws_max_size": SOCKET_FRAME_MAX_BYTES,
    }
    return uvicorn.Config(app, **options | changed)


def listener_open(host: str, port: int) -> socket.socket:
    """
    Open the socket that the site will be served on.

    Raises:
        CommandError: in plain words, when the port is taken or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OverflowError as error:
        raise CommandError(f"There is no port {port}; choose one from 1 to 65535.") from error
    except OSError as error:
        other = port + 1 if port < 65535 else 8000
        raise CommandError(
            f"Cannot serve on {host} port {port}: {error.strerror or error}. "
            f"If another program has the port, choose one that is free: "
            f"make run PORT={other}, or manage.py serve --port {other}"
        ) from error


def services_reach() -> None:
    """
    Reach for the database, and for Redis where it is set, before anything depends on them.

    Raises:
        CommandError: in plain words, when one is not there or not what it should be.
    """
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        raise CommandError(f"The database cannot be used: {error}") from error
    if settings.REDIS_URL:
        try:
            cache.get("reached")
        except RedisError as error:
            raise CommandError(f"Redis (REDIS_URL) cannot be used: {error}") from error


def host_names(host: str) -> list[str]:
    """Give the names under which a site served on the address may be asked for."""
    if host not in EVERYWHERE:
        return [f"[{host}]" if ":" in host else host]
    name = socket.gethostname()
    try:
        addresses = socket.gethostbyname_ex(name)[2]
    except OSError:
        addresses = []
    return [name, f"{name}.local", *addresses]
