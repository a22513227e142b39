"""Request filter of the server: a token or the panel's cookie for everything but health and static files."""

import re
import time

from starlette.responses import Response

from treering.interfaces.rest.problems import problem
from treering.interfaces.rest.sign_in import cookie_name, is_valid_cookie
from treering.interfaces.servers.http.gate import Headers, Refusal, RequestGate

SAFE = frozenset({"GET", "HEAD"})
PROTECTED = ("/api/", "/mcp", "/metrics")
SIGN_IN = "/api/v1/sign-in"
PUBLIC = frozenset({"/api/v1/openapi.json", "/api/v1/docs", SIGN_IN})
"""Paths that need no token: descriptions of the API, and the exchange of a token for a cookie."""
_STREAMED = re.compile(r"/api/v1/projects/[^/]+/(import|sessions/replay)")
"""Paths whose bodies are files."""

NO_CREDENTIALS = Refusal(
    401,
    "no valid token; send `Authorization: Bearer TOKEN`, or open the link that `treering serve --open` prints",
    (("WWW-Authenticate", "Bearer"),),
)
COOKIE_WITHOUT_ORIGIN = Refusal(403, "a change with a cookie needs the Origin of the panel")


class RestGate(RequestGate):
    """Rejects with problem details."""

    def authorization(self, method: str, path: str, headers: Headers) -> Refusal | None:
        if not path.startswith(PROTECTED) or path in PUBLIC or self.has_token(headers):
            return None
        if path.startswith("/api/") and self._has_cookie(headers):
            return self._forgery(method, headers)
        return NO_CREDENTIALS

    def response(self, refusal: Refusal) -> Response:
        return problem(refusal.status, refusal.why, "", "Refused", dict(refusal.headers))

    def streams(self, method: str, path: str) -> bool:
        return method == "POST" and _STREAMED.fullmatch(path) is not None

    def _has_cookie(self, headers: Headers) -> bool:
        name = cookie_name(headers[b"host"][0].decode("latin-1"))
        pairs = (
            each.strip().partition("=")
            for value in headers.get(b"cookie", ())
            for each in value.decode("latin-1").split(";")
        )
        return any(key == name and is_valid_cookie(value, self._token.decode(), time.time()) for key, _, value in pairs)

    def _forgery(self, method: str, headers: Headers) -> Refusal | None:
        """Browsers send the cookie with requests of other pages of this machine too; their Origin tells them apart."""
        if method not in SAFE:
            return None if headers.get(b"origin") else COOKIE_WITHOUT_ORIGIN
        sites = headers.get(b"sec-fetch-site", [b"none"])
        return None if set(sites) <= {b"same-origin", b"none"} else COOKIE_WITHOUT_ORIGIN
