"""The index of a project in files beside the database: parts that are mapped into memory, and a manifest of them.

Every process may read them; one at a time writes. The manifest is replaced at once, so that a process that is killed
while it writes leaves the previous index.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from treering.adapters.arrays.files import DamagedArrays, map_arrays, write_arrays
from treering.adapters.sql.index_state import IndexState
from treering.adapters.vectors.space import VectorPart, VectorSpace
from treering.adapters.words.segments import DocumentColumns, DocumentPart, Segments
from treering.core.errors import StoreUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = 1
"""Raised with every change of the files, or of what their arrays mean: another format is rebuilt."""
_MANIFEST = "manifest.json"
_PART = ".part"
_DAMAGE = (DamagedArrays, OSError, ValueError, KeyError, TypeError)


@dataclass(frozen=True, slots=True)
class Watermark:
    """How an index relates to its database: the ids of its newest documents, and by model the digests of the newest
    vectors."""

    ids: Mapping[int, str]
    vectors: Mapping[str, Mapping[int, str]]


class IndexFiles:
    """The files of one project in a folder that they share with other projects of the same database."""

    def __init__(self, folder: Path, project: tuple[str, str]) -> None:
        self._lock = folder
        self._folder = folder / hashlib.blake2b("\0".join(project).encode(), digest_size=12).hexdigest()

    def load(self, source: Mapping[str, str]) -> tuple[IndexState, Watermark] | None:
        """The stored index of this source; None if there is none, or if it is damaged or of another format."""
        for _attempt in range(2):  # Another process may replace the files between reading the manifest and a part.
            with suppress(*_DAMAGE):
                manifest = self._manifest()
                if manifest["source"] != {**source, "format": FORMAT}:
                    return None
                return self._mapped(manifest)
        return None

    def problem(self) -> str:
        """What is wrong with the files; empty if they are sound, of another format, or if there are none."""
        problem = ""
        for _attempt in range(2):
            if not (self._folder / _MANIFEST).exists():
                return ""
            try:
                manifest = self._manifest()
                if manifest["source"]["format"] == FORMAT:
                    self._mapped(manifest)
            except _DAMAGE as exc:
                problem = str(exc) or type(exc).__name__
            else:
                return ""
        return problem

    def size(self) -> int:
        """Bytes of the files."""
        return size_of(self._folder)

    def saving(self) -> AbstractContextManager[bool]:
        """Hold the lock for a save, so that no hard forget comes between reading and writing; False if another does."""
        return locked(self._lock, seconds=0.0)

    def is_worth(self, state: IndexState, least: int) -> bool:
        """Whether a save would add at least this many documents or vectors to the files.

        If they are those of another process, it must add an eighth: all of them are written again.
        """
        try:
            manifest = self._manifest()
            named = _parts_of(manifest)
        except _DAMAGE:
            return True
        spaces = state.spaces.values()
        files = {part.file for part in state.segments.parts} | {part.file for space in spaces for part in space.parts}
        if not files - {""} or files - {""} - named:
            least = max(least, len(state.segments) // 8)
        added = [_after(manifest["newest"], state.segments.columns.number)]
        saved = manifest["spaces"]
        added += [
            _after(saved[name]["newest"] if name in saved else 0, space.numbers) for name, space in state.spaces.items()
        ]
        return max(added) >= least

    def save(self, state: IndexState, source: Mapping[str, str], watermark: Watermark) -> IndexState:
        """Store what is in no file yet; return the state with its parts mapped. The caller holds the lock."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        saved = self._with_files(state)
        self._publish(
            {
                "source": {**source, "format": FORMAT},
                "newest": saved.segments.newest,
                "ids": list(watermark.ids.items()),
                "parts": [[part.file, part.checksum, part.size] for part in saved.segments.parts],
                "languages": saved.languages,
                "speakers": list(saved.speakers.items()),
                "owners": saved.owners,
                "gone": np.flatnonzero(saved.segments.gone).tolist(),
                "spaces": {
                    name: {
                        "mean": space.mean.tolist(),
                        "newest": space.newest,
                        "vectors": list(watermark.vectors[name].items()),
                        "parts": [[part.file, part.checksum] for part in space.parts],
                    }
                    for name, space in saved.spaces.items()
                },
            }
        )
        return saved

    def _with_files(self, state: IndexState) -> IndexState:
        segments = state.segments
        parts = [part if self._holds(part.file) else self._document_part(part, segments) for part in segments.parts]
        spaces = {
            name: replace(
                space,
                parts=tuple(
                    part if self._holds(part.file) else self._vector_part(part, space.numbers) for part in space.parts
                ),
            )
            for name, space in state.spaces.items()
        }
        return replace(state, segments=replace(segments, parts=tuple(parts)), spaces=spaces)

    def _holds(self, file: str) -> bool:
        return bool(file) and (self._folder / file).exists()

    def _document_part(self, part: DocumentPart, segments: Segments) -> DocumentPart:
        columns = segments.columns.between(part.rows).without(segments.gone[part.rows])
        arrays, file = self._stored({**columns.arrays(), **_prefixed("words_", part.arrays())})
        return DocumentPart.of_arrays(part.rows.start, part.size, _without_prefix("words_", arrays), **file)

    def _vector_part(self, part: VectorPart, numbers: NDArray[np.int64]) -> VectorPart:
        arrays, file = self._stored({**part.arrays(), "numbers": numbers[part.rows]})
        return VectorPart.of_arrays(part.first, arrays, **file)

    def _stored(self, arrays: Mapping[str, NDArray[Any]]) -> tuple[Mapping[str, NDArray[Any]], dict[str, str]]:
        name = f"{uuid4().hex}{_PART}"
        checksum = write_arrays(self._folder / name, arrays)
        return map_arrays(self._folder / name, checksum), {"file": name, "checksum": checksum}

    def _publish(self, manifest: Mapping[str, Any]) -> None:
        """Replace the manifest, then remove what it does not name: parts of before, and of a save that was killed."""
        content = json.dumps(manifest)
        unfinished = self._folder / "unfinished"
        unfinished.unlink(missing_ok=True)
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{_digest(content)}\n{content}")
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, self._folder / _MANIFEST)
        named = _parts_of(manifest)
        for path in self._folder.glob(f"*{_PART}"):
            if path.name not in named:
                path.unlink(missing_ok=True)

    def _manifest(self) -> dict[str, Any]:
        digest, _, content = (self._folder / _MANIFEST).read_text("utf-8").partition("\n")
        if digest != _digest(content):
            raise DamagedArrays(f"{_MANIFEST} has another checksum")
        manifest: dict[str, Any] = json.loads(content)
        return manifest

    def _mapped(self, manifest: Mapping[str, Any]) -> tuple[IndexState, Watermark]:
        columns, parts, first = list[DocumentColumns](), list[DocumentPart](), 0
        for file, checksum, size in manifest["parts"]:
            arrays = map_arrays(self._folder / file, checksum)
            columns.append(DocumentColumns(*(arrays[name] for name in DocumentColumns.__slots__)))
            words = _without_prefix("words_", arrays)
            parts.append(DocumentPart.of_arrays(first, size, words, file=file, checksum=checksum))
            first += size
        gone = np.zeros(first, np.bool_)
        gone[manifest["gone"]] = True
        state = IndexState(
            Segments.of(DocumentColumns.joined(columns), gone, parts),
            {name: self._space(saved) for name, saved in manifest["spaces"].items()},
            Counter(manifest["languages"]),
            Counter(dict(manifest["speakers"])),
            manifest["owners"],
        )
        vectors = {name: dict(saved["vectors"]) for name, saved in manifest["spaces"].items()}
        return state, Watermark(dict(manifest["ids"]), vectors)

    def _space(self, saved: Mapping[str, Any]) -> VectorSpace:
        parts, numbers, first = list[VectorPart](), [np.empty(0, np.int64)], 0
        for file, checksum in saved["parts"]:
            arrays = map_arrays(self._folder / file, checksum)
            parts.append(VectorPart.of_arrays(first, arrays, file=file, checksum=checksum))
            numbers.append(arrays["numbers"])
            first += len(arrays["numbers"])
        known = numbers[1] if len(parts) == 1 else np.concatenate(numbers)
        return VectorSpace.of(np.array(saved["mean"], np.float32), known, parts)


