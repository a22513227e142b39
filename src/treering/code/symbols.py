"""The surfaces of all files of a project by key, and the files that looked each key up."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from treering.code.facts import Key

Answer = tuple[tuple[str, Any], ...]


class World:
    """The symbols that resolvers look up. Answers are sorted by path, so they do not depend on the order of edits."""

    def __init__(self) -> None:
        self._given: dict[Key, dict[str, Any]] = {}
        self._surfaces: dict[str, Mapping[Key, Any]] = {}
        self._askers: defaultdict[Key, set[str]] = defaultdict(set)
        self._asked: dict[str, frozenset[Key]] = {}

    def put(self, path: str, surface: Mapping[Key, Any]) -> set[Key]:
        """Store the surface of a file and return the keys whose answer changed."""
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
        """Remove a file and return the keys whose answer changed."""
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
        """Replace the keys that the resolution of `path` looked up."""
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
        """Return the files whose resolution may change."""
        return {path for key in changed for path in self._askers.get(key, ())}


class Asking:
    """A lookup that records the keys of one resolution."""

    __slots__ = ("_world", "keys")

    def __init__(self, world: World) -> None:
        self._world = world
        self.keys: set[Key] = set()

    def __call__(self, *key: str) -> Answer:
        self.keys.add(key)
        return self._world.ask(key)
