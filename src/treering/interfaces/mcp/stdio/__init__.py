"""The stdio transport: one client. Lines are read from the start, while the server is imported."""

import gc
import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from treering.core.errors import InvalidInput, StoreUnavailable
from treering.interfaces.mcp.stdio.inbox import Inbox
from treering.interfaces.mcp.stdio.shutdown import Shutdown
from treering.interfaces.mcp.stdio.wire import Wire, claim_stdio

if TYPE_CHECKING:
    from treering.interfaces.mcp.host import Beside

_TERMINAL_NOTE = """\
This is the MCP server of Treering for coding agents, which start it themselves and talk to it over stdin and stdout.
Run `treering init` to configure them, or `treering --help` for other commands. Ctrl-D ends the server.
"""


def serve_stdio(
    db: str | None, project: str | None, report: Callable[[Exception], int], beside: "Beside | None" = None
) -> NoReturn:
    """Serve the named project, else that of the working directory, until the client disconnects; then end the process.

    `report` is called with a fatal error and returns the exit code; `beside` starts what runs beside the server.
    """
    if os.isatty(0):
        sys.stderr.write(_TERMINAL_NOTE)
    try:
        wire = claim_stdio()
    except OSError:
        sys.exit(
            report(
                InvalidInput("stdout is closed, but answers are written to it; start the server with an open stdout")
            )
        )
    shutdown = Shutdown(wire.outgoing, report)
    inbox = Inbox(wire.lines())
    threading.Thread(target=_read, args=(inbox, shutdown), name="mcp-inbox", daemon=True).start()
    try:
        _serve(db, project, inbox, wire, shutdown, beside=beside)
    except Exception as exc:  # noqa: BLE001 - the outermost handler: any error is reported
        shutdown.fail(exc)
    shutdown.leave()


def _read(inbox: Inbox, shutdown: Shutdown) -> None:
    try:
        if inbox.fill():
            # The main thread leaves when everything is answered.
            return
    except Exception as exc:  # noqa: BLE001 - a server that no longer reads must not stay
        shutdown.fail(exc)
    shutdown.leave()


def _serve(
    db: str | None, project: str | None, inbox: Inbox, wire: Wire, shutdown: Shutdown, *, beside: "Beside | None"
) -> None:
    gc.disable()
    from treering.interfaces.mcp.host import nothing_beside
    from treering.interfaces.mcp.host_factory import host_for
    from treering.interfaces.mcp.stdio.server import SILENCE_SECONDS, SilenceLimit, serve
    from treering.interfaces.servers.logs import log_to_stderr

    log = log_to_stderr()
    host = host_for(db, project)
    end_beside = (beside or nothing_beside)(host)
    shutdown.on_close(end_beside, host.close_if_open, log.flush)
    # Modules stay loaded: scanning them for garbage takes time and finds none.
    gc.freeze()
    gc.enable()
    limit = SilenceLimit(SILENCE_SECONDS, lambda unanswered: shutdown.fail(_silence(unanswered, SILENCE_SECONDS)))
    serve(host, inbox, wire.write, limit)


def _silence(unanswered: int, seconds: float) -> StoreUnavailable:
    requests = "1 request was" if unanswered == 1 else f"{unanswered} requests were"
    return StoreUnavailable(
        f"{requests} not answered within {seconds:g} seconds after the end of input; send them again"
    )
