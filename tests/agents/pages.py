"""A web page on a loopback port under the name of another host, so that it counts as outside content."""

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import create_connection, socket
from threading import Thread

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "docs.example.com"
PUBLIC_ADDRESS = "93.184.215.14"
"""An address that no private network has. Gemini CLI refuses names that it cannot resolve, and loopback addresses; it
leaves the fetching to its vendor's API, so nothing connects to this address."""


@dataclass(frozen=True)
class Page:
    """A page that is served as `https://docs.example.com/setup`, through a proxy on this machine."""

    text: str
    port: int
    proxy: int
    certificate: Path

    @property
    def url(self) -> str:
        return f"https://{HOST}/setup"

    @property
    def public_url(self) -> str:
        return f"https://{PUBLIC_ADDRESS}/setup"

    @property
    def command(self) -> str:
        """A shell command that prints the page. It does not use the network."""
        return f"curl -s --cacert {self.certificate} --proxy http://127.0.0.1:{self.proxy} {self.url}"

    @property
    def variables(self) -> Mapping[str, str]:
        """Variables that lead an agent to the page."""
        return {"HTTPS_PROXY": f"http://127.0.0.1:{self.proxy}", "NODE_EXTRA_CA_CERTS": str(self.certificate)}


@contextmanager
def serve_page(text: str, folder: Path) -> Iterator[Page]:
    """Serve a page with this text until the block ends."""

    class PageHandler(_Silent):
        def do_GET(self) -> None:
            body = f"<html><body><p>{text}</p></body></html>\n".encode()
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    certificate, key = _certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with ThreadingHTTPServer(("127.0.0.1", 0), PageHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        port = server.server_address[1]
        with _running(server), ThreadingHTTPServer(("127.0.0.1", 0), _proxy_to(port)) as proxy, _running(proxy):
            yield Page(text, port, proxy.server_address[1], certificate)


@contextmanager
def _running(server: ThreadingHTTPServer) -> Iterator[None]:
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()


class _Silent(BaseHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing."""


def _proxy_to(port: int) -> type[_Silent]:
    """A proxy that connects requests for the host to this port, and no others: there is no network."""

    class Proxy(_Silent):
        def do_CONNECT(self) -> None:
            if self.path != f"{HOST}:443":
                self.send_error(502)
                return
            with create_connection(("127.0.0.1", port)) as page:
                self.send_response(200)
                self.end_headers()
                answers = Thread(target=_copy, args=(page, self.connection), daemon=True)
                answers.start()
                _copy(self.connection, page)
                answers.join(5)
            self.close_connection = True

    return Proxy


def _copy(source: socket, target: socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of the host that is its own authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "page.pem", folder / "page.key"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate, private
