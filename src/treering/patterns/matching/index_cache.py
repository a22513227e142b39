"""Cache of the pattern index of one project: updated with the store, rebuilt in the background."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import TYPE_CHECKING

from treering.patterns.matching.index import PatternIndex
from treering.ports.patterns import PatternMark, PatternStamp

if TYPE_CHECKING:
    from treering.core.patterns import Pattern
    from treering.ports.store import Transaction

# Checking this many patterns one by one takes less than a millisecond; a rebuild takes a second for thousands.
_MAX_CHANGES = 64


@dataclass
class PatternIndexCache:
    """Safe to share between threads. Always consistent with what the given transaction sees."""

    in_background: Callable[[Callable[[], None]], None] = lambda work: Thread(target=work, daemon=True).start()
    _lock: Lock = field(default_factory=Lock)
    _built: PatternIndex = field(default_factory=PatternIndex)
    _patterns: Mapping[str, Pattern] = field(default_factory=dict)
    _newer: Mapping[str, Pattern | None] = field(default_factory=dict)
    """Patterns changed since the index was built; None for a removed one."""
    _marks: Mapping[str, PatternMark] = field(default_factory=dict)
    _stamp: PatternStamp = field(default_factory=PatternStamp)
    _building: bool = False

    def index(self, tx: Transaction) -> PatternIndex:
        """The index of the patterns that this transaction sees."""
        stamp = tx.patterns.stamp()
        with self._lock:
            if stamp != self._stamp:
                self._refresh(tx, stamp)
            if len(self._newer) > _MAX_CHANGES and not self._building:
                self._building = True
                self.in_background(self._build)
            return self._built.with_changes(self._newer)

    def _refresh(self, tx: Transaction, stamp: PatternStamp) -> None:
        """Read changed patterns and drop removed ones; the first call reads all."""
        marks = tx.patterns.marks()
        changed = tx.patterns.get_many(id for id, mark in marks.items() if self._marks.get(id) != mark)
        removed = self._marks.keys() - marks.keys()
        patterns = {**{id: each for id, each in self._patterns.items() if id not in removed}, **changed}
        if self._patterns:
            self._newer = {**self._newer, **changed, **dict.fromkeys(removed)}
        else:
            self._built, self._newer = PatternIndex(patterns.values()), {}
        self._patterns, self._marks, self._stamp = patterns, marks, stamp

    def _build(self) -> None:
        """Rebuild in the background; changes made meanwhile stay in `_newer`."""
        with self._lock:
            patterns, included = self._patterns, self._newer
        try:
            built = PatternIndex(patterns.values())
            with self._lock:
                self._built = built
                self._newer = {
                    id: each for id, each in self._newer.items() if id not in included or included[id] != each
                }
        finally:
            self._building = False
