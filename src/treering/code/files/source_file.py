"""Reads one file: what it says, or why it says nothing. Whatever is wrong with it is told, and costs this file only."""

import os
import re
import stat
import time
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path

import msgspec
from msgspec.structs import replace

from treering.code.chunks.encoding import pack_chunks
from treering.code.chunks.split import chunks_of
from treering.code.chunks.words import stored_chunks
from treering.code.encoding import pack_definitions, pack_facts, pack_keys
from treering.code.facts import Problem, failure
from treering.code.files.discovery import (
    BINARY,
    GENERATED,
    LEAVES_ROOT,
    NO_PERMISSION,
    TOO_LARGE,
    VANISHED,
    stamp_of,
)
from treering.code.files.secrets import without_secrets
from treering.code.language_choice import MANIFESTS, load_language, missing_grammar
from treering.code.limits import ChunkLimits
from treering.core.errors import MissingDependency

NO_GRAMMAR = "its grammar is not installed"
NOT_UNDERSTOOD = "cannot be read by its language"

PASSING = frozenset({VANISHED, LEAVES_ROOT, TOO_LARGE})
"""Reasons that were gone when the file was found: it is not remembered, and looked at again."""

_HEAD = 2_048
_LOOKED_AT = 8_192
_MARKED = re.compile(rb"^\s*(?://|#|/\*+|\*|<!--|\"\"\")\s*(?:Code generated .*DO NOT EDIT|@generated\b)", re.M)
_LONG_LINES = 1_000
"""Bytes of an average line that no person wrote."""
_MINIFIED_FROM = 20_000
_AGAIN = 3
# A pipe that took the place of a file must not keep us waiting, a link not lead us away.
_OPENED = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Reading(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file as it was read; `skipped` says why there is nothing of it."""

    path: str
    language: str
    digest: str = ""
    stamp: str = ""
    read_at: int = 0
    skipped: str = ""
    facts: bytes = b""
    definitions: bytes = b""
    given: bytes = b""
    defined: int = 0
    problems: tuple[Problem, ...] = ()
    chunks: bytes = b""


def read_file(root: Path, path: str, language: str, largest: int, cutting: ChunkLimits | None = None) -> Reading:
    """The file at `path` below the root, which must be resolved. It is never followed out of there."""
    source, seen = _seen(root, path, language, largest)
    if source is None:
        return seen
    if why := _no_code(path, source):
        return replace(seen, skipped=why)
    try:
        return _understood(seen, source, cutting)
    except MissingDependency:
        return replace(seen, skipped=NO_GRAMMAR)
    except Exception as exc:  # noqa: BLE001 - a language is a door: what one file does to it must not stop the others
        return replace(seen, skipped=NOT_UNDERSTOOD, problems=(Problem(1, failure(NOT_UNDERSTOOD, exc)),))


def left_unread(root: Path, path: str, language: str, largest: int, why: str) -> Reading:
    """A file that nothing is made of, so that it can be told whether it is still the same."""
    source, seen = _seen(root, path, language, largest)
    return seen if source is None else replace(seen, skipped=why)


def is_back(root: Path, path: str, language: str, skipped: str) -> bool:
    """Whether the reason for which nothing was read of a file is gone though the file is the same."""
    passed = _MAY_PASS.get(skipped)
    return passed is not None and passed(root / path, language)


_MAY_PASS: Mapping[str, Callable[[Path, str], bool]] = {
    NO_PERMISSION: lambda full, _language: os.access(full, os.R_OK),
    NO_GRAMMAR: lambda _full, language: missing_grammar(language) is None,
}


def _seen(root: Path, path: str, language: str, largest: int) -> tuple[bytes | None, Reading]:
    """The bytes of a file with all that can be said without understanding them; None where it may not be read."""
    try:
        source, stamp, read_at = _content(root, path, largest)
        return source, Reading(path, language, _digest(source), stamp, read_at)
    except PermissionError:
        return None, _closed(root, path, language)
    except _Refused as exc:
        return None, Reading(path, language, skipped=str(exc))
    except OSError:
        return None, Reading(path, language, skipped=VANISHED)


def _closed(root: Path, path: str, language: str) -> Reading:
    """A file that may be looked at, not read."""
    read_at = time.time_ns()
    try:
        return Reading(path, language, "", stamp_of(os.lstat(root / path)), read_at, NO_PERMISSION)
    except OSError:
        return Reading(path, language, skipped=VANISHED)


def _understood(seen: Reading, source: bytes, cutting: ChunkLimits | None) -> Reading:
    """What the language makes of a file, ready to be stored; secrets are taken out before."""
    reader, source = load_language(seen.language), without_secrets(seen.path, seen.language, source)
    facts = reader.extract(seen.path, source)
    return replace(
        seen,
        facts=pack_facts(facts),
        definitions=pack_definitions(facts.definitions),
        given=pack_keys(reader.surface(facts)),
        defined=len(facts.definitions),
        problems=facts.problems,
        chunks=pack_chunks(stored_chunks(chunks_of(seen.path, text_of(source), facts.definitions, cutting))),
    )


def text_of(source: bytes) -> str:
    """What chunks are cut from."""
    return source.decode("utf-8", "replace")


def digest_of(root: Path, path: str, largest: int) -> str:
    """The digest that reading the file would give it; empty where it cannot be read."""
    try:
        return _digest(_content(root, path, largest)[0])
    except (OSError, _Refused):
        return ""


def source_of(root: Path, path: str, largest: int) -> bytes | None:
    """The bytes of the file; None where it may not be read."""
    try:
        return _content(root, path, largest)[0]
    except (OSError, _Refused):
        return None


def source_with(digest: str, root: Path, path: str, largest: int) -> bytes | None:
    """The bytes of the file that have this digest; None where it has others now, or may not be read."""
    source = source_of(root, path, largest)
    return source if source is not None and _digest(source) == digest else None


def _digest(source: bytes) -> str:
    return blake2b(source, digest_size=16).hexdigest()


class _Refused(Exception):
    """The reason why a file is not read."""


def _content(root: Path, path: str, largest: int) -> tuple[bytes, str, int]:
    """Bytes, stamp and time of a file that did not change while it was read."""
    full = root / path
    if os.path.realpath(full.parent) != str(full.parent):
        raise _Refused(LEAVES_ROOT)
    for last in range(_AGAIN, 0, -1):
        read_at = time.time_ns()
        opened = os.open(full, _OPENED)
        with open(opened, "rb") as file:
            before = os.fstat(opened)
            if not stat.S_ISREG(before.st_mode):
                raise _Refused(VANISHED)
            if before.st_size > largest:
                raise _Refused(TOO_LARGE)
            source = file.read(largest + 1)
            after = os.fstat(opened)
        if len(source) > largest:
            raise _Refused(TOO_LARGE)
        if stamp_of(before) == stamp_of(after) or last == 1:
            return source, stamp_of(before), read_at
    raise AssertionError("the last attempt returns")


def _no_code(path: str, source: bytes) -> str:
    """Why a file of code is none; empty where it is."""
    if b"\0" in source[:_LOOKED_AT]:
        return BINARY
    if path.rpartition("/")[2] in MANIFESTS:
        return ""
    if _MARKED.search(source[:_HEAD]):
        return GENERATED
    if len(source) > _MINIFIED_FROM and len(source) > _LONG_LINES * (source.count(b"\n") + 1):
        return GENERATED
    return ""
