"""Who may talk to the server, and what a request may weigh."""

import asyncio
import hmac
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import treering
from tests.rest_server import HOST, ORIGIN, TOKEN, P, rest_client
from treering.interfaces.rest import calls, sign_in
from treering.interfaces.rest.gate import RestGate
from treering.interfaces.rest.sign_in import SignInCodes
from treering.interfaces.servers.http.limits import HttpLimits
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory

BODY = {"text": "Deploys happen on Fridays."}


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Memory]:
    return lambda project: treering.open(tmp_path / "memory.db", project=project, background=False)


@pytest.fixture
def client(opened: Callable[..., Memory], tmp_path: Path) -> Iterator[TestClient]:
    """Without credentials."""
    with rest_client(opened, tmp_path, token=None, dist=_panel(tmp_path)) as client:
        yield client


def _panel(folder: Path) -> Path:
    dist = folder / "dist"
    (dist / "assets").mkdir(parents=True)
    (dist / "index.html").write_text("<!doctype html><title>panel</title>")
    (dist / "assets" / "app-1a2b.js").write_text("export {}")
    (folder / "secret.txt").write_text("not for the browser")
    return dist


def bearer(token: str = TOKEN) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def signed_in(client: TestClient, folder: Path) -> None:
    answer = client.get("/sign-in", params={"code": SignInCodes(folder).create()})
    assert answer.status_code == 303


PROTECTED = [f"{P}/stats", "/api/v1/projects", "/metrics", f"{P}/events", f"{P}/export", "/api/v1/anything", "/mcp"]


@pytest.mark.parametrize("path", PROTECTED)
def test_nothing_is_served_without_the_token(client: TestClient, path: str) -> None:
    for headers in (
        {},
        bearer("wrong" * 10),
        bearer(""),
        {"Authorization": TOKEN},
        {"Authorization": f"Basic {TOKEN}"},
    ):
        answer = client.get(path, headers=headers)
        assert answer.status_code == 401, headers
        assert answer.headers["content-type"] == "application/problem+json"
        assert TOKEN not in answer.text


@pytest.mark.parametrize("host", ["evil.example", "here", "here:81", "here:80.evil.example", "127.0.0.1:80"])
def test_a_rebound_host_is_refused(client: TestClient, host: str) -> None:
    for path in ("/", f"{P}/stats", "/healthz", "/sign-in"):
        assert client.get(path, headers={**bearer(), "Host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://here:81", "https://here.evil.example"])
def test_a_foreign_origin_is_refused(client: TestClient, origin: str) -> None:
    assert client.get(f"{P}/stats", headers={**bearer(), "Origin": origin}).status_code == 403
    answer = client.post("/api/v1/sign-in", json={"token": TOKEN}, headers={"Origin": origin})
    assert answer.status_code == 403


def test_a_link_signs_in_once(client: TestClient, tmp_path: Path) -> None:
    code = SignInCodes(tmp_path).create()
    answer = client.get("/sign-in", params={"code": code})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert re.match(r"treering_80=\d+\.[0-9a-f]{64};", cookie)
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert client.get(f"{P}/stats").status_code == 200
    assert client.get("/sign-in", params={"code": code}).status_code == 403


