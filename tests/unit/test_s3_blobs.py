"""What only a server can do wrong: be elsewhere, be silent, refuse, be full; and what its client must not do."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import create_server
from threading import Thread

import pytest
from moto.server import ThreadedMotoServer

from treering.adapters.blobs.s3 import S3Blobs, S3Timeouts
from treering.core.errors import InvalidInput, MissingDependency, StoreError, StoreFull, StoreUnavailable
from treering.core.scope import Scope
from treering.ports.blobs import digest_of

HERE = Scope(tenant="acme", project="shop")
ABSENT = digest_of(b"absent")
KEYS = {"AWS_ACCESS_KEY_ID": "key-of-the-test", "AWS_SECRET_ACCESS_KEY": "secret-of-the-test"}

VERBS: dict[str, Callable[[S3Blobs], object]] = {
    "put": lambda blobs: blobs.put(HERE, b"data"),
    "get": lambda blobs: blobs.get(HERE, ABSENT),
    "has": lambda blobs: blobs.has(HERE, ABSENT),
    "delete": lambda blobs: blobs.delete(HERE, ABSENT),
    "stream": lambda blobs: list(blobs.stream(HERE)),
}
every_verb = pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS.keys())


@dataclass
class Refusals:
    """A server that gives one answer to everything and remembers who asked."""

    status: int
    code: str = ""
    endpoint: str = ""
    asked: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def refusing(status: int, code: str = "") -> Iterator[Refusals]:
    refusals = Refusals(status, code)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            refusals.asked.append({name.lower(): value for name, value in self.headers.items()})
            body = f"<Error><Code>{code}</Code></Error>".encode() if code else b""
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_PUT(self) -> None:
            self.do_GET()

        def do_DELETE(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        refusals.endpoint = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield refusals
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def empty_server() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@every_verb
def test_a_missing_bucket_is_not_taken_for_a_missing_blob(empty_server: str, verb: Callable[[S3Blobs], object]) -> None:
    blobs = S3Blobs("s3://nowhere", {**KEYS, "AWS_ENDPOINT_URL": empty_server})
    with pytest.raises(StoreUnavailable, match=r"s3://nowhere at http.*: the bucket does not exist; create it"):
        verb(blobs)


@every_verb
def test_an_endpoint_where_nobody_listens_is_unavailable_soon(verb: Callable[[S3Blobs], object]) -> None:
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(StoreUnavailable, match="did not answer; check AWS_ENDPOINT_URL"):
        verb(S3Blobs("s3://bucket", {**KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}))


def test_a_host_that_does_not_exist_is_unavailable_soon() -> None:
    with pytest.raises(StoreUnavailable):
        S3Blobs("s3://bucket", {**KEYS, "AWS_ENDPOINT_URL": "http://no-such-host.invalid"}).put(HERE, b"data")


@every_verb
def test_a_server_that_accepts_and_never_answers_is_given_up(verb: Callable[[S3Blobs], object]) -> None:
    impatient = S3Timeouts(silence=timedelta(seconds=0.3), retries=1)
    with create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(StoreUnavailable, match="did not answer"):
            verb(S3Blobs("s3://bucket", {**KEYS, "AWS_ENDPOINT_URL": endpoint}, impatient))


@pytest.mark.parametrize(
    ("status", "code", "error", "advice"),
    [
        (403, "InvalidAccessKeyId", StoreUnavailable, "check AWS_ACCESS_KEY_ID"),
        (403, "SignatureDoesNotMatch", StoreUnavailable, "check AWS_SECRET_ACCESS_KEY"),
        (403, "RequestTimeTooSkewed", StoreUnavailable, "clock"),
        (403, "AccessDenied", StoreUnavailable, "grant s3:GetObject"),
        (403, "", StoreUnavailable, "grant s3:GetObject"),
        (401, "", StoreUnavailable, "valid keys"),
        (400, "ExpiredToken", StoreUnavailable, "AWS_SESSION_TOKEN"),
        (400, "AuthorizationHeaderMalformed", StoreUnavailable, "set AWS_REGION"),
        (404, "", StoreUnavailable, "the endpoint is not S3"),
        (507, "XMinioStorageFull", StoreFull, "no space left"),
        (507, "", StoreFull, "no space left"),
        (418, "Teapot", StoreUnavailable, "the cause of this error"),
    ],
)
def test_a_refusal_says_what_to_do_next(status: int, code: str, error: type[StoreError], advice: str) -> None:
    with refusing(status, code) as server:
        blobs = S3Blobs("s3://bucket", {**KEYS, "AWS_ENDPOINT_URL": server.endpoint}, S3Timeouts(retries=0))
        with pytest.raises(error, match=advice) as raised:
            blobs.put(HERE, b"data")
    assert "secret-of-the-test" not in f"{raised.value} {raised.value.__cause__}"


@every_verb
def test_keys_without_the_right_are_refused_in_every_verb(verb: Callable[[S3Blobs], object]) -> None:
    with (
        refusing(403, "AccessDenied") as server,
        pytest.raises(StoreUnavailable, match="grant s3:GetObject"),
    ):
        verb(S3Blobs("s3://bucket", {**KEYS, "AWS_ENDPOINT_URL": server.endpoint}))


def test_what_is_configured_beats_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token-of-another")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-of-another")
    monkeypatch.setenv("AWS_REGION", "mars-north-1")
    with refusing(403) as server:
        blobs = S3Blobs("s3://bucket", {**KEYS, "AWS_ENDPOINT_URL": server.endpoint, "AWS_REGION": "eu-test-1"})
        with pytest.raises(StoreUnavailable):
            blobs.put(HERE, b"data")
    (request,) = server.asked
    assert "Credential=key-of-the-test/" in request["authorization"]
    assert "/eu-test-1/s3/" in request["authorization"]
    assert "x-amz-security-token" not in request


def test_a_session_token_is_sent_and_other_variables_are_left_alone() -> None:
    with refusing(403) as server:
        environment = {"HOME": "/root", "AWS_PROFILE": "x", "AWS_SESSION_TOKEN": "token", "AWS_REGION": ""}
        blobs = S3Blobs("s3://bucket", {**environment, **KEYS, "AWS_ENDPOINT_URL": server.endpoint})
        with pytest.raises(StoreUnavailable):
            blobs.put(HERE, b"data")
    assert server.asked[0]["x-amz-security-token"] == "token"


def test_without_keys_nothing_is_asked_and_the_message_names_them() -> None:
    with pytest.raises(InvalidInput, match="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"):
        S3Blobs("s3://bucket", {"AWS_REGION": "eu-central-1"})


@pytest.mark.parametrize("name", [*KEYS, "AWS_SESSION_TOKEN", "AWS_REGION"])
@pytest.mark.parametrize("damage", ["\n", " ", "\0", "é"])
def test_a_value_that_cannot_be_sent_is_refused_by_name(name: str, damage: str) -> None:
    config = {**KEYS, name: f"value{damage}"}
    with pytest.raises(InvalidInput, match=f"{name} contains characters that cannot be sent") as raised:
        S3Blobs("s3://bucket", config)
    assert "value" not in str(raised.value)


@pytest.mark.parametrize(
    "endpoint", ["localhost:9000", "ftp://host", "http://", "http://a b", "http://key:secret@host", "http://host:x"]
)
def test_an_endpoint_that_is_no_address_is_refused(endpoint: str) -> None:
    with pytest.raises(InvalidInput, match="write it as https://host:port"):
        S3Blobs("s3://bucket", {**KEYS, "AWS_ENDPOINT_URL": endpoint})


@pytest.mark.parametrize(
    "url",
    [
        "s3://",
        "s3:bucket",
        "s3://bucket?x=1",
        "s3://bucket#x",
        "s3://key:secret@bucket",
        "s3://bucket/a/../b",
        "s3://bucket/..",
        "s3://bucket//a",
        "s3://bucket/a b",
        "s3://[bucket",
        "s3://bucket\n",
        "https://bucket.s3.amazonaws.com",
    ],
)
def test_a_url_that_is_no_bucket_is_refused_without_repeating_secrets(url: str) -> None:
    with pytest.raises(InvalidInput, match="write it as s3://bucket/prefix") as raised:
        S3Blobs(url, KEYS)
    assert "secret@" not in str(raised.value)


def test_an_option_the_client_cannot_read_is_refused() -> None:
    with pytest.raises(InvalidInput, match="rejects its configuration"):
        S3Blobs("s3://bucket", {**KEYS, "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "perhaps"})


def test_without_the_client_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "obstore"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(MissingDependency, match=r"pip install 'treering\[s3\]'"):
        S3Blobs("s3://bucket", KEYS)


def test_the_client_is_not_loaded_before_a_bucket_is_opened() -> None:
    script = "import sys, treering.adapters.blobs; print('obstore' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert output.stdout.strip() == "False"
