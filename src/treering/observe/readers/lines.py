"""JSON lines of files of any size: bounded memory, broken lines counted."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import IO, Any, cast

from treering.observe.readers.transcripts import Fields, FileParts, Head, ReadReport

# A longer line is one pasted image or file; parsing it would take several times its size in memory.
MAX_LINE_BYTES = 8 * 1024 * 1024
_CHUNK = 256 * 1024
_SMALL_CHUNK = 8 * 1024
_PREFIX = 64 * 1024
# Of a head: sessions begin with some lines about hooks, settings and attachments before the first message.
_HEAD_LINES = 80
_HEAD_BYTES = 2 * MAX_LINE_BYTES
# Left behind by a file system that extended the file before a crash, or by editors.
_AROUND_JSON = b"\0 \t\r\n\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"

BROKEN: Any = object()


def open_file(path: Path, buffering: int = _CHUNK) -> IO[bytes]:
    """The file's content, uncompressed if it is a gzip file."""
    with path.open("rb") as file:
        is_compressed = file.read(2) == _GZIP
    return cast(IO[bytes], gzip.open(path, "rb")) if is_compressed else path.open("rb", buffering=buffering)


def parse(line: bytes) -> Any:
    """The JSON value of a line, or `BROKEN`."""
    try:
        return _DECODER.decode(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return BROKEN


# NaN and infinities are not JSON, and no store accepts them.
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)


def numbered_lines(
    stream: IO[bytes], report: ReadReport, first: int = 1, end: int | None = None
) -> Iterator[tuple[int, bytes, bool]]:
    """Lines before `end` that are not empty, with their numbers, and whether they end with a newline.

    Lines over `MAX_LINE_BYTES` are counted and left out. Reading stops at the deadline of the report.
    """
    number = first
    while (end is None or stream.tell() < end) and (line := stream.readline(MAX_LINE_BYTES)):
        if monotonic() > report.deadline:
            return
        if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
            del line
            _skip_line(stream, report.deadline)
            report.lines += 1
            report.too_long += 1
        else:
            stripped = line.strip(_AROUND_JSON)
            if stripped:
                report.lines += 1
                yield number, stripped, line.endswith(b"\n")
        number += 1


def _skip_line(stream: IO[bytes], deadline: float) -> None:
    while monotonic() <= deadline and (chunk := stream.readline(_CHUNK)) and not chunk.endswith(b"\n"):
        pass


def records(path: Path, report: ReadReport, parts: FileParts | None = None) -> Iterator[tuple[int, Fields]]:
    """JSON objects of a file, or of parts of it, with their line numbers; everything else is counted."""
    # Whatever is read beyond the end of a part is read in vain.
    with open_file(path, _CHUNK if parts is None or len(parts) == 1 else _SMALL_CHUNK) as stream:
        for number, line, is_complete in _lines(stream, report, parts):
            value = parse(line)
            if isinstance(value, dict):
                yield number, value
            elif value is not BROKEN:
                report.not_understood(f"({type(value).__name__})")
            elif is_complete:
                report.broken += 1
            else:
                report.truncated += 1


def _lines(stream: IO[bytes], report: ReadReport, parts: FileParts | None) -> Iterator[tuple[int, bytes, bool]]:
    if parts is None:
        yield from numbered_lines(stream, report)
        return
    for part in parts:
        stream.seek(part.offset)
        yield from numbered_lines(stream, report, part.first_line, part.end)


def head_of(path: Path) -> Head | None:
    """The beginning of a file; None if it cannot be JSON."""
    with open_file(path) as stream:
        prefix = stream.read(_PREFIX)
        if prefix.lstrip(_AROUND_JSON)[:1] not in (b"{", b"["):
            return None
        stream.seek(0)
        found, size = list[Fields](), 0
        for _ in range(_HEAD_LINES):
            line = stream.readline(MAX_LINE_BYTES)
            size += len(line)
            if not line or size > _HEAD_BYTES:
                break
            value = parse(line.strip(_AROUND_JSON))
            if isinstance(value, dict):
                found.append(value)
        return Head(path, prefix, tuple(found))
