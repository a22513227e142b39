"""Read one source file: its facts, or the reason why it was skipped. A failure affects this file only."""

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
from treering.code.facts import SyntaxProblem, format_failure
from treering.code.files.secrets import redact_secrets
from treering.code.files.skip_reasons import BINARY, GENERATED, LEAVES_ROOT, NO_PERMISSION, TOO_LARGE, VANISHED
from treering.code.files.stamps import stamp_of
from treering.code.language_choice import MANIFESTS, NO_GRAMMAR, is_text_format, load_language, missing_grammar
from treering.code.limits import TEXT_CHUNK_LIMITS, ChunkLimits
from treering.core.errors import MissingDependency

NOT_UNDERSTOOD = "cannot be parsed"
TRANSIENT = frozenset({VANISHED, LEAVES_ROOT, TOO_LARGE})
"""Reasons that did not exist when the file was discovered: it is not recorded, and is read again next time."""

_MARKER_BYTES = 2_048
_BINARY_CHECK_BYTES = 8_192
_MARKED = re.compile(rb"^\s*(?://|#|/\*+|\*|<!--|\"\"\")\s*(?:Code generated .*DO NOT EDIT|@generated\b)", re.M)
_MAX_AVERAGE_LINE = 1_000
"""Average line length in bytes above which a file is not written by hand."""
_MINIFIED_FROM = 20_000
_ATTEMPTS = 3
# A pipe that replaced a file must not block, and a link must not be followed.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class SourceFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The result of reading one file; `skipped` is the reason if there are no facts."""

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
    problems: tuple[SyntaxProblem, ...] = ()
    chunks: bytes = b""


def read_file(
    root: Path, path: str, language: str, max_bytes: int, chunk_settings: ChunkLimits | None = None
) -> SourceFile:
    """Read the file at `path` below the root, which must be resolved; links out of the root are not followed."""
    source, file = _load(root, path, language, max_bytes)
    if source is None:
        return file
    if why := _non_source_reason(path, source):
        return replace(file, skipped=why)
    try:
        return _extract(file, source, chunk_settings)
    except MissingDependency:
        return replace(file, skipped=NO_GRAMMAR)
    except Exception as exc:  # noqa: BLE001 - a failure on one file must not affect the others
        return replace(file, skipped=NOT_UNDERSTOOD, problems=(SyntaxProblem(1, format_failure(NOT_UNDERSTOOD, exc)),))


def read_skipped_file(root: Path, path: str, language: str, max_bytes: int, why: str) -> SourceFile:
    """Record a file that is not parsed, so that a later change to it is detected."""
    source, file = _load(root, path, language, max_bytes)
    return file if source is None else replace(file, skipped=why)


def can_be_read_now(root: Path, path: str, language: str, skipped: str) -> bool:
    """Whether an unchanged file that was skipped can be read now."""
    passed = _RECOVERABLE.get(skipped)
    return passed is not None and passed(root / path, language)


_RECOVERABLE: Mapping[str, Callable[[Path, str], bool]] = {
    NO_PERMISSION: lambda full, _language: os.access(full, os.R_OK),
    NO_GRAMMAR: lambda _full, language: missing_grammar(language) is None,
}


def _load(root: Path, path: str, language: str, max_bytes: int) -> tuple[bytes | None, SourceFile]:
    """Return the bytes of a file and its record without facts; the bytes are None if it must not be read."""
    try:
        source, stamp, read_at = _content(root, path, max_bytes)
        return source, SourceFile(path, language, _digest(source), stamp, read_at)
    except PermissionError:
        return None, _unreadable_file(root, path, language)
    except _FileSkipped as exc:
        return None, SourceFile(path, language, skipped=str(exc))
    except OSError:
        return None, SourceFile(path, language, skipped=VANISHED)


def _unreadable_file(root: Path, path: str, language: str) -> SourceFile:
    """Return the record of a file that can be listed but not read."""
    read_at = time.time_ns()
    try:
        return SourceFile(path, language, "", stamp_of(os.lstat(root / path)), read_at, NO_PERMISSION)
    except OSError:
        return SourceFile(path, language, skipped=VANISHED)


def _extract(file: SourceFile, source: bytes, chunk_settings: ChunkLimits | None) -> SourceFile:
    """Extract and encode the facts of a file; secrets are redacted first."""
    reader, source = load_language(file.language), redact_secrets(file.path, file.language, source)
    facts, limits = reader.extract(file.path, source), chunk_limits(file.language, chunk_settings)
    return replace(
        file,
        facts=pack_facts(facts),
        definitions=pack_definitions(facts.definitions),
        given=pack_keys(reader.surface(facts)),
        defined=len(facts.definitions),
        problems=facts.problems,
        chunks=pack_chunks(stored_chunks(chunks_of(file.path, text_of(source), facts.definitions, limits))),
    )


def chunk_limits(language: str, of_code: ChunkLimits | None) -> ChunkLimits | None:
    """Return the limits of chunks in files of a language, given those of code."""
    return TEXT_CHUNK_LIMITS if is_text_format(language) else of_code


def text_of(source: bytes) -> str:
    """Return the text that chunks are cut from."""
    return source.decode("utf-8", "replace")


def digest_of(root: Path, path: str, max_bytes: int) -> str:
    """Return the digest that `read_file` would compute; empty if the file cannot be read."""
    try:
        return _digest(_content(root, path, max_bytes)[0])
    except (OSError, _FileSkipped):
        return ""


def source_of(root: Path, path: str, max_bytes: int) -> bytes | None:
    """Return the bytes of the file, or None if it must not be read."""
    try:
        return _content(root, path, max_bytes)[0]
    except (OSError, _FileSkipped):
        return None


def source_with_digest(digest: str, root: Path, path: str, max_bytes: int) -> bytes | None:
    """Return the bytes of the file if they have this digest, else None."""
    source = source_of(root, path, max_bytes)
    return source if source is not None and _digest(source) == digest else None


def _digest(source: bytes) -> str:
    return blake2b(source, digest_size=16).hexdigest()


class _FileSkipped(Exception):
    """A file must not be read; the message is the reason."""


def _content(root: Path, path: str, max_bytes: int) -> tuple[bytes, str, int]:
    """Return the bytes, stamp and read time of a file that did not change while it was read."""
    full = root / path
    if os.path.realpath(full.parent) != str(full.parent):
        raise _FileSkipped(LEAVES_ROOT)
    for last in range(_ATTEMPTS, 0, -1):
        read_at = time.time_ns()
        opened = os.open(full, _OPEN_FLAGS)
        with open(opened, "rb") as file:
            before = os.fstat(opened)
            if not stat.S_ISREG(before.st_mode):
                raise _FileSkipped(VANISHED)
            if before.st_size > max_bytes:
                raise _FileSkipped(TOO_LARGE)
            source = file.read(max_bytes + 1)
            after = os.fstat(opened)
        if len(source) > max_bytes:
            raise _FileSkipped(TOO_LARGE)
        if stamp_of(before) == stamp_of(after) or last == 1:
            return source, stamp_of(before), read_at
    raise AssertionError("the last attempt returns")


def _non_source_reason(path: str, source: bytes) -> str:
    """Return why a file with a source suffix is not source code; empty if it is."""
    if b"\0" in source[:_BINARY_CHECK_BYTES]:
        return BINARY
    if path.rpartition("/")[2] in MANIFESTS:
        return ""
    if _MARKED.search(source[:_MARKER_BYTES]):
        return GENERATED
    if len(source) > _MINIFIED_FROM and len(source) > _MAX_AVERAGE_LINE * (source.count(b"\n") + 1):
        return GENERATED
    return ""
