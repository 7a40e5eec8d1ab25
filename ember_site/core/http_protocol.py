"""HTTP connections of the web process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application


class PipelineProtocol(HttpToolsProtocol):
    """
    Tells the request that is being answered, too, when its client has gone.

    A client may send several requests at once, without waiting for the answers. They are answered in
    turn, but uvicorn tells only the one that came last that nobody is there any more: the one in work
    then writes to a closed connection, which ends in a traceback for something that is no error.
    """

    in_work: RequestResponseCycle | None = None

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self.in_work = cycle
        super()._start_asgi_task(cycle, app)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the client has gone, in whatever order its requests came."""
        super().connection_lost(exc)
        if self.in_work is not None and not self.in_work.response_complete:
            self.in_work.disconnected = True
            self.in_work.message_event.set()
