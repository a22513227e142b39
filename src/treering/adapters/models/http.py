"""HTTP client of a model server, with retries; every error says what to do next."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any, TypeVar

import httpx

from treering.core.errors import InvalidInput, ModelUnavailable
from treering.core.privacy import location_of
from treering.core.secrets import redact


@dataclass(frozen=True, slots=True)
class RequestTimeouts:
    """Timeouts and retries of calls to a model server, in seconds."""

    connect: float = 2.0
    silence: float = 30.0
    # One call with all attempts and the waits between them.
    total: float = 60.0
    attempts: int = 3
    # Doubles with each attempt, up to the longest, which also caps the wait that a server asks for.
    first_wait: float = 0.5
    longest_wait: float = 10.0

    @classmethod
    def once(cls, seconds: float) -> "RequestTimeouts":
        return cls(connect=seconds, silence=seconds, total=seconds, attempts=1)


@dataclass(eq=False)
class FailedAttempt(Exception):
    """A failed attempt; `retryable` if a retry may succeed."""

    what: str
    advice: str = ""
    retryable: bool = False
    asked_wait: float = 0.0


_ADVICE = {
    400: "check that the model's name fits this server",
    401: "it requires a valid key; check the one in the settings",
    402: "the account has no credit left; add some",
    403: "the key lacks access to the model; check both in the settings",
    404: "the path or the model is unknown there; check the URL and the model's name, or install the model there",
    413: "the request is too large; lower the batch limits",
    422: "check that the model's name fits this server",
    429: "the rate limit is exceeded; wait, or raise the limit of the account",
}
_REDIRECTED = "the server redirects; correct the URL"
_FAILED = "check its log"
_AGAIN = "repeat the request"
_RETRYABLE = frozenset({408, 425, 429})
_EXCERPT = 200
_MAX_BYTES = 64 * 2**20  # Five times the JSON of 128 vectors of 4,096 numbers.
_EVENT_FIELD, _LAST_EVENT = b"data:", b"[DONE]"

T = TypeVar("T")


def _bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


class ModelEndpoint:
    """JSON requests to one server. Every failure is a `ModelUnavailable` whose message never contains the key.

    `name` is the server's name in messages, `instead` the alternative that messages suggest.
    """

    def __init__(
        self,
        name: str,
        url: str,
        key: str | None = None,
        *,
        instead: str,
        timeouts: RequestTimeouts | None = None,
        headers: Callable[[str], Mapping[str, str]] = _bearer,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        base = _checked_url(name, url)
        self._label = f"{name} at {base}"
        self._instead = instead
        self._base = str(base).rstrip("/")
        self._key = _checked_key(name, key)
        self._timeouts = timeouts or RequestTimeouts()
        self._sleep = sleep
        self._clock = clock
        self.location = location_of(base.raw_host.decode("ascii"))
        self._client = httpx.Client(
            headers=headers(self._key),
            # Proxies of the environment are not meant for this machine; without TLS no certificates need to be loaded.
            trust_env=not _is_loopback(base.host),
            verify=base.scheme == "https",
        )

    def get(self, path: str) -> Any:
        return self._ask("GET", path, None)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._ask("POST", path, body)

    def stream(self, path: str, body: Mapping[str, Any]) -> Iterator[Any]:
        """The JSON of each server-sent event as it arrives; one value from a server that does not stream.

        The request is retried until the server answers it, not afterwards.
        """
        give_up = self._clock() + self._timeouts.total
        with ExitStack() as stack:
            response = self._retried(give_up, lambda: self._opened(stack, path, body, give_up))
            try:
                yield from _events(response, self._parts(response, give_up))
            except FailedAttempt as refusal:
                raise self._unavailable(refusal.what, refusal.advice or _AGAIN) from refusal
            except httpx.RequestError as exc:
                raise self._unavailable("did not finish its answer", _AGAIN) from exc
            except (ValueError, RecursionError) as exc:
                raise self.unusable("with an event that is not JSON") from exc

    def close(self) -> None:
        self._client.close()

    def unusable(self, answered: str, advice: str = "") -> ModelUnavailable:
        """Error for an answer that cannot be used."""
        return self._unavailable(f"answered {answered}", advice or f"check the model, or {self._instead}")

    def _unavailable(self, what: str, advice: str) -> ModelUnavailable:
        return ModelUnavailable(f"{self._label} {what}; {advice}")

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        give_up = self._clock() + self._timeouts.total
        return self._retried(give_up, lambda: self._attempt(method, path, body, give_up))

    def _retried(self, give_up: float, attempt: Callable[[], T]) -> T:
        waits = self._waits()
        while True:
            try:
                return attempt()
            except FailedAttempt as refusal:
                wait = next(waits, None)
                pause = min(max(wait or 0.0, refusal.asked_wait), self._timeouts.longest_wait)
                if wait is None or not refusal.retryable or self._clock() + pause >= give_up:
                    advice = refusal.advice or f"start it or {self._instead}"
                    raise self._unavailable(refusal.what, advice) from refusal.__cause__
            self._sleep(pause)

    def _waits(self) -> Iterator[float]:
        """One wait between each two attempts."""
        for attempt in range(self._timeouts.attempts - 1):
            yield min(self._timeouts.first_wait * 2**attempt, self._timeouts.longest_wait)

    def _attempt(self, method: str, path: str, body: Mapping[str, Any] | None, give_up: float) -> Any:
        with ExitStack() as stack, _translated():
            response = self._sent(stack, method, path, body, give_up)
            data = b"".join(self._parts(response, give_up))
        if not response.is_success:
            raise self._failed_attempt(response, data)
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as exc:
            raise FailedAttempt("did not answer with JSON", "check that the URL belongs to a model server") from exc

    def _opened(self, stack: ExitStack, path: str, body: Mapping[str, Any], give_up: float) -> httpx.Response:
        """A successful response whose body is still to be read; `stack` closes it."""
        with _translated():
            response = self._sent(stack, "POST", path, body, give_up)
            if response.is_success:
                return response
            data = b"".join(self._parts(response, give_up))
        raise self._failed_attempt(response, data)

    def _sent(
        self, stack: ExitStack, method: str, path: str, body: Mapping[str, Any] | None, give_up: float
    ) -> httpx.Response:
        if self._client.is_closed:
            raise FailedAttempt("is closed", "open the memory again")
        timeout = self._timeout(give_up)
        return stack.enter_context(
            self._client.stream(method, self._base + path, json=body, timeout=timeout, follow_redirects=False)
        )

    def _timeout(self, give_up: float) -> httpx.Timeout:
        left = max(give_up - self._clock(), 0.001)
        return httpx.Timeout(min(self._timeouts.silence, left), connect=min(self._timeouts.connect, left))

    def _parts(self, response: httpx.Response, give_up: float) -> Iterator[bytes]:
        """The body. A server that trickles data never triggers the read timeout, so the clock is checked as well."""
        size = 0
        for part in response.iter_bytes():
            size += len(part)
            if self._clock() > give_up:
                raise FailedAttempt("did not finish its answer in time")
            if size > _MAX_BYTES:
                raise FailedAttempt("sent too large an answer", "check that the URL belongs to a model server")
            yield part

    def _failed_attempt(self, response: httpx.Response, data: bytes) -> FailedAttempt:
        status = response.status_code
        advice = _ADVICE.get(status, _REDIRECTED if response.is_redirect else _FAILED)
        excerpt = self._excerpt(data)
        return FailedAttempt(
            f"answered with status {status}" + (f" ({excerpt})" if excerpt else ""),
            f"{advice}, or {self._instead}",
            retryable=status >= 500 or status in _RETRYABLE,
            asked_wait=_asked_wait(response.headers),
        )

    def _excerpt(self, data: bytes) -> str:
        """The server's error message in one line, without secrets: some servers repeat the key."""
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            return ""
        while isinstance(answer, dict):
            answer = next((answer[name] for name in ("error", "message", "detail") if name in answer), None)
        if not isinstance(answer, str):
            return ""
        excerpt = " ".join(answer.split())
        if self._key:
            excerpt = excerpt.replace(self._key, "…")
        return redact(excerpt).text[:_EXCERPT]


