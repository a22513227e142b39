"""The way to any model server: waits, refusals, deadlines, proxies and keys."""

import traceback
from collections.abc import Iterator
from contextlib import closing
from time import monotonic

import pytest

from tests.integration.model_server import (
    KEY,
    QUICK,
    ModelServer,
    Reply,
    model_server,
)
from treering.adapters.models.http import ModelEndpoint, RequestTimeouts
from treering.core.errors import InvalidInput, ModelUnavailable


class Waits:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def clock(self) -> float:
        return sum(self.slept)


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def endpoint(server: ModelServer, waits: Waits) -> Iterator[ModelEndpoint]:
    timeouts = RequestTimeouts(silence=0.2, total=60, attempts=4, first_wait=0.5, longest_wait=10)
    with closing(
        ModelEndpoint(
            "ollama",
            server.url,
            KEY,
            instead="choose another embedder in the settings",
            timeouts=timeouts,
            sleep=waits.sleep,
            clock=waits.clock,
        )
    ) as endpoint:
        yield endpoint


OK = Reply({"ok": True})


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_a_passing_refusal_is_waited_for(
    endpoint: ModelEndpoint, server: ModelServer, waits: Waits, status: int
) -> None:
    server.answer("/x", Reply(status=status), Reply(status=status), OK)
    assert endpoint.post("/x", {}) == {"ok": True}
    assert waits.slept == [0.5, 1.0]


@pytest.mark.parametrize(
    ("headers", "slept"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": "0"}, 0.5),
        ({"Retry-After": "3600"}, 10.0),
        ({"Retry-After": "soon"}, 0.5),
        ({"Retry-After": "-5"}, 0.5),
        ({"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}, 10.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.5),
    ],
)
def test_the_server_may_ask_for_a_longer_wait_up_to_a_point(
    endpoint: ModelEndpoint, server: ModelServer, waits: Waits, headers: dict[str, str], slept: float
) -> None:
    server.answer("/x", Reply(status=429, headers=headers), OK)
    assert endpoint.get("/x") == {"ok": True}
    assert waits.slept == [slept]


def test_a_server_that_keeps_failing_is_given_up(endpoint: ModelEndpoint, server: ModelServer, waits: Waits) -> None:
    server.answer("/x", Reply({"error": "out of memory"}, 500))
    with pytest.raises(ModelUnavailable) as raised:
        endpoint.post("/x", {})
    assert str(raised.value) == (
        f"ollama at {server.url} answered with status 500 (out of memory); check its log, "
        "or choose another embedder in the settings"
    )
    assert (len(server.asked), waits.slept) == (4, [0.5, 1.0, 2.0])


def test_no_wait_passes_the_deadline(server: ModelServer, waits: Waits) -> None:
    server.answer("/x", Reply(status=503, headers={"Retry-After": "4"}))
    timeouts = RequestTimeouts(total=10, attempts=100, longest_wait=30)
    with (
        closing(
            ModelEndpoint("it", server.url, instead="…", timeouts=timeouts, sleep=waits.sleep, clock=waits.clock)
        ) as endpoint,
        pytest.raises(ModelUnavailable),
    ):
        endpoint.get("/x")
    assert waits.slept == [4.0, 4.0]


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (301, "the server redirects; correct the URL"),
        (400, "check that the model's name fits"),
        (401, "it requires a valid key"),
        (403, "the key lacks access to the model"),
        (404, "check the URL and the model's name"),
        (413, "lower the batch limits"),
        (418, "check its log"),
    ],
)
def test_a_lasting_refusal_is_told_at_once(
    endpoint: ModelEndpoint, server: ModelServer, status: int, advice: str
) -> None:
    server.answer("/x", Reply({}, status, {"Location": "http://127.0.0.1:1/elsewhere"}))
    with pytest.raises(ModelUnavailable, match=rf"answered with status {status}; .*{advice}.*, or choose another"):
        endpoint.post("/x", {})
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"error": f"model not found, key {KEY}"},
        {"error": {"message": f"model not found, key {KEY}", "code": 404}},
        {"message": f"model\nnot found, key {KEY}"},
        {"detail": f"model not found, key {KEY}" + "x" * 10_000},
    ],
)
def test_what_the_server_says_is_passed_on_without_the_key(
    endpoint: ModelEndpoint, server: ModelServer, body: object
) -> None:
    server.answer("/x", Reply(body, 404))
    with pytest.raises(ModelUnavailable, match=r"\(model not found, key …") as raised:
        endpoint.post("/x", {})
    assert len(str(raised.value)) < 600
    assert KEY not in "".join(traceback.format_exception(raised.value))
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"a": ', b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_json_is_told_and_not_asked_again(
    endpoint: ModelEndpoint, server: ModelServer, body: bytes
) -> None:
    server.answer("/x", Reply(body))
    with pytest.raises(ModelUnavailable, match="did not answer with JSON; check that the URL"):
        endpoint.get("/x")
    assert len(server.asked) == 1


