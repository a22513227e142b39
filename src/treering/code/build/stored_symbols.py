"""The world as the store knows it: which file gives and asks for which key, and the surfaces of those that are needed.

A file's surface is made when somebody first asks for it, and let go when many others were asked for
since. Keys are told apart by their hashes: two with the same one cost a look too many, never a wrong answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from treering.code.facts import Key, LookupResult
from treering.code.encoding import HASHES, hash_of, unpack_hashes

if TYPE_CHECKING:
    from treering.ports.code import FileKeys

SurfaceOf = Callable[[str], Mapping[Key, Any]]

_HALF = np.dtype("<u4")
_PLACE = (1 << 32) - 1
_MOST_ENTRIES = 32_000
"""Entries of surfaces that are remembered at least, and twice as many at most: those of a large project would fill
hundreds of megabytes, and neighbours use the same."""


class KeyIndex:
    """Paths by the hashes of their keys: those of many files as one sorted column, those of files changed since beside.

    A number of the column is half a hash and, behind it, the place of a file.
    """

    def __init__(self) -> None:
        self._packed = bytearray()
        self._counts: list[int] = []
        self._column = unpack_hashes(b"")
        self._paths: list[str | None] = []
        self._places: dict[str, int] = {}
        self._added: defaultdict[int, set[str]] = defaultdict(set)
        self._of: dict[str, frozenset[int]] = {}

    def take_in(self, path: str, packed: bytes) -> None:
        """One of many files; after the last of them, `sort`."""
        self._places[path] = len(self._paths)
        self._paths.append(path)
        self._packed += packed
        self._counts.append(len(packed) // HASHES.itemsize)

    def sort(self) -> None:
        self._column = np.frombuffer(self._packed, HASHES)
        self._column.view(_HALF)[::2] = np.arange(len(self._counts), dtype=_HALF).repeat(self._counts)
        self._column.sort()
        self._counts.clear()

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

    def paths(self, hash: int) -> set[str]:
        found = set(self._added.get(hash, ()))
        begin, end = self._column.searchsorted(np.array([hash & ~_PLACE, hash | _PLACE], HASHES)).tolist()
        # No file has the last place that there could be, so that the end is where another hash begins.
        for number in self._column[begin:end].tolist():
            path = self._paths[number & _PLACE]
            if path is not None:
                found.add(path)
        return found


class _Surfaces:
    """The surfaces that were asked for lately; what was not for long is made again."""

    def __init__(self, surface_of: SurfaceOf, most: int) -> None:
        self._surface_of, self._most = surface_of, most
        self._new: dict[str, Mapping[Key, Any]] = {}
        self._old: dict[str, Mapping[Key, Any]] = {}
        self._entries = 0
        self.answers: dict[Key, LookupResult] = {}
        """Made of surfaces, so that they keep them; to most questions there is no answer, and that is one too."""

    def answer(self, key: Key, answer: LookupResult) -> None:
        if len(self.answers) >= self._most:
            self.answers.clear()
        self.answers[key] = answer

    def get(self, path: str) -> Mapping[Key, Any]:
        surface = self._new.get(path)
        if surface is None:
            surface = self._old.pop(path, None)
            self.put(path, self._surface_of(path) if surface is None else surface)
            surface = self._new[path]
        return surface

    def put(self, path: str, surface: Mapping[Key, Any]) -> None:
        if self._entries + len(surface) > self._most:
            self._old, self._new, self._entries = self._new, {}, 0
            self.answers.clear()
        self._old.pop(path, None)
        self._entries += len(surface) - len(self._new.get(path, ()))
        self._new[path] = surface

    def remove(self, path: str) -> None:
        self._old.pop(path, None)
        self._entries -= len(self._new.pop(path, ()))


class StoredWorld:
    """What resolvers may ask. `surface_of` makes the surface of a file as it was put last, or else stored."""

    def __init__(self, files: Iterable[FileKeys], surface_of: SurfaceOf, *, most_entries: int = _MOST_ENTRIES) -> None:
        self._given, self._askers = KeyIndex(), KeyIndex()
        self._known: set[str] = set()
        for file in files:
            self._known.add(file.path)
            self._given.take_in(file.path, file.given)
            self._askers.take_in(file.path, file.asked)
        self._given.sort()
        self._askers.sort()
        self._surfaces = _Surfaces(surface_of, most_entries)

    def put(self, path: str, surface: Mapping[Key, Any]) -> set[Key]:
        """The file now says this; the keys whose answer is not what it was."""
        before = self._surfaces.get(path) if path in self._known else {}
        changed = {key for key, entry in surface.items() if key not in before or before[key] != entry}
        changed |= before.keys() - surface.keys()
        self._known.add(path)
        self._surfaces.put(path, surface)
        self._given.put(path, map(hash_of, surface))
        self._forget_answers(changed)
        return changed

    def remove(self, path: str) -> set[Key]:
        """The file is gone; the keys whose answer is not what it was."""
        if path not in self._known:
            return set()
        gone = set(self._surfaces.get(path))
        self._known.discard(path)
        self._surfaces.remove(path)
        self._given.remove(path)
        self._askers.remove(path)
        self._forget_answers(gone)
        return gone

    def ask(self, key: Key) -> LookupResult:
        answer = self._surfaces.answers.get(key)
        if answer is None:
            surfaces = [(path, self._surfaces.get(path)) for path in sorted(self._given.paths(hash_of(key)))]
            answer = tuple((path, surface[key]) for path, surface in surfaces if key in surface)
            self._surfaces.answer(key, answer)
        return answer

    def asked(self, path: str, hashes: Iterable[int]) -> None:
        """Remember the keys that the resolution of `path` asked for, instead of those it asked for before."""
        self._askers.put(path, hashes)

    def askers(self, changed: Iterable[Key]) -> set[str]:
        """The files whose resolution may come out otherwise."""
        return {path for key in changed for path in self._askers.paths(hash_of(key))}

    def _forget_answers(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self._surfaces.answers.pop(key, None)


class Questions:
    """One resolution's questions to a stored world; see `facts.Ask`."""

    __slots__ = ("_world", "keys")

    def __init__(self, world: StoredWorld) -> None:
        self._world = world
        self.keys: set[Key] = set()

    def __call__(self, *key: str) -> LookupResult:
        self.keys.add(key)
        return self._world.ask(key)
