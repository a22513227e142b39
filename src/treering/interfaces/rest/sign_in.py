"""Signing in to the panel: a link that works once, and the cookie that it sets."""

import hmac
import secrets
import time
from hashlib import sha256
from pathlib import Path

from treering.location.private_files import ensure_private_folder

CODE_SECONDS = 300.0
"""Lifetime of a link: enough for a browser to start."""
COOKIE_SECONDS = 7 * 24 * 3_600
_MAX_CODES = 20


def cookie_name(host: str) -> str:
    """The name of the cookie: browsers share cookies between the ports of a host."""
    port = host.rpartition(":")[2]
    return f"treering_{port}" if port.isdigit() else "treering"


def cookie_value(token: str, now: float) -> str:
    """A value that only the owner of the token can make, valid for `COOKIE_SECONDS`. It survives a restart."""
    expires = str(int(now) + COOKIE_SECONDS)
    return f"{expires}.{_signature(token, expires)}"


def is_valid_cookie(value: str, token: str, now: float) -> bool:
    """Compares in constant time."""
    expires, _, signature = value.partition(".")
    if not expires.isascii() or not expires.isdigit() or not signature.isascii():
        return False
    return hmac.compare_digest(signature, _signature(token, expires)) and int(expires) > now


def _signature(token: str, expires: str) -> str:
    return hmac.new(token.encode(), f"panel session until {expires}".encode(), "sha256").hexdigest()


class SignInCodes:
    """Codes of links, each of which works once, in any process of the server.

    Only the hash of a code is stored, as the name of an empty file; removing the file uses the code up.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "sign-in"

    def create(self) -> str:
        ensure_private_folder(self._folder)
        for old in sorted(self._folder.iterdir(), key=lambda file: file.name)[_MAX_CODES:]:
            old.unlink(missing_ok=True)
        code = secrets.token_urlsafe(32)
        self._file(code).touch(mode=0o600)
        return code

    def use(self, code: str) -> bool:
        """Whether the code was created less than `CODE_SECONDS` ago and is used for the first time."""
        file = self._file(code)
        try:
            created = file.stat().st_mtime
            file.unlink()
        except OSError:
            return False
        return 0 <= time.time() - created + 1 < CODE_SECONDS

    def _file(self, code: str) -> Path:
        return self._folder / sha256(code.encode("utf-8", "replace")).hexdigest()
