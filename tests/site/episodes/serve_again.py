"""Web processes on one port, one after the other: when one is gone, the next one starts.

Each is forked from this process, which has loaded the site but holds no connection, thread or socket,
so that a start takes a moment. `TEST_DIE_AT` (`commit:5` or `publish:5`) lets the first of them kill
itself in step 5, just before it is committed or before it is published.
"""

import contextlib
import os
import select
import signal
import socket
import sys
import threading
from typing import Any

from ember_site.asgi import application
from ember_site.core.management.commands.serve import AnnouncingServer, server_config
from ember_site.episodes import hub
from ember_site.episodes.answers import StepAnswer, StepResult
from ember_site.episodes.models import EpisodeStep
from tests.site.episodes.serve_web import end_with_parent
from tests.site_server import port_keep


def die_at(place: str, number: int) -> None:
    """Kill this process in a step: before its row is committed, or before anybody is told of it."""
    create, make_step = EpisodeStep.objects.create, hub.episode_step

    def created(**values: Any) -> EpisodeStep:
        row = create(**values)
        if values["step"] == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return row

    def made(**values: Any) -> StepAnswer:
        answer = make_step(**values)
        if answer.step == number and answer.result is StepResult.APPLIED:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    if place == "commit":
        EpisodeStep.objects.create = created
    else:
        hub.episode_step = made


def serve(address: tuple[str, int]) -> None:
    """Be one web process."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    listener = socket.create_server(address)
    where = "{}:{}".format(*address)
    config = server_config(application)
    server = AnnouncingServer(config, lambda: print(f"Serving on {where} as {os.getpid()}", flush=True))
    with contextlib.suppress(KeyboardInterrupt):  # the server ends in order and then passes it on
        server.run(sockets=[listener])


def main() -> None:
    """Start one web process after the other until the tests are gone."""
    holder = port_keep()
    address = holder.getsockname()
    signal.signal(signal.SIGINT, lambda _number, _frame: sys.exit(0))
    dies_at = os.environ.get("TEST_DIE_AT", "")
    while not select.select([sys.stdin], [], [], 0)[0]:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if dies_at:
                place, _, number = dies_at.partition(":")
                die_at(place, int(number))
            serve(address)
            os._exit(0)
        dies_at = ""
        try:
            os.waitpid(child, 0)
        except SystemExit:
            os.kill(child, signal.SIGINT)
            os.waitpid(child, 0)
            raise


if __name__ == "__main__":
    main()