@contextmanager
def locked(folder: Path, *, seconds: float) -> Iterator[bool]:
    """Hold the lock on a database's index files, which the end of the process releases; False if another holds it."""
    folder.mkdir(mode=0o700, exist_ok=True)
    handle, deadline = os.open(folder, os.O_RDONLY), time.monotonic() + seconds
    try:
        while not (mine := _lock(handle)) and time.monotonic() < deadline:
            time.sleep(0.02)
        yield mine
    finally:
        # A forked child has the same handle: closing this one alone would leave the lock with it.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


def _lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # A file system without locks: two savers at once cost a rebuild, no more.
        return True
    return True


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder, which another process may be removing."""
    total = 0
    for place, _folders, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.stat(os.path.join(place, name)).st_size
    return total


def remove_all(folder: Path, *, seconds: float) -> None:
    """Remove the index files of every project of a database."""
    if not folder.is_dir():
        return
    with locked(folder, seconds=seconds) as mine:
        if not mine:
            raise StoreUnavailable(
                f"{folder}: the record is forgotten, but another process is writing the search index; "
                "run `treering doctor --repair` when it has finished"
            )
        try:
            for path in folder.iterdir():
                shutil.rmtree(path)
        except OSError as exc:
            raise StoreUnavailable(
                f"{folder}: the record is forgotten, but its search index cannot be removed ({exc.strerror or exc}); "
                "delete this folder"
            ) from exc


def _parts_of(manifest: Mapping[str, Any]) -> set[str]:
    """Names of the files that a manifest names."""
    spaces = manifest["spaces"].values()
    return {file for file, *_ in (*manifest["parts"], *(part for space in spaces for part in space["parts"]))}


def _after(newest: int, numbers: NDArray[np.int64]) -> int:
    return len(numbers) - int(np.searchsorted(numbers, newest, side="right"))


def _digest(content: str) -> str:
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def _prefixed(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def _without_prefix(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
