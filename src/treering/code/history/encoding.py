"""Encoding of counts: decoding and counting on gives the same result as counting all commits at once."""

import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from treering.code.history.counts import CoChange, DecayingSum, FileCount, PairCount
from treering.core.settings import HistorySettings

FORMAT = 1
_QUICKLY = 1
_WHOLE, _LONG, _REAL = "<i4", "<i8", "<f8"


class _PackedCounts(msgspec.Struct, array_like=True, frozen=True):
    """Columns of little-endian numbers; names are separated by NUL, which no path contains."""

    names: bytes
    """Every path that ever occurred."""
    numbers: bytes
    """The file number that each path refers to."""
    places: bytes
    """Index of the current path of each file."""
    alive: bytes
    times: bytes
    files: tuple[bytes, bytes, bytes, bytes, bytes]
    pairs: tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes]
    """Each pair once: both files, commits in common, the last of them, then the sums of both directions."""
    folders: bytes
    folder_pairs: tuple[bytes, bytes, bytes]
    recent: tuple[bytes, bytes]


def pack(counts: CoChange) -> bytes:
    lineage = counts.lineage
    names = {name: place for place, name in enumerate(lineage.numbers)}
    folders = {name: place for place, name in enumerate(counts.folder_pairs)}
    files = list(counts.files.items())
    pairs = [
        (first, second, habit, counts.pairs[second][first])
        for first, near in counts.pairs.items()
        for second, habit in near.items()
        if first < second
    ]
    beside = [(one, other, count) for one, others in counts.folder_pairs.items() for other, count in others.items()]
    packed = _PackedCounts(
        names=_joined(names),
        numbers=_column(lineage.numbers.values()),
        places=_column(names[path] for path in lineage.paths),
        alive=_column(sorted(lineage.alive)),
        times=_column(counts.times, _LONG),
        files=(
            _column(number for number, _ in files),
            _column((count.busy.value for _, count in files), _REAL),
            _column(count.busy.at for _, count in files),
            _column(count.touched for _, count in files),
            _column(count.last for _, count in files),
        ),
        pairs=(
            _column(first for first, _, _, _ in pairs),
            _column(second for _, second, _, _ in pairs),
            _column(one.count for _, _, one, _ in pairs),
            _column(one.moment for _, _, one, _ in pairs),
            _column((one.value for _, _, one, _ in pairs), _REAL),
            _column(one.at for _, _, one, _ in pairs),
            _column((other.value for _, _, _, other in pairs), _REAL),
            _column(other.at for _, _, _, other in pairs),
        ),
        folders=_joined(folders),
        folder_pairs=(
            _column(folders[one] for one, _, _ in beside),
            _column(folders[other] for _, other, _ in beside),
            _column(count for _, _, count in beside),
        ),
        recent=(_column(map(len, counts.recent)), _column(number for each in counts.recent for number in each)),
    )
    return zlib.compress(msgspec.msgpack.encode(packed), _QUICKLY)


def unpack(packed: bytes, is_counted: Callable[[str], bool], settings: HistorySettings) -> CoChange:
    """The counts that were packed; `is_counted` and `settings` must be those they were made with."""
    stored = msgspec.msgpack.decode(zlib.decompress(packed), type=_PackedCounts)
    counts = CoChange(is_counted, settings)
    names, lineage = _split(stored.names), counts.lineage
    lineage.numbers = dict(zip(names, _values(stored.numbers), strict=True))
    lineage.paths = [names[place] for place in _values(stored.places)]
    lineage.alive = set(_values(stored.alive))
    counts.index_paths()
    counts.times = _values(stored.times, _LONG)
    counts.moment = len(counts.times) - 1
    numbers, busy, busy_at, touched, last = _columns(stored.files, (_WHOLE, _REAL, _WHOLE, _WHOLE, _WHOLE))
    for number, value, at, commits, newest in zip(numbers, busy, busy_at, touched, last, strict=True):
        counts.files[number] = FileCount(DecayingSum(value, at), commits, newest)
    pairs = counts.pairs
    columns = _columns(stored.pairs, (_WHOLE, _WHOLE, _WHOLE, _WHOLE, _REAL, _WHOLE, _REAL, _WHOLE))
    for first, second, count, moment, value, at, value_there, at_there in zip(*columns, strict=True):
        pairs[first][second] = PairCount(value, at, count, moment)
        pairs[second][first] = PairCount(value_there, at_there, count, moment)
    folders = _split(stored.folders)
    for one, other, count in zip(*map(_values, stored.folder_pairs), strict=True):
        counts.folder_pairs[folders[one]][folders[other]] = count
    taken, sizes = iter(_values(stored.recent[1])), _values(stored.recent[0])
    counts.recent.extend(tuple(next(taken) for _ in range(size)) for size in sizes)
    return counts


def _column(values: Iterable[float], kind: str = _WHOLE) -> bytes:
    return np.fromiter(values, dtype=kind).tobytes()


def _values(column: bytes, kind: str = _WHOLE) -> list[Any]:
    values: list[Any] = np.frombuffer(column, dtype=kind).tolist()
    return values


def _columns(columns: Sequence[bytes], kinds: Sequence[str]) -> list[list[Any]]:
    return [_values(column, kind) for column, kind in zip(columns, kinds, strict=True)]


def _joined(names: Iterable[str]) -> bytes:
    return b"".join(name.encode("utf-8", "surrogateescape") + b"\0" for name in names)


def _split(names: bytes) -> list[str]:
    return [name.decode("utf-8", "surrogateescape") for name in names.split(b"\0")[:-1]]
