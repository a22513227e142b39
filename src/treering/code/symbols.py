"""The surfaces of all files of a project under their keys, and who asked for which."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from treering.code.facts import Key

Answer = tuple[tuple[str, Any], ...]


class World:
    """What resolvers may ask. Answers are kept sorted by path, so that no order of edits changes an answer."""

    def __init__(self) -> None:
        self._given: dict[Key, dict[str, Any]] = {}
        self._surfaces: dict[str, Mapping[Key, Any]] = {}
        self._askers: defaultdict[Key, set[str]] = defaultdict(set)
        self._asked: dict[str, frozenset[Key]] = {}

    def put(self, path: str, surface: Mapping[Key, Any]) -> set[Key]:
        """The file now says this; the keys whose answer is not what it was."""
        before = self._surfaces.get(path, {})
        changed = {key for key, entry in surface.items() if key not in before or before[key] != entry}
        gone = before.keys() - surface.keys()
        for key in gone:
            self._take(key, path)
        for key in changed:
            self._given.setdefault(key, {})[path] = surface[key]
        self._surfaces[path] = surface
        return changed | gone

    def remove(self, path: str) -> set[Key]:
        """The file is gone; the keys whose answer is not what it was."""
        surface = self._surfaces.pop(path, {})
        for key in surface:
            self._take(key, path)
        return set(surface)

    def _take(self, key: Key, path: str) -> None:
        given = self._given[key]
        del given[path]
        if not given:
            del self._given[key]

    def ask(self, key: Key) -> Answer:
        given = self._given.get(key)
        if given is None:
            return ()
        return tuple(given.items()) if len(given) == 1 else tuple(sorted(given.items()))

    def asked(self, path: str, keys: Iterable[Key]) -> None:
        """Remember what the resolution of `path` asked for, instead of what it asked before."""
        new = frozenset(keys)
        old = self._asked.get(path, frozenset())
        for key in old - new:
            self._askers[key].discard(path)
        for key in new - old:
            self._askers[key].add(path)
        self._asked[path] = new

    def forget_asker(self, path: str) -> None:
        for key in self._asked.pop(path, frozenset()):
            self._askers[key].discard(path)

    def askers(self, changed: Iterable[Key]) -> set[str]:
        """The files whose resolution may come out otherwise."""
        return {path for key in changed for path in self._askers.get(key, ())}


class Asking:
    """One resolution's questions."""

    __slots__ = ("_world", "keys")

    def __init__(self, world: World) -> None:
        self._world = world
        self.keys: set[Key] = set()

    def __call__(self, *key: str) -> Answer:
        self.keys.add(key)
        return self._world.ask(key)
