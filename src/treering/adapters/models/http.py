"""A model server over HTTP: asked again while it may yet answer; each failure says what to do next."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any

import httpx

from treering.core.errors import InvalidInput, ModelUnavailable
from treering.core.privacy import location_of
from treering.core.secrets import redact


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for a model server before doing without it, in seconds."""

    connect: float = 2.0
    silence: float = 30.0
    # One call with all its attempts and the waits between them.
    whole: float = 60.0
    attempts: int = 3
    # Doubles with each attempt, up to the longest; so long, at most, also where the server asks for more.
    first_wait: float = 0.5
    longest_wait: float = 10.0

    @classmethod
    def once(cls, seconds: float) -> "Patience":
        return cls(connect=seconds, silence=seconds, whole=seconds, attempts=1)


@dataclass(eq=False)
class _Refusal(Exception):
    """One attempt that failed; `passing` where the next may succeed."""

    what: str
    advice: str = ""
    passing: bool = False
    asked_wait: float = 0.0


_ADVICE = {
    400: "check that the model's name fits this server",
    401: "it wants a valid key; check the one in the settings",
    402: "the account has no credit left; add some",
    403: "this key may not use the model; check both in the settings",
    404: "it does not know the path or the model; check the URL and the model's name, or install the model there",
    413: "it takes less at once; lower the batch limits",
    422: "check that the model's name fits this server",
    429: "it is asked too often; wait, or raise the limit of the account",
}
_REDIRECTED = "it is elsewhere; correct the URL"
_FAILED = "look into its log"
_PASSING = frozenset({408, 425, 429})
_EXCERPT = 200
_MOST_BYTES = 64 * 2**20  # Five times what 128 vectors of 4,096 numbers take, written out.


def _bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


class ModelEndpoint:
    """JSON to and from one server. Every failure is a `ModelUnavailable` in which the key does not occur.

    `name` is what messages call the server, `instead` what a person can do where it stays away.
    """

    def __init__(
        self,
        name: str,
        url: str,
        key: str | None = None,
        *,
        instead: str,
        patience: Patience | None = None,
        headers: Callable[[str], Mapping[str, str]] = _bearer,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        base = _checked_url(name, url)
        self._label = f"{name} at {base}"
        self._instead = instead
        self._base = str(base).rstrip("/")
        self._key = _checked_key(name, key)
        self._patience = patience or Patience()
        self._sleep = sleep
        self._clock = clock
        self.location = location_of(base.raw_host.decode("ascii"))
        self._client = httpx.Client(
            headers=headers(self._key),
            # A proxy of the environment is not meant for this machine; without TLS there are no certificates to load.
            trust_env=not _is_loopback(base.host),
            verify=base.scheme == "https",
        )

    def get(self, path: str) -> Any:
        return self._ask("GET", path, None)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._ask("POST", path, body)

    def close(self) -> None:
        self._client.close()

    def unusable(self, answered: str, advice: str = "") -> ModelUnavailable:
        """The error for an answer that came, but cannot be used."""
        return self._unavailable(f"answered {answered}", advice or f"check the model, or {self._instead}")

    def _unavailable(self, what: str, advice: str) -> ModelUnavailable:
        return ModelUnavailable(f"{self._label} {what}; {advice}")

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        give_up = self._clock() + self._patience.whole
        waits = self._waits()
        while True:
            try:
                return self._attempt(method, path, body, give_up)
            except _Refusal as refusal:
                wait = next(waits, None)
                pause = min(max(wait or 0.0, refusal.asked_wait), self._patience.longest_wait)
                if wait is None or not refusal.passing or self._clock() + pause >= give_up:
                    advice = refusal.advice or f"start it or {self._instead}"
                    raise self._unavailable(refusal.what, advice) from refusal.__cause__
            self._sleep(pause)

    def _waits(self) -> Iterator[float]:
        """One between each two attempts."""
        for attempt in range(self._patience.attempts - 1):
            yield min(self._patience.first_wait * 2**attempt, self._patience.longest_wait)

    def _attempt(self, method: str, path: str, body: Mapping[str, Any] | None, give_up: float) -> Any:
        if self._client.is_closed:
            raise _Refusal("is closed", "open the memory again")
        try:
            with self._client.stream(
                method, self._base + path, json=body, timeout=self._timeout(give_up), follow_redirects=False
            ) as response:
                data = self._whole(response, give_up)
        except httpx.TimeoutException as exc:
            raise _Refusal("did not answer in time", passing=True) from exc
        # A name that cannot be one fails before the client knows of it.
        except (httpx.RequestError, UnicodeError) as exc:
            raise _Refusal("did not answer", passing=True) from exc
        if not response.is_success:
            raise self._refused(response, data)
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as exc:
            raise _Refusal("answered what is not JSON", "check that the URL is that of a model server") from exc

    def _timeout(self, give_up: float) -> httpx.Timeout:
        left = max(give_up - self._clock(), 0.001)
        return httpx.Timeout(min(self._patience.silence, left), connect=min(self._patience.connect, left))

    def _whole(self, response: httpx.Response, give_up: float) -> bytes:
        """The body. A server that sends a little now and then is never silent, so the clock is read as well."""
        data = bytearray()
        for part in response.iter_bytes():
            data += part
            if self._clock() > give_up:
                raise _Refusal("did not finish its answer in time")
            if len(data) > _MOST_BYTES:
                raise _Refusal("answered more than can be read", "check that the URL is that of a model server")
        return bytes(data)

    def _refused(self, response: httpx.Response, data: bytes) -> _Refusal:
        status = response.status_code
        advice = _ADVICE.get(status, _REDIRECTED if response.is_redirect else _FAILED)
        said = self._excerpt(data)
        return _Refusal(
            f"refused with status {status}" + (f" ({said})" if said else ""),
            f"{advice}, or {self._instead}",
            passing=status >= 500 or status in _PASSING,
            asked_wait=_asked_wait(response.headers),
        )

    def _excerpt(self, data: bytes) -> str:
        """What the server says about its refusal, in one line, without secrets: some servers repeat the key."""
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            return ""
        while isinstance(answer, dict):
            answer = next((answer[name] for name in ("error", "message", "detail") if name in answer), None)
        if not isinstance(answer, str):
            return ""
        said = " ".join(answer.split())
        if self._key:
            said = said.replace(self._key, "…")
        return redact(said).text[:_EXCERPT]


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
        raise InvalidInput(f"the key for {name} holds characters that cannot be sent; look for a stray line break")
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
    """Seconds; a date is read against the server's own, as its clock may differ from ours."""
    asked = headers.get("Retry-After", "")
    if asked.isdecimal():
        return float(asked)
    try:
        return (parsedate_to_datetime(asked) - parsedate_to_datetime(headers.get("Date", ""))).total_seconds()
    except (ValueError, TypeError):
        return 0.0
