"""Symbols of the stored files: which file defines and which queries a key, and the surfaces of files in use.

A file's surface (the symbols it offers to other files) is built on first use and evicted after many others were used.
Keys are compared by their hashes: a collision costs one extra lookup, never a wrong answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from treering.code.encoding import HASH_BYTES, hash_of
from treering.code.facts import Key, LookupResult

if TYPE_CHECKING:
    from treering.ports.code import FileKeys

SurfaceOf = Callable[[str], Mapping[Key, Any]]

_PLACE = (1 << 32) - 1
_MAX_ENTRIES = 5_000
"""Surface entries to cache, up to twice as many: those of a large project would fill hundreds of megabytes, and few of
them are ever queried."""
_MAX_ANSWERS = 5_000
"""Answers to cache, up to twice as many: one in four of the symbols that a large project queries is queried by more
than one file."""


class KeyColumn(NamedTuple):
    """Paths by the hashes of their keys, sorted. Each number is half a hash followed by the index of a path."""

    paths: Sequence[str]
    numbers: bytes | bytearray


class KeyIndex:
    """Paths by the hashes of their keys: those of many files as one column, those of later changes in a dict."""

    def __init__(self) -> None:
        self._packed = bytearray()
        self._counts: list[int] = []
        self._column: Sequence[int] = ()
        self._paths: list[str | None] = []
        self._places: dict[str, int] = {}
        self._added: defaultdict[int, set[str]] = defaultdict(set)
        self._of: dict[str, frozenset[int]] = {}

    def append(self, path: str, packed: bytes) -> None:
        """Add one file in bulk loading; call `sort` after the last."""
        self._places[path] = len(self._paths)
        self._paths.append(path)
        self._packed += packed
        self._counts.append(len(packed) // HASH_BYTES)

    def sort(self) -> Self:
        if self._packed:
            # Not at the top: a process that gets a column from another one needs no numpy.
            from treering.code.index.key_sorting import sort_keys

            sort_keys(self._packed, self._counts)
        self._counts.clear()
        # Single lookups in a memoryview take a fraction of the time that they take in an array of numpy.
        self._column = memoryview(self._packed).cast("Q")
        return self

    def column(self) -> KeyColumn:
        """The files that were appended, after `sort`."""
        return KeyColumn([path or "" for path in self._paths], self._packed)

    @classmethod
    def of_column(cls, column: KeyColumn) -> Self:
        index = cls()
        index._paths, index._places = list(column.paths), {path: at for at, path in enumerate(column.paths)}
        index._column = memoryview(column.numbers).cast("Q")
        return index

    def put(self, path: str, hashes: Iterable[int]) -> None:
        self.remove(path)
        self._of[path] = new = frozenset(hashes)
        for each in new:
            self._added[each].add(path)

    def remove(self, path: str) -> None:
        place = self._places.pop(path, None)
        if place is not None:
            self._paths[place] = None
        for each in self._of.pop(path, ()):
            self._added[each].discard(path)
            if not self._added[each]:
                del self._added[each]

    def paths(self, hash: int) -> list[str]:
        """Sorted; without duplicates."""
        found = set(self._added.get(hash, ()))
        column, at = self._column, bisect_left(self._column, hash & ~_PLACE)
        while at < len(column) and (number := column[at]) <= hash | _PLACE:
            path = self._paths[number & _PLACE]
            if path is not None:
                found.add(path)
            at += 1
        return sorted(found) if len(found) > 1 else list(found)


class _Surfaces:
    """Cache of recently used surfaces."""

    def __init__(self, surface_of: SurfaceOf, max_entries: int) -> None:
        self._surface_of, self._max_entries = surface_of, max_entries
        self._new: dict[str, Mapping[Key, Any]] = {}
        self._old: dict[str, Mapping[Key, Any]] = {}
        self._entries = 0

    def get(self, path: str) -> Mapping[Key, Any]:
        surface = self._new.get(path)
        if surface is None:
            surface = self._old.pop(path, None)
            self.put(path, self._surface_of(path) if surface is None else surface)
            surface = self._new[path]
        return surface

    def put(self, path: str, surface: Mapping[Key, Any]) -> None:
        if self._entries + len(surface) > self._max_entries:
            self._old, self._new, self._entries = self._new, {}, 0
        self._old.pop(path, None)
        self._entries += len(surface) - len(self._new.get(path, ()))
        self._new[path] = surface

    def remove(self, path: str) -> None:
        self._old.pop(path, None)
        self._entries -= len(self._new.pop(path, ()))


class _Answers:
    """Cache of recent answers from other files.

    They outlive the surfaces they come from: a large project queries a few names of many files, whose surfaces do not
    fit into the cache together.
    """

    def __init__(self, max_answers: int) -> None:
        self._max_answers = max_answers
        self._new: dict[Key, LookupResult] = {}
        self._old: dict[Key, LookupResult] = {}

    def __len__(self) -> int:
        return len(self._new) + len(self._old)

    def get(self, key: Key) -> LookupResult | None:
        answer = self._new.get(key)
        if answer is None:
            answer = self._old.get(key)
            if answer is not None:
                self.put(key, answer)
        return answer

    def put(self, key: Key, answer: LookupResult) -> None:
        if len(self._new) >= self._max_answers:
            self._old, self._new = self._new, {}
        self._new[key] = answer

    def remove(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self._new.pop(key, None)
            self._old.pop(key, None)


class StoredSymbols:
    """Answers the queries of resolvers. `surface_of` returns the surface of a file as last put, or else as stored."""

    def __init__(
        self,
        files: Iterable[FileKeys],
        surface_of: SurfaceOf,
        *,
        max_entries: int = _MAX_ENTRIES,
        max_answers: int = _MAX_ANSWERS,
    ) -> None:
        self._given, self._askers = KeyIndex(), KeyIndex()
        self._known: set[str] = set()
        for file in files:
            self._known.add(file.path)
            self._given.append(file.path, file.given)
            self._askers.append(file.path, file.asked)
        self._given.sort()
        self._askers.sort()
        self._surfaces = _Surfaces(surface_of, max_entries)
        self._answers = _Answers(max_answers)

    @classmethod
    def of_column(cls, given: KeyColumn, surface_of: SurfaceOf) -> Self:
        """Symbols for resolving only, of files whose keys are sorted already."""
        symbols = cls((), surface_of)
        symbols._given, symbols._known = KeyIndex.of_column(given), set(given.paths)
        return symbols

    def put(self, path: str, surface: Mapping[Key, Any]) -> set[Key]:
        """Set the surface of a file; returns the keys whose answers changed."""
        before = self._surfaces.get(path) if path in self._known else {}
        changed = {key for key, entry in surface.items() if key not in before or before[key] != entry}
        changed |= before.keys() - surface.keys()
        self._known.add(path)
        self._surfaces.put(path, surface)
        self._given.put(path, map(hash_of, surface))
        self._answers.remove(changed)
        return changed

    def remove(self, path: str) -> set[Key]:
        """Remove a file; returns the keys whose answers changed."""
        if path not in self._known:
            return set()
        gone = set(self._surfaces.get(path))
        self._known.discard(path)
        self._surfaces.remove(path)
        self._given.remove(path)
        self._askers.remove(path)
        self._answers.remove(gone)
        return gone

    def ask(self, key: Key, asker: str = "", hash: int | None = None) -> LookupResult:
        """Answer a query of the file `asker`, whose own symbols need not be cached for other files.

        `hash` is that of the key, if the caller knows it.
        """
        answer = self._answers.get(key)
        if answer is None:
            paths = self._given.paths(hash_of(key) if hash is None else hash)
            surfaces = [(path, self._surfaces.get(path)) for path in paths]
            answer = tuple([(path, surface[key]) for path, surface in surfaces if key in surface])
            if any(path != asker for path, _ in answer):
                self._answers.put(key, answer)
        return answer

    def asked(self, path: str, hashes: Iterable[int]) -> None:
        """Replace the keys that the resolution of `path` queried."""
        self._askers.put(path, hashes)

    def askers(self, changed: Iterable[Key]) -> set[str]:
        """Files whose resolution may change."""
        return {path for key in changed for path in self._askers.paths(hash_of(key))}


class SymbolQueries:
    """Queries of one resolution, each answered once; see `facts.SymbolLookup`."""

    __slots__ = ("_answers", "_path", "_symbols", "hashes")

    def __init__(self, symbols: StoredSymbols, path: str) -> None:
        """`path` is the file that is resolved."""
        self._symbols, self._path = symbols, path
        self._answers: dict[Key, LookupResult] = {}
        self.hashes: list[int] = []
        """Hashes of the keys that were queried."""

    def __call__(self, *key: str) -> LookupResult:
        answer = self._answers.get(key)
        if answer is None:
            hash = hash_of(key)
            self.hashes.append(hash)
            answer = self._answers[key] = self._symbols.ask(key, self._path, hash)
        return answer
