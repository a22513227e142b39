"""A model's API on a loopback port that answers with the turns of a script."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

from tests.agents.script import Dialect, Reply, Request, Say, ToolCall, Turn


@dataclass
class ScriptedModel:
    """Answers the turn that follows the conversation in the request, so that a repeated request is answered again.

    The model says "Done." after the last turn of its script.
    """

    dialect: Dialect
    script: Sequence[Turn]
    actions: Mapping[int, Callable[[], object]] = field(default_factory=dict)
    """What the test does before a turn is answered, once, by the number of the turn."""
    page: str = ""
    """Text of the web page that the model is asked to read."""
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    """Requests for a turn, in order."""
    others: list[Request] = field(default_factory=list)
    """All other requests: for a title, a summary, a token count."""
    turns_played: int = 0

    def __post_init__(self) -> None:
        self._lock = Lock()
        self._actions_left = dict(self.actions)

    def tool_results(self) -> Sequence[str]:
        """Results that the agent sent for the calls of the script."""
        return self.dialect.tool_results(self.requests[-1])

    def last_request(self) -> str:
        """The last request for a turn, which contains the whole conversation, as JSON text."""
        return json.dumps(self.requests[-1])

    def received(self) -> str:
        """Everything that the agent sent in requests for a turn, as JSON text."""
        return json.dumps(self.requests)

    def answer(self, path: str, request: Request) -> Reply:
        if not self.dialect.asks_for_turn(path, request):
            self.others.append(request)
            return self.dialect.other(path, request, self.page)
        self.requests.append(request)
        number = self.dialect.turns_so_far(request)
        turn = self.script[number] if number < len(self.script) else Say("Done.")
        pause = self.dialect.pause(turn, request) if isinstance(turn, ToolCall) else None
        if pause is not None:
            return pause
        with self._lock:
            if action := self._actions_left.pop(number, None):
                action()
            self.turns_played = max(self.turns_played, number + 1)
        return self.dialect.turn(turn, request)


@contextmanager
def serve(model: ScriptedModel) -> Iterator[ScriptedModel]:
    """Serve the model on a loopback port until the block ends."""
    with _Api(("127.0.0.1", 0), _Handler) as api:
        api.model = model
        model.url = "http://127.0.0.1:{1}".format(*api.server_address)
        Thread(target=api.serve_forever, daemon=True).start()
        try:
            yield model
        finally:
            api.shutdown()


class _Api(ThreadingHTTPServer):
    daemon_threads = True
    model: ScriptedModel


class _Handler(BaseHTTPRequestHandler):
    server: _Api

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self._send(200, self.server.model.answer(self.path.split("?")[0], request))

    def do_GET(self) -> None:
        """Agents check whether the API is reachable, and ask for lists that they can do without."""
        self._send(404, Reply("application/json", b"{}"))

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send(self, status: int, reply: Reply) -> None:
        self.send_response(status)
        self.send_header("content-type", reply.content_type)
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing: the requests are recorded."""
