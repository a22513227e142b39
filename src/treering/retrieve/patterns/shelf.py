"""The patterns of one project at hand: indexed once, kept up to date with the store, built anew in the background."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Lock, Thread

from treering.core.patterns import Pattern
from treering.core.queries import PatternFilter, TimeRange
from treering.ports.patterns import STAMP_ROOM, PatternStamp
from treering.ports.store import Transaction
from treering.retrieve.patterns.index import PatternIndex

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
# As many patterns are asked one by one in less than a millisecond; building anew takes a second for thousands.
_MOST_CHANGES = 64


@dataclass
class PatternShelf:
    """Shared by the threads of a process; what a transaction sees decides what is on it."""

    in_background: Callable[[Callable[[], None]], None] = lambda work: Thread(target=work, daemon=True).start()
    _lock: Lock = field(default_factory=Lock)
    _built: PatternIndex = field(default_factory=PatternIndex)
    _patterns: Mapping[str, Pattern] = field(default_factory=dict)
    _newer: Mapping[str, Pattern] = field(default_factory=dict)
    """What changed since the index was built."""
    _stamp: PatternStamp = field(default_factory=PatternStamp)
    _whole: int = 0
    """How often all was read: an index of what was there before is of no use."""
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
        """Read what changed; where something was taken away or undone, all of it."""
        if self._stamp.newest is not None:
            changed = PatternFilter(updated=TimeRange(since=self._stamp.newest))
            newer = {each.id: each for each in tx.patterns.stream(changed)}
            patterns = {**self._patterns, **newer}
            if stamp_of(patterns) == stamp:
                self._patterns, self._newer, self._stamp = patterns, {**self._newer, **newer}, stamp
                return
        self._patterns = {each.id: each for each in tx.patterns.stream(PatternFilter())}
        self._built, self._newer, self._stamp = PatternIndex(self._patterns.values()), {}, stamp
        self._whole += 1

    def _build(self) -> None:
        """In the background; what changes meanwhile stays newer than what is built."""
        with self._lock:
            patterns, included, whole = self._patterns, self._newer, self._whole
        built = PatternIndex(patterns.values())
        with self._lock:
            if self._whole == whole:
                self._built = built
                self._newer = {id: each for id, each in self._newer.items() if included.get(id) != each}
            self._building = False


def stamp_of(patterns: Mapping[str, Pattern]) -> PatternStamp:
    return PatternStamp(
        count=len(patterns),
        versions=sum(each.version for each in patterns.values()),
        moments=sum((each.updated_at - _EPOCH) // _MICROSECOND % STAMP_ROOM for each in patterns.values()),
        newest=max((each.updated_at for each in patterns.values()), default=None),
    )
