"""Arrays in a file that processes map into memory and share. A file is written once and never changed."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

_ALIGNMENT = 64
_LENGTH = 8  # bytes of the length of the header
# Words summed at a time; the checksum of a file is a digest of these sums, which is as fast as reading the file.
_SUMMED = 1 << 17
_WORD = np.dtype("<u8")


class DamagedArrays(Exception):
    """The file is not what was written: another checksum, or missing."""


def write_arrays(path: Path, arrays: Arrays) -> str:
    """Write arrays to a new file, readable by this user only, synced to disk; return its checksum."""
    header, offset = dict[str, tuple[str, tuple[int, ...], int]](), 0
    for name, array in arrays.items():
        header[name] = (array.dtype.str, array.shape, offset)
        offset += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    encoded = json.dumps(header).encode()
    encoded += b" " * (-(len(encoded) + _LENGTH) % _ALIGNMENT)
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(len(encoded).to_bytes(_LENGTH, "little") + encoded)
            for array in arrays.values():
                file.write(np.ascontiguousarray(array).data)
                file.write(b"\0" * (-array.nbytes % _ALIGNMENT))
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return _checksum(_mapped(path))


def map_arrays(path: Path, checksum: str) -> dict[str, NDArray[Any]]:
    """The arrays of a file, mapped into memory for reading. Raises `DamagedArrays`."""
    mapped = _mapped(path)
    if _checksum(mapped) != checksum:
        raise DamagedArrays(f"{path.name} has another checksum")
    _release(mapped)
    start = _LENGTH + int.from_bytes(mapped[:_LENGTH], "little")
    header: dict[str, tuple[str, list[int], int]] = json.loads(mapped[_LENGTH:start])
    return {
        name: np.ndarray(tuple(shape), np.dtype(type), mapped, start + offset)
        for name, (type, shape, offset) in header.items()
    }


def _mapped(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as exc:
        raise DamagedArrays(f"{path.name}: {exc}") from exc


def _checksum(mapped: mmap.mmap) -> str:
    if len(mapped) % _WORD.itemsize:
        return "truncated"
    words = np.frombuffer(mapped, _WORD)
    sums = np.add.reduceat(words, np.arange(0, len(words), _SUMMED)) if len(words) else words
    return hashlib.blake2b(len(words).to_bytes(8, "little") + sums.tobytes(), digest_size=16).hexdigest()


def _release(mapped: mmap.mmap) -> None:
    """Count the pages that were read for the checksum as used by this process only when it uses them."""
    if hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)