def test_an_old_link_does_not_sign_in(client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = SignInCodes(tmp_path).create()
    monkeypatch.setattr(sign_in, "CODE_SECONDS", 0.0)
    assert client.get("/sign-in", params={"code": code}).status_code == 403
    assert client.get("/sign-in", params={"code": "../../etc/passwd"}).status_code == 403


def test_the_token_can_be_exchanged_for_a_cookie(client: TestClient) -> None:
    wrong = client.post("/api/v1/sign-in", json={"token": "x" * 40}, headers={"Origin": ORIGIN})
    assert (wrong.status_code, "set-cookie" in wrong.headers) == (401, False)
    assert client.post("/api/v1/sign-in", json={"token": TOKEN}, headers={"Origin": ORIGIN}).status_code == 200
    assert client.get(f"{P}/stats").status_code == 200
    assert client.post("/api/v1/sign-out", headers={"Origin": ORIGIN}).status_code == 200
    assert client.get(f"{P}/stats").status_code == 401


def test_a_change_with_the_cookie_needs_the_origin_of_the_panel(client: TestClient, tmp_path: Path) -> None:
    signed_in(client, tmp_path)
    assert client.post(f"{P}/records", json=BODY).status_code == 403
    assert client.post(f"{P}/records", json=BODY, headers={"Origin": "http://localhost:3000"}).status_code == 403
    assert client.get(f"{P}/stats", headers={"Sec-Fetch-Site": "same-site"}).status_code == 403
    assert client.get(f"{P}/stats", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200
    assert client.post(f"{P}/records", json=BODY, headers={"Origin": ORIGIN}).status_code == 201


def test_the_cookie_is_for_the_panel_alone(client: TestClient, tmp_path: Path) -> None:
    signed_in(client, tmp_path)
    assert client.get("/metrics").status_code == 401
    assert client.post("/mcp", headers={"Origin": ORIGIN}).status_code == 401


@pytest.mark.parametrize("forged", ["9999999999.{}", "{}", "9999999999.", ".", "٣.{}", "9999999999.é"])
def test_a_forged_or_expired_cookie_is_refused(client: TestClient, forged: str) -> None:
    value = forged.format("0" * 64).encode()
    expired = sign_in.cookie_value(TOKEN, time.time() - sign_in.COOKIE_SECONDS - 1).encode()
    for each in (value, expired):
        answer = client.get(f"{P}/stats", headers={b"Cookie": b"treering_80=" + each})
        assert answer.status_code == 401


def test_a_cookie_survives_a_restart_but_not_another_token() -> None:
    value = sign_in.cookie_value(TOKEN, 1_000)
    assert sign_in.is_valid_cookie(value, TOKEN, 2_000)
    assert not sign_in.is_valid_cookie(value, "another" * 6, 2_000)
    assert not sign_in.is_valid_cookie(value, TOKEN, 1_000 + sign_in.COOKIE_SECONDS)


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/assets/../../secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/..%5csecret.txt",
        "//etc/passwd",
        "/%2fetc/passwd",
        "/assets/%00",
        "/" + "a" * 5_000 + ".js",
    ],
)
def test_static_files_come_from_the_panel_alone(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert "not for the browser" not in answer.text
    assert "root:" not in answer.text
    assert answer.status_code in (200, 404)


def test_a_link_in_the_folder_of_the_panel_is_not_followed_out_of_it(client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "dist" / "assets" / "out.txt").symlink_to(tmp_path / "secret.txt")
    assert client.get("/assets/out.txt").status_code == 404


def test_pages_load_nothing_from_elsewhere(client: TestClient) -> None:
    page = client.get("/records/some-id")
    assert (page.status_code, "panel" in page.text) == (200, True)
    policy = page.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert client.get("/assets/app-1a2b.js").headers["cache-control"].endswith("immutable")
    assert "http://" not in client.get("/api/v1/docs").text
    assert "https://" not in client.get("/api/v1/docs").text


def test_a_missing_panel_says_how_to_build_it(opened: Callable[..., Memory], tmp_path: Path) -> None:
    with rest_client(opened, tmp_path, token=None, dist=tmp_path / "nothing") as client:
        page = client.get("/")
        assert page.status_code == 200
        assert "make panel" in page.text
        assert client.get("/assets/app.js").status_code == 404


def test_a_huge_body_is_refused(opened: Callable[..., Memory], tmp_path: Path) -> None:
    with rest_client(opened, tmp_path, limits=HttpLimits(body_bytes=10_000)) as client:
        answer = client.post(f"{P}/records", json={"text": "x" * 20_000})
        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_huge_upload_is_refused(
    opened: Callable[..., Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from treering.interfaces.rest.nouns import archive

    monkeypatch.setattr(archive, "MAX_UPLOAD_BYTES", 1_000)
    with rest_client(opened, tmp_path) as client:
        assert client.post(f"{P}/import", content=b"x" * 2_000).status_code == 413


def test_a_body_that_does_not_arrive_is_not_waited_for() -> None:
    sent: list[Any] = []

    async def never() -> Any:
        await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message)

    async def unreached(*_: Any) -> None:
        raise AssertionError

    gate = RestGate(unreached, hosts=[HOST], token=TOKEN, limits=HttpLimits(request_seconds=0.05))
    headers = [(b"host", HOST.encode()), (b"authorization", f"Bearer {TOKEN}".encode())]
    scope = {"type": "http", "method": "POST", "path": f"{P}/records", "headers": headers}
    asyncio.run(gate(scope, never, send))
    assert sent[0]["status"] == 408


BROKEN: list[tuple[bytes, int]] = [
    (b"{", 400),
    (b"\xff", 400),
    (b'{"text": "\xff"}', 400),
    (b"[" * 100_000, 400),
    (b'{"text": ' + b"1" * 5_000 + b"}", 400),
    (b"", 422),
    (b"[]", 422),
    (b'"text"', 422),
    (b"null", 422),
    (b'{"text": 1}', 422),
    (b'{"text": "x", "unknown": 1}', 422),
    (b'{"text": "x", "confidence": NaN}', 422),
    (b'{"text": "\\ud800"}', 422),
    (b'{"text": "a\\u0000b"}', 422),
]


@pytest.mark.parametrize(("body", "status"), BROKEN)
def test_a_broken_body_is_a_problem(opened: Callable[..., Memory], tmp_path: Path, body: bytes, status: int) -> None:
    """Bytes that are not JSON in UTF-8 cannot be read (400); anything else is invalid input (422)."""
    with rest_client(opened, tmp_path) as client:
        answer = client.post(f"{P}/records", content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
        assert answer.json()["error"] == "InvalidInput"
        assert client.get(f"{P}/records", params={"total": True}).json()["total"] == 0


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_form_of_another_page_is_not_a_request(
    opened: Callable[..., Memory], tmp_path: Path, content_type: str
) -> None:
    """Browsers send these types across origins without asking first."""
    with rest_client(opened, tmp_path) as client:
        body = b'{"text": "Sent by a form."}'
        assert client.post(f"{P}/records", content=body, headers={"Content-Type": content_type}).status_code == 422


@pytest.mark.parametrize("name", ["p%00", "p%0a", "%ff", "p%ff", "a" * 5_000, "..%2Fp", "p%2Frecords", ".", "%20"])
def test_a_trick_in_the_name_of_a_project_creates_and_reads_nothing(
    opened: Callable[..., Memory], tmp_path: Path, name: str
) -> None:
    with rest_client(opened, tmp_path) as client:
        assert client.get(f"/api/v1/projects/{name}/stats").status_code == 404
        assert client.put(f"/api/v1/projects/{name}").status_code == 404
        assert [each["project"] for each in client.get("/api/v1/projects").json()["projects"]] == ["p"]


def test_the_token_is_compared_in_constant_time(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bearer token, the cookie and the token that is exchanged for it; wrong ones do not end the comparison."""
    compared: list[tuple[object, object]] = []
    real = hmac.compare_digest

    def counted(a: Any, b: Any) -> bool:
        compared.append((a, b))
        return bool(real(a, b))

    monkeypatch.setattr(hmac, "compare_digest", counted)
    wrong = "x" * len(TOKEN)
    client.get(f"{P}/stats", headers=bearer(wrong))
    client.get(f"{P}/stats", headers={"Cookie": f"treering_80=9999999999.{'0' * 64}"})
    client.post("/api/v1/sign-in", json={"token": wrong}, headers={"Origin": ORIGIN})
    assert [a for a, _ in compared] == [wrong.encode(), "0" * 64, wrong.encode()]


def test_a_slow_call_blocks_no_other(
    opened: Callable[..., Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, begun = threading.Event(), threading.Event()

    def slow(self: Memory) -> Any:
        begun.set()
        release.wait(60)
        raise treering.TreeringError("slow")

    monkeypatch.setattr(Memory, "doctor", slow)
    with rest_client(opened, tmp_path) as client:
        client.get(f"{P}/stats")
        waiting = threading.Thread(target=client.get, args=(f"{P}/doctor",))
        waiting.start()
        assert begun.wait(60)
        assert client.get(f"{P}/stats").status_code == 200
        assert client.get("/healthz").status_code == 200
        release.set()
        waiting.join()


def test_a_call_that_takes_too_long_is_answered(
    opened: Callable[..., Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    monkeypatch.setattr(calls, "SECONDS", {**calls.SECONDS, CallQueue.SLOW: 0.05})
    monkeypatch.setattr(Memory, "doctor", lambda self: release.wait(60))
    with rest_client(opened, tmp_path) as client:
        answer = client.get(f"{P}/doctor")
        release.set()
        assert answer.status_code == 504


def test_a_bug_is_reported_without_its_message(
    opened: Callable[..., Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Memory) -> Any:
        raise ValueError("a secret in a message")

    monkeypatch.setattr(Memory, "stats", broken)
    with rest_client(opened, tmp_path) as client:
        answer = client.get(f"{P}/stats")
        assert answer.status_code == 500
        assert answer.json()["error"] == "InternalError"
        assert "secret" not in answer.text
