"""A model's API on this machine that plays a script: it stands in for a vendor's where a real agent is tried."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.agents.script import Dialect, Reply, Request, Turn


@dataclass
class ScriptedModel:
    """Which turn it is follows from the conversation that the agent sends, so that asking twice is answered twice."""

    dialect: Dialect
    script: Sequence[Turn]
    url: str = ""
    asked: list[Request] = field(default_factory=list)

    def tool_results(self) -> Sequence[str]:
        """What the agent sent back for the calls of the script."""
        return self.dialect.tool_results(self.asked[-1])

    def answer(self, path: str, request: Request) -> Reply:
        if not self.dialect.asks_for_a_turn(path, request):
            return self.dialect.errand(path, request)
        self.asked.append(request)
        return self.dialect.spoken(self.script[self.dialect.turns_so_far(request)], request)


@contextmanager
def scripted_model(dialect: Dialect, *script: Turn) -> Iterator[ScriptedModel]:
    """Serve the script on a loopback port until the block ends."""
    model = ScriptedModel(dialect, script)
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
        """Agents look whether somebody is there, and for lists they can do without."""
        self._send(404, Reply("application/json", b"{}"))

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send(self, status: int, reply: Reply) -> None:
        self.send_response(status)
        self.send_header("content-type", reply.kind)
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing: what was asked is kept."""
