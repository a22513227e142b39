"""The token that clients send: given by the user, or created for the project on the first start."""

import os
import re
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkstemp

from treering import compose
from treering.core.errors import InvalidInput, StoreReadOnly
from treering.interfaces.servers.http.address import MCP_VARIABLE
from treering.location.private_files import ensure_private_folder

FILE = "mcp-token"
MIN_LENGTH = 32
"""Characters of a token that cannot be guessed, however it was made."""
MAX_LENGTH = 1_000
"""Characters of a token: servers and proxies reject much longer headers."""
_BEARER = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""Syntax of a bearer token in RFC 6750."""
_HOW = "create one with `python3 -c 'import secrets; print(secrets.token_urlsafe(32))'`"


@dataclass(frozen=True, slots=True)
class AccessToken:
    """The token and its file. The token is never printed, only the file."""

    text: str = field(repr=False)
    file: Path | None = None


def token_for(
    project: str | None, *, file: Path | None, given: str | None, variable: str = MCP_VARIABLE
) -> AccessToken:
    """Token from the named file, else from the environment `variable`, else the project's token file."""
    if file is not None:
        return AccessToken(_checked(_read(file), f"the token in {file}"), file.absolute())
    if given is not None:
        return AccessToken(_checked(given.strip(), f"the token in {variable}"))
    own = project_folder(project) / FILE
    if not own.exists():
        _create(own)
    return AccessToken(_checked(_read(own), f"the token in {own}"), own)


def existing_token(project: str | None) -> str | None:
    """The token that a server made for the project; None if none did."""
    own = project_folder(project) / FILE
    return _checked(_read(own), f"the token in {own}") if own.exists() else None


def project_folder(project: str | None) -> Path:
    """Folder of the project in the user's data folder, whichever database its memory is in."""
    around = compose.current_project()
    named = around if project in (None, around) else compose.project_name(Path(project or ""))
    return ensure_private_folder(compose.data_directory() / named)


def _create(file: Path) -> None:
    """Write a new token atomically; of two processes, the second finds the token of the first."""
    try:
        handle, aside = mkstemp(prefix=f".{FILE}.", dir=file.parent)
        try:
            with open(handle, "w", encoding="ascii") as writing:
                writing.write(f"{secrets.token_urlsafe(32)}\n")
                writing.flush()
                os.fsync(handle)
            with suppress(FileExistsError):
                os.link(aside, file)
        finally:
            Path(aside).unlink(missing_ok=True)
    except OSError as exc:
        raise StoreReadOnly(f"{file} cannot be written ({exc}); pass a token with --token-file: {_HOW}") from exc


def _read(file: Path) -> str:
    """The token in the file; `InvalidInput` if other users could have read or written it."""
    try:
        handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as reading:
            _check_private(file, os.fstat(handle))
            return reading.read(MAX_LENGTH + 2).decode("ascii", errors="replace").strip()
    except OSError as exc:
        raise InvalidInput(f"{file} cannot be read ({exc.strerror}); write a token to it: {_HOW}") from exc


def _check_private(file: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"{file} is not a regular file; write a token to a file: {_HOW}")
    # Windows has no such bits; the folder of a user is private there.
    if os.name == "nt":
        return
    if found.st_mode & 0o077:
        raise InvalidInput(
            f"other users can read or write {file} (mode {stat.S_IMODE(found.st_mode):04o}); delete it and create "
            "a new one, or run `chmod 600` on it if no one has read it"
        )
    if found.st_uid not in (os.getuid(), 0):
        raise InvalidInput(f"{file} belongs to another user; pass a file of your own with --token-file")


def _checked(token: str, what: str) -> str:
    if not MIN_LENGTH <= len(token) <= MAX_LENGTH:
        raise InvalidInput(f"{what} needs {MIN_LENGTH} to {MAX_LENGTH:,} characters and has {len(token)}; {_HOW}")
    if not _BEARER.fullmatch(token):
        raise InvalidInput(f"{what} has characters that a header cannot contain; {_HOW}")
    return token
