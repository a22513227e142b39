"""The token that a client shows: made on the first start, one a project, or brought by the user."""

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
from treering.location.private_files import ensure_private_folder

FILE = "mcp-token"
SHORTEST = 32
"""Characters of a token: what nobody guesses, however it was made."""
LONGEST = 1_000
"""Characters of a token: servers and proxies cut off headers that are much longer."""
_IN_A_HEADER = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""What RFC 6750 lets a bearer token be."""
_HOW = "`python3 -c 'import secrets; print(secrets.token_urlsafe(32))'` makes one"


@dataclass(frozen=True, slots=True)
class Token:
    """What clients show. It is never printed: people are told the file that it is in."""

    text: str = field(repr=False)
    file: Path | None = None


def token_for(project: str | None, *, file: Path | None, given: str | None) -> Token:
    """The token in the file that was named, else the one that was given, else the project's own."""
    if file is not None:
        return Token(_usable(_read(file), f"the token in {file}"), file.absolute())
    if given is not None:
        return Token(_usable(given.strip(), "the token in TREERING_MCP_TOKEN"))
    own = _folder(project) / FILE
    if not own.exists():
        _make(own)
    return Token(_usable(_read(own), f"the token in {own}"), own)


def _folder(project: str | None) -> Path:
    """Where the project has its place in the user's data folder, whichever database its memory is in."""
    around = compose.current_project()
    named = around if project in (None, around) else compose.project_name(Path(project or ""))
    return ensure_private_folder(compose.data_directory() / named)


def _make(file: Path) -> None:
    """Whole or not at all, and once: whoever comes second finds the token of the first."""
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
        raise StoreReadOnly(f"{file} cannot be written ({exc}); bring a token with --token-file: {_HOW}") from exc


def _read(file: Path) -> str:
    """What the file says, where nobody else can have read or written it."""
    try:
        handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as reading:
            _refuse_what_others_can_touch(file, os.fstat(handle))
            return reading.read(LONGEST + 2).decode("ascii", errors="replace").strip()
    except OSError as exc:
        raise InvalidInput(f"{file} cannot be read ({exc.strerror}); put a token there: {_HOW}") from exc


def _refuse_what_others_can_touch(file: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"{file} is not a file; put a token into one: {_HOW}")
    # Windows has no such bits: the folder of a user is the user's there.
    if os.name == "nt":
        return
    if found.st_mode & 0o077:
        raise InvalidInput(
            f"others on this machine can read or write {file} (mode {stat.S_IMODE(found.st_mode):04o}); delete it and "
            "make a new one, or run `chmod 600` on it if nobody has read it"
        )
    if found.st_uid not in (os.getuid(), 0):
        raise InvalidInput(f"{file} belongs to another user; name a file of your own with --token-file")


def _usable(token: str, what: str) -> str:
    if not SHORTEST <= len(token) <= LONGEST:
        raise InvalidInput(f"{what} needs {SHORTEST} to {LONGEST:,} characters and has {len(token)}; {_HOW}")
    if not _IN_A_HEADER.fullmatch(token):
        raise InvalidInput(f"{what} has characters that a header cannot carry; {_HOW}")
    return token
