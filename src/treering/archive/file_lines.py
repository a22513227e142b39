"""Reads the lines of an export in bounded memory: a file from outside may be damaged or malicious."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from treering.core.errors import InvalidInput

_GZIP = b"\x1f\x8b"
_HEADER_BYTES = 65_536
# Records compress to a tenth or a twentieth; deflate can reach a thousandth.
_EXPANSION = 100
_EXPANDED_AT_LEAST = 67_108_864


def lines_of(path: Path, line_bytes: int) -> Iterator[str]:
    """The lines of an export, compressed or not.

    `InvalidInput` for a line of more than `line_bytes`, and for a compressed file that expands disproportionately.
    """
    with _opened(path) as (file, expanded_bytes):
        number = expanded = 0
        while line := file.readline(line_bytes + 1):
            number += 1
            expanded += len(line)
            if len(line) > line_bytes:
                raise InvalidInput(
                    f"{path}: line {number} is longer than {line_bytes:,} bytes; if you trust the file, raise the "
                    "setting store.import_line_bytes"
                )
            if expanded_bytes is not None and expanded > expanded_bytes:
                raise InvalidInput(
                    f"{path}: it expands to more than {expanded_bytes:,} bytes, {_EXPANSION} times its size; if you "
                    "trust the file, unpack it with gunzip and import the result"
                )
            yield line.decode()


def is_export(path: Path) -> bool:
    """Whether the file begins with the header of an export."""
    try:
        with _opened(path) as (file, _):
            return file.readline(_HEADER_BYTES).startswith(b'{"treering": ')
    except InvalidInput:
        return False


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, int | None]]:
    """The uncompressed file, and the limit of its expanded size if it is compressed."""
    try:
        with path.open("rb") as raw:
            if raw.peek(2)[:2] != _GZIP:
                yield raw, None
                return
            size = os.fstat(raw.fileno()).st_size
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield unpacked, max(_EXPANDED_AT_LEAST, _EXPANSION * size)  # type: ignore[misc]
    except FileNotFoundError:
        raise InvalidInput(f"{path} does not exist; check the path") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as exc:
        raise InvalidInput(f"{path} is truncated or damaged ({exc}); export again") from exc
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is not text; pass a file that `treering export` wrote") from exc
    except OSError as exc:
        raise InvalidInput(f"{path} cannot be read ({exc})") from exc
