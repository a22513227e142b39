"""A loopback door that adds our token: for clients of MCP that cannot send one themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

ONE_HOP_ONLY = {"connection", "keep-alive", "transfer-encoding", "content-length"}


class _PassingOn(BaseHTTPRequestHandler):
    """Hands a request on as it came, with the token added and this door's own address taken for the server's.

    A `Host` or an `Origin` that somebody forged stays as it is: refusing those is what the server is asked to do.
    """

    server: _Door

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        with closing(HTTPConnection(self.server.behind)) as server:
            server.request(self.command, self.path, body, self._headers_behind())
            answer = server.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ONE_HOP_ONLY:
                    self.send_header(name, value)
            self.send_header("connection", "close")
            self.end_headers()
            while piece := answer.read1():
                self.wfile.write(piece)

    def _headers_behind(self) -> dict[str, str]:
        in_front, behind = "{}:{}".format(*self.server.server_address), self.server.behind
        passed = {
            name: value.replace(in_front, behind)
            for name, value in self.headers.items()
            if name.lower() not in ONE_HOP_ONLY
        }
        return passed | {"Authorization": f"Bearer {self.server.token}"}

    do_GET = do_POST = do_DELETE = do_OPTIONS = _pass_on  # noqa: N815 - the standard library names them

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing: pytest shows what matters."""


class _Door(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, behind: str, token: str) -> None:
        super().__init__(("127.0.0.1", 0), _PassingOn)
        self.behind, self.token = behind, token

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves in the middle of a stream is no news."""


@contextmanager
def bearer_proxy(url: str, token: str) -> Iterator[str]:
    """Yield an address on which the server at `url` can be spoken to without the token."""
    address = urlsplit(url)
    with _Door(address.netloc, token) as door:
        Thread(target=door.serve_forever, daemon=True).start()
        try:
            yield address._replace(netloc="{}:{}".format(*door.server_address)).geturl()
        finally:
            door.shutdown()
