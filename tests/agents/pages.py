"""A web page on a loopback port under the name of another host, so that it counts as outside content."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

HOST = "docs.example.com"


@dataclass(frozen=True)
class Page:
    port: int

    @property
    def command(self) -> str:
        """A shell command that prints the page. It does not use the network."""
        return f"curl -s --resolve {HOST}:{self.port}:127.0.0.1 http://{HOST}:{self.port}/setup"


@contextmanager
def serve_page(text: str) -> Iterator[Page]:
    """Serve a page with this text until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = f"<html><body><p>{text}</p></body></html>\n".encode()
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield Page(server.server_address[1])
        finally:
            server.shutdown()
