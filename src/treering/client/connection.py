"""Requests to a server: token, retries, and errors of the library."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx

from treering.core import errors
from treering.core.records import Knowledge

ATTEMPTS = 4
RETRY_SECONDS = 0.25
"""First pause before a request is sent again; doubles each time. A server restarts within these pauses."""
_DENIED = {401: "the token is missing or wrong", 403: "it is not allowed", 421: "the server does not accept this host"}


class Connection:
    """One project of one server. A request that changes something is carried out once, however often it is sent."""

    def __init__(
        self, url: str, *, token: str | None, timeout: float, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.url = url.rstrip("/")
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=self.url, headers=headers, timeout=timeout, transport=transport)
        self.project = ""

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **params: Any) -> Any:
        return self._sent("GET", self._path(path), params=_given(params))

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self._sent("POST", self._path(path), json=body, headers={"Idempotency-Key": uuid4().hex})

    def put(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self._sent("PUT", self._path(path), json=body)

    def delete(self, path: str, **params: Any) -> Any:
        key = {"Idempotency-Key": uuid4().hex}
        return self._sent("DELETE", self._path(path), params=_given(params), headers=key)

    def upload(self, path: str, file: Path) -> Any:
        """Send a file; not repeated, because it is read once."""
        with self._translated(), file.open("rb") as reading:
            return _answer(self._http.post(self._path(path), content=iter(lambda: reading.read(64 * 1024), b"")))

    def lines(self, path: str, **params: Any) -> Iterator[str]:
        """Lines of a streamed answer."""
        with self._translated(), self._http.stream("GET", self._path(path), params=_given(params)) as response:
            if response.is_error:
                response.read()
                _answer(response)
            yield from response.iter_lines()

    def server(self, method: str, path: str) -> Any:
        """A request that belongs to no project."""
        return self._sent(method, f"/api/v1{path}")

    def _path(self, path: str) -> str:
        return f"/api/v1/projects/{segment(self.project)}{path}"

    def _sent(self, method: str, path: str, **request: Any) -> Any:
        with self._translated():
            for attempt in range(1, ATTEMPTS):
                try:
                    return _answer(self._http.request(method, path, **request))
                except httpx.TransportError as exc:
                    if isinstance(exc, httpx.TimeoutException) and not isinstance(exc, httpx.ConnectTimeout):
                        raise
                    time.sleep(RETRY_SECONDS * 2 ** (attempt - 1))
            return _answer(self._http.request(method, path, **request))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as exc:
            raise errors.StoreUnavailable(
                f"{self.url} does not answer ({str(exc) or type(exc).__name__}); start it with `treering serve`"
            ) from exc


def segment(text: str) -> str:
    """A name as one step of a path; a step of dots alone would lead elsewhere."""
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")


def _given(params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: ("true" if value else "false") if isinstance(value, bool) else value
        for name, value in params.items()
        if value is not None
    }


def _answer(response: httpx.Response) -> Any:
    if not response.is_error:
        return response.json()
    try:
        problem = response.json()
        detail, name = str(problem["detail"]), str(problem["error"])
    except (ValueError, KeyError, TypeError):
        # Proxies answer so while the server is away, and the server itself to calls that its end cut off.
        kind = errors.StoreUnavailable if response.is_server_error else errors.StoreError
        raise kind(f"the server answered with status {response.status_code}; see its log") from None
    raise _error(response.status_code, name, detail, problem)


def _error(status: int, name: str, detail: str, problem: Mapping[str, Any]) -> errors.TreeringError:
    """The error that the library would have raised."""
    if name == "StaleVersion" and problem.get("current"):
        return errors.StaleVersion(
            Knowledge.from_json(json.dumps(problem["current"])), int(problem["based_on"]["version"])
        )
    found = getattr(errors, name, None)
    if isinstance(found, type) and issubclass(found, errors.TreeringError) and found is not errors.StaleVersion:
        return found(detail)
    if status in _DENIED:
        return errors.StoreUnavailable(f"the server refused the request: {_DENIED[status]}; {detail}")
    return errors.StoreError(detail)
