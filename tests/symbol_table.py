"""A simple in-memory symbol table: the reference for `StoredWorld`, and the project of resolver tests."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from treering.code.facts import Key, LookupResult


class SymbolTable:
    """The symbols that resolvers look up. Answers are sorted by path, so they do not depend on the order of edits."""

    def __init__(self) -> None:
        self._entries: dict[Key, dict[str, Any]] = {}
        self._surfaces: dict[str, Mapping[Key, Any]] = {}
        self._dependents: defaultdict[Key, set[str]] = defaultdict(set)
        self._lookups: dict[str, frozenset[Key]] = {}

    def put(self, path: str, surface: Mapping[Key, Any]) -> set[Key]:
        """Store the surface of a file and return the keys whose answer changed."""
        before = self._surfaces.get(path, {})
        changed = {key for key, entry in surface.items() if key not in before or before[key] != entry}
        gone = before.keys() - surface.keys()
        for key in gone:
            self._remove_entry(key, path)
        for key in changed:
            self._entries.setdefault(key, {})[path] = surface[key]
        self._surfaces[path] = surface
        return changed | gone

    def remove(self, path: str) -> set[Key]:
        """Remove a file and return the keys whose answer changed."""
        surface = self._surfaces.pop(path, {})
        for key in surface:
            self._remove_entry(key, path)
        return set(surface)

    def _remove_entry(self, key: Key, path: str) -> None:
        entries = self._entries[key]
        del entries[path]
        if not entries:
            del self._entries[key]

    def lookup(self, key: Key) -> LookupResult:
        entries = self._entries.get(key)
        if entries is None:
            return ()
        return tuple(entries.items()) if len(entries) == 1 else tuple(sorted(entries.items()))

    def record_lookups(self, path: str, keys: Iterable[Key]) -> None:
        """Replace the keys that the resolution of `path` looked up."""
        new = frozenset(keys)
        old = self._lookups.get(path, frozenset())
        for key in old - new:
            self._dependents[key].discard(path)
        for key in new - old:
            self._dependents[key].add(path)
        self._lookups[path] = new

    def remove_lookups(self, path: str) -> None:
        for key in self._lookups.pop(path, frozenset()):
            self._dependents[key].discard(path)

    def dependents(self, changed: Iterable[Key]) -> set[str]:
        """Return the files whose resolution may change."""
        return {path for key in changed for path in self._dependents.get(key, ())}


class RecordingLookup:
    """A lookup that records the keys of one resolution."""

    __slots__ = ("_table", "keys")

    def __init__(self, table: SymbolTable) -> None:
        self._table = table
        self.keys: set[Key] = set()

    def __call__(self, *key: str) -> LookupResult:
        self.keys.add(key)
        return self._table.lookup(key)
