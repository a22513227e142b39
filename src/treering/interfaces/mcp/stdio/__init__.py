"""One client over stdin and stdout. Lines are read from the start; the server is imported meanwhile."""

import gc
import os
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

from treering.core.errors import InvalidInput, StoreUnavailable
from treering.interfaces.mcp.stdio.inbox import Inbox
from treering.interfaces.mcp.stdio.shutdown import Ending
from treering.interfaces.mcp.stdio.wire import Wire, claimed

_FOR_PEOPLE = """\
This is Treering's server for coding agents: it talks MCP over stdin and stdout, and clients start it by themselves.
`treering init` tells them how; `treering --help` is for people. Ctrl-D ends it.
"""


def serve_stdio(db: str | None, project: str | None, report: Callable[[Exception], int]) -> NoReturn:
    """Serve the project that is named, or stood in, until the client is gone; then end the process.

    What goes wrong is reported, and the process ends with the code that comes of it.
    """
    if os.isatty(0):
        sys.stderr.write(_FOR_PEOPLE)
    try:
        wire = claimed()
    except OSError:
        sys.exit(report(InvalidInput("stdout is not open, and answers go there; start it with a stdout")))
    ending = Ending(wire.outgoing, report)
    inbox = Inbox(wire.lines())
    threading.Thread(target=_read, args=(inbox, ending), name="mcp-inbox", daemon=True).start()
    try:
        _serve(db, project, inbox, wire, ending)
    except Exception as exc:  # noqa: BLE001 - the door: whatever it is, it is reported there
        ending.fail(exc)
    ending.leave()


def _read(inbox: Inbox, ending: Ending) -> None:
    try:
        if inbox.fill():
            # The main thread leaves when everything is answered.
            return
    except Exception as exc:  # noqa: BLE001 - the door: a server that no longer listens must not stay
        ending.fail(exc)
    ending.leave()


def _serve(db: str | None, project: str | None, inbox: Inbox, wire: Wire, ending: Ending) -> None:
    gc.disable()
    from treering.interfaces.mcp.host_factory import desk_for
    from treering.interfaces.mcp.logs import log_to_stderr
    from treering.interfaces.mcp.stdio.server import SILENCE_SECONDS, Patience, serve

    log = log_to_stderr()
    desk = desk_for(db, project)
    ending.closes(desk.close_if_open, log.flush)
    # What was loaded stays: looking through it for garbage takes time and finds none.
    gc.freeze()
    gc.enable()
    patience = Patience(SILENCE_SECONDS, lambda unanswered: ending.fail(_silence(unanswered, SILENCE_SECONDS)))
    serve(desk, inbox, wire.write, patience)


def _silence(unanswered: int, seconds: float) -> StoreUnavailable:
    requests = "1 request was" if unanswered == 1 else f"{unanswered} requests were"
    return StoreUnavailable(f"{requests} not answered: nothing was for {seconds:g} seconds; send them again")