@contextmanager
def _translated() -> Iterator[None]:
    """Errors of the connection as failed attempts that may be repeated."""
    try:
        yield
    except httpx.TimeoutException as exc:
        raise FailedAttempt("did not answer in time", retryable=True) from exc
    # An invalid host name fails before the client sends a request.
    except (httpx.RequestError, UnicodeError) as exc:
        raise FailedAttempt("did not answer", retryable=True) from exc


def _events(response: httpx.Response, parts: Iterator[bytes]) -> Iterator[Any]:
    """The JSON of each event; events have one line of data in the protocols of model servers."""
    if "event-stream" not in response.headers.get("Content-Type", ""):
        yield json.loads(b"".join(parts))
        return
    rest = b""
    for part in parts:
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            data = line.removeprefix(_EVENT_FIELD).strip() if line.startswith(_EVENT_FIELD) else b""
            if data and data != _LAST_EVENT:
                yield json.loads(data)


def _checked_url(name: str, url: str) -> httpx.URL:
    advice = f"{name} needs the address of a server, such as http://host:port, without a password in it"
    try:
        parsed = httpx.URL(url.strip().rstrip("/"))
    except httpx.InvalidURL as exc:
        raise InvalidInput(advice) from exc
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.userinfo or parsed.query or parsed.fragment:
        raise InvalidInput(advice)
    return parsed


def _checked_key(name: str, key: str | None) -> str:
    sent = (key or "").strip()
    if not (sent.isascii() and sent.isprintable()):
        raise InvalidInput(f"the key for {name} contains characters that cannot be sent; remove stray line breaks")
    return sent


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _asked_wait(headers: httpx.Headers) -> float:
    """Seconds to wait; a date is compared with the server's own date, as its clock may differ from ours."""
    asked = headers.get("Retry-After", "")
    if asked.isdecimal():
        return float(asked)
    try:
        return (parsedate_to_datetime(asked) - parsedate_to_datetime(headers.get("Date", ""))).total_seconds()
    except (ValueError, TypeError):
        return 0.0
