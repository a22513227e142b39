"""The patterns of one project at hand: indexed once, kept up to date with the store, built anew in the background."""

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

# As many patterns are asked one by one in less than a millisecond; building anew takes a second for thousands.
_MOST_CHANGES = 64


@dataclass
class PatternIndexCache:
    """Shared by the threads of a process; what a transaction sees decides what is on it."""

    in_background: Callable[[Callable[[], None]], None] = lambda work: Thread(target=work, daemon=True).start()
    _lock: Lock = field(default_factory=Lock)
    _built: PatternIndex = field(default_factory=PatternIndex)
    _patterns: Mapping[str, Pattern] = field(default_factory=dict)
    _newer: Mapping[str, Pattern | None] = field(default_factory=dict)
    """What changed since the index was built; nothing where a pattern is gone."""
    _marks: Mapping[str, PatternMark] = field(default_factory=dict)
    _stamp: PatternStamp = field(default_factory=PatternStamp)
    _building: bool = False

    def index(self, tx: Transaction) -> PatternIndex:
        """Every pattern that this transaction sees, as it stands now."""
        stamp = tx.patterns.stamp()
        with self._lock:
            if stamp != self._stamp:
                self._refresh(tx, stamp)
            if len(self._newer) > _MOST_CHANGES and not self._building:
                self._building = True
                self.in_background(self._build)
            return self._built.with_changes(self._newer)

    def _refresh(self, tx: Transaction, stamp: PatternStamp) -> None:
        """Read what changed, and leave out what is gone. The first time, that is all there is."""
        marks = tx.patterns.marks()
        changed = tx.patterns.get_many(id for id, mark in marks.items() if self._marks.get(id) != mark)
        gone = self._marks.keys() - marks.keys()
        patterns = {**{id: each for id, each in self._patterns.items() if id not in gone}, **changed}
        if self._patterns:
            self._newer = {**self._newer, **changed, **dict.fromkeys(gone)}
        else:
            self._built, self._newer = PatternIndex(patterns.values()), {}
        self._patterns, self._marks, self._stamp = patterns, marks, stamp

    def _build(self) -> None:
        """In the background; what changes meanwhile stays newer than what is built."""
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
