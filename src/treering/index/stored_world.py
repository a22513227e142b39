"""The world as the store knows it: which file gives and asks for which key, and the surfaces of those that are needed.

Like `World`, but a file's surface is made when somebody first asks for it. Keys are told apart by their hashes: two
with the same one cost a look too many, never a wrong answer.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from treering.index.facts import Key
from treering.index.packing import HASHES, hash_of, unpack_hashes
from treering.index.world import Answer
from treering.ports.code import FileKeys

SurfaceOf = Callable[[str], Mapping[Key, Any]]


class KeyIndex:
    """Paths by the hashes of their keys: those of many files as sorted columns, those of files changed since beside."""

    def __init__(self, files: Sequence[tuple[str, bytes]]) -> None:
        packed = [unpack_hashes(keys) for _, keys in files]
        hashes = np.concatenate(packed) if packed else np.zeros(0, HASHES)
        owners = np.repeat(np.arange(len(files), dtype=np.int32), [len(keys) for keys in packed])
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._owners = hashes[order], owners[order]
        self._paths: list[str | None] = [path for path, _ in files]
        self._places = {path: place for place, (path, _) in enumerate(files)}
        self._added: defaultdict[int, set[str]] = defaultdict(set)
        self._of: dict[str, frozenset[int]] = {}

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
        hashes, found = self._hashes, set(self._added.get(hash, ()))
        place = int(hashes.searchsorted(np.uint64(hash)))
        while place < len(hashes) and hashes[place] == hash:
            path = self._paths[self._owners[place]]
            if path is not None:
                found.add(path)
            place += 1
        return found


class StoredWorld:
    """What resolvers may ask."""

    def __init__(self, files: Sequence[FileKeys], surface_of: SurfaceOf) -> None:
        self._given = KeyIndex([(file.path, file.given) for file in files])
        self._askers = KeyIndex([(file.path, file.asked) for file in files])
        self._known = {file.path for file in files}
        self._surface_of = surface_of
        self._surfaces: dict[str, Mapping[Key, Any]] = {}
        self._answers: dict[Key, Answer] = {}

    def put(self, path: str, surface: Mapping[Key, Any]) -> set[Key]:
        """The file now says this; the keys whose answer is not what it was."""
        before = self._surface(path) if path in self._known else {}
        changed = {key for key, entry in surface.items() if key not in before or before[key] != entry}
        changed |= before.keys() - surface.keys()
        self._known.add(path)
        self._surfaces[path] = surface
        self._given.put(path, map(hash_of, surface))
        self._forget_answers(changed)
        return changed

    def remove(self, path: str) -> set[Key]:
        """The file is gone; the keys whose answer is not what it was."""
        if path not in self._known:
            return set()
        gone = set(self._surface(path))
        self._known.discard(path)
        self._surfaces.pop(path, None)
        self._given.remove(path)
        self._askers.remove(path)
        self._forget_answers(gone)
        return gone

    def ask(self, key: Key) -> Answer:
        answer = self._answers.get(key)
        if answer is None:
            surfaces = ((path, self._surface(path)) for path in sorted(self._given.paths(hash_of(key))))
            answer = self._answers[key] = tuple((path, surface[key]) for path, surface in surfaces if key in surface)
        return answer

    def asked(self, path: str, hashes: Iterable[int]) -> None:
        """Remember the keys that the resolution of `path` asked for, instead of those it asked for before."""
        self._askers.put(path, hashes)

    def askers(self, changed: Iterable[Key]) -> set[str]:
        """The files whose resolution may come out otherwise."""
        return {path for key in changed for path in self._askers.paths(hash_of(key))}

    def _forget_answers(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self._answers.pop(key, None)

    def _surface(self, path: str) -> Mapping[Key, Any]:
        surface = self._surfaces.get(path)
        if surface is None:
            surface = self._surfaces[path] = self._surface_of(path)
        return surface


class Questions:
    """One resolution's questions to a stored world; see `facts.Ask`."""

    __slots__ = ("_world", "keys")

    def __init__(self, world: StoredWorld) -> None:
        self._world = world
        self.keys: set[Key] = set()

    def __call__(self, *key: str) -> Answer:
        self.keys.add(key)
        return self._world.ask(key)
