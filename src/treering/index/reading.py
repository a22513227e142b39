"""Reads one file: what it says, or why it says nothing. Whatever is wrong with it is told, and costs this file only."""

import os
import re
import stat
import time
from hashlib import blake2b
from pathlib import Path

import msgspec

from treering.core.errors import MissingDependency
from treering.index.discovering import BINARY, GENERATED, LEAVES_ROOT, NO_PERMISSION, TOO_LARGE, VANISHED, stamp_of
from treering.index.facts import Facts, Problem
from treering.index.packing import pack_definitions, pack_facts, pack_keys
from treering.index.which_language import MANIFESTS, load_language

NO_GRAMMAR = "its grammar is not installed"
NOT_UNDERSTOOD = "cannot be read by its language"

PASSING = frozenset({NO_PERMISSION, VANISHED, LEAVES_ROOT, NO_GRAMMAR, TOO_LARGE})
"""Reasons that may be gone the next time though the file is the same: such a file is not remembered."""

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


def read_file(root: Path, path: str, language: str, largest: int) -> Reading:
    """The file at `path` below the root, which must be resolved. It is never followed out of there."""
    try:
        source, stamp, read_at = _content(root, path, largest)
    except PermissionError:
        return Reading(path, language, skipped=NO_PERMISSION)
    except _Refused as exc:
        return Reading(path, language, skipped=str(exc))
    except OSError:
        return Reading(path, language, skipped=VANISHED)
    digest = _digest(source)
    skipped, facts, given, said = _understood(path, language, source)
    if facts is None:
        return Reading(path, language, digest, stamp, read_at, skipped, problems=said)
    return Reading(
        path,
        language,
        digest,
        stamp,
        read_at,
        "",
        pack_facts(facts),
        pack_definitions(facts.definitions),
        given,
        len(facts.definitions),
        facts.problems,
    )


def _understood(path: str, language: str, source: bytes) -> tuple[str, Facts | None, bytes, tuple[Problem, ...]]:
    """What the language makes of a file, with its keys; or why it makes nothing of it."""
    if why := _no_code(path, source):
        return why, None, b"", ()
    try:
        reader = load_language(language)
        facts = reader.extract(path, source)
        return "", facts, pack_keys(reader.surface(facts)), ()
    except MissingDependency:
        return NO_GRAMMAR, None, b"", ()
    except Exception as exc:  # noqa: BLE001 - a language is a door: what one file does to it must not stop the others
        return NOT_UNDERSTOOD, None, b"", (Problem(1, f"{NOT_UNDERSTOOD}: {type(exc).__name__}: {exc}"),)


def digest_of(root: Path, path: str, largest: int) -> str:
    """The digest that reading the file would give it; empty where it cannot be read."""
    try:
        return _digest(_content(root, path, largest)[0])
    except (OSError, _Refused):
        return ""


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