def test_a_refusal_that_is_not_json_is_told(endpoint: ModelEndpoint, server: ModelServer) -> None:
    server.answer("/x", Reply(b"<html>", 404))
    with pytest.raises(ModelUnavailable, match="answered with status 404; the path or the model is unknown"):
        endpoint.get("/x")


def test_a_silent_server_is_asked_again(endpoint: ModelEndpoint, server: ModelServer, waits: Waits) -> None:
    server.answer("/x", Reply(hang_seconds=5), OK)
    assert endpoint.get("/x") == {"ok": True}
    assert waits.slept == [0.5]


@pytest.mark.parametrize("slow", [Reply(hang_seconds=5), Reply({"much": "text" * 100}, drip_seconds=0.02)])
def test_a_server_that_never_finishes_is_given_up_at_the_deadline(server: ModelServer, slow: Reply) -> None:
    server.answer("/x", slow)
    timeouts = RequestTimeouts(silence=0.2, total=0.5, attempts=100, first_wait=0.01)
    began = monotonic()
    with (
        closing(ModelEndpoint("ollama", server.url, instead="do without", timeouts=timeouts)) as endpoint,
        pytest.raises(ModelUnavailable, match=r"did not .* in time; start it or do without"),
    ):
        endpoint.get("/x")
    assert monotonic() - began < 1.5


def test_a_server_that_is_not_there_is_told_with_advice(waits: Waits) -> None:
    with model_server() as server:
        gone = server.url
    with (
        closing(
            ModelEndpoint("ollama", gone, KEY, instead="choose another embedder", sleep=waits.sleep, clock=waits.clock)
        ) as endpoint,
        pytest.raises(ModelUnavailable) as raised,
    ):
        endpoint.get("/api/tags")
    assert str(raised.value) == f"ollama at {gone} did not answer; start it or choose another embedder"
    assert waits.slept == [0.5, 1.0]
    assert KEY not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize("url", ["http://" + "a" * 70 + ".invalid", "http://127.0.0.1:0", "https://127.0.0.1:1"])
def test_an_address_that_nobody_can_have_is_told(waits: Waits, url: str) -> None:
    made = ModelEndpoint("ollama", url, instead="do without", sleep=waits.sleep, clock=waits.clock)
    with closing(made) as endpoint, pytest.raises(ModelUnavailable, match="did not answer; start it or do without"):
        endpoint.get("/x")


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    monkeypatch: pytest.MonkeyPatch, server: ModelServer
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    server.answer("/x", OK)
    for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
        with closing(ModelEndpoint("it", url, instead="…", timeouts=QUICK)) as endpoint:
            assert endpoint.get("/x") == {"ok": True}


@pytest.mark.parametrize(
    ("url", "asks_proxies"),
    [
        ("http://localhost:1", False),
        ("http://ollama.localhost", False),
        ("http://127.8.0.1", False),
        ("http://[::1]:1", False),
        ("http://0.0.0.0", False),
        ("https://localhost.example.com", True),
        ("http://10.0.0.1", True),
    ],
)
def test_only_other_machines_are_reached_through_proxies(url: str, asks_proxies: bool) -> None:
    with closing(ModelEndpoint("it", url, instead="…")) as endpoint:
        assert endpoint._client.trust_env is asks_proxies


@pytest.mark.parametrize(
    "url",
    ["", "localhost:11434", "ftp://host", "http://", "http://user:password@host", "http://host?key=1", "http://h:x"],
)
def test_what_is_no_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(InvalidInput, match="ollama needs the address of a server") as raised:
        ModelEndpoint("ollama", url, instead="…")
    assert "password@" not in str(raised.value)


@pytest.mark.parametrize("key", ["sk-line\nbreak", "sk-ключ"])
def test_a_key_that_cannot_be_sent_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(InvalidInput, match="the key for ollama contains characters") as raised:
        ModelEndpoint("ollama", "http://localhost", key, instead="…")
    assert "sk-" not in str(raised.value)
