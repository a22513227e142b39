"""Items that sessions were given: stored, and those that wait for another writer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING

from treering.core.injections import ItemKind
from treering.core.queries import InjectedItemFilter, Order

if TYPE_CHECKING:
    from treering.core.injections import InjectedItem
    from treering.core.patterns import Pattern
    from treering.core.records import Knowledge
    from treering.core.scope import Scope
    from treering.ports.store import Store, Transaction

_MAX_ITEMS = 2_000  # of one session, and of those that wait


class GivenItems:
    """The items of one project. Adding one never waits for a writer; safe to share between threads."""

    def __init__(self, scope: Scope, store: Store) -> None:
        self._scope = scope
        self._store = store
        self._unwritten: dict[str, InjectedItem] = {}
        self._added: OrderedDict[tuple[str, str, str], int] = OrderedDict()  # the last additions, in their order
        self._additions = 0
        self._lock = Lock()
        self._writing = Lock()

    def waiting(self, session: str) -> tuple[InjectedItem, ...]:
        """Items of a session that are not stored yet, for `of`.

        Read them before its transaction begins: one that is stored meanwhile is then found twice, never missed.
        """
        with self._lock:
            return tuple(each for each in self._unwritten.values() if each.session == session)

    def of(self, tx: Transaction, session: str, waiting: Iterable[InjectedItem]) -> tuple[InjectedItem, ...]:
        """The items of a session, stored and waiting, oldest first."""
        where, order = InjectedItemFilter(sessions=(session,)), Order(by="injected_at", descending=False)
        stored = tx.injected_items.find(where, order=order, limit=_MAX_ITEMS).items
        given = {each.id: each for each in (*waiting, *stored)}
        return tuple(sorted(given.values(), key=lambda each: (each.injected_at, each.place, each.id)))

    @property
    def additions(self) -> int:
        """Number of additions so far, for `add`: read it before the items of the session are read."""
        return self._additions

    def add(self, items: Sequence[InjectedItem], after: int) -> bool:
        """Take items in; `write` stores them. False if their session was given one of them since `after` additions."""
        keys = [(each.session, each.kind.value, each.item) for each in items]
        with self._lock:
            if any(self._added.get(key, 0) > after for key in keys):
                return False
            self._additions += 1
            for key in keys:
                self._added[key] = self._additions
                self._added.move_to_end(key)
            while len(self._added) > _MAX_ITEMS:
                self._added.popitem(last=False)
            self._unwritten |= {each.id: each for each in items}
            return True

    def write(self, now: datetime, seconds: float = 0.0) -> None:
        """Store what waits, unless another writer is active for longer than this; then it waits on."""
        with self._writing:
            with self._lock:
                waiting = tuple(self._unwritten.values())[-_MAX_ITEMS:]
            if not waiting or self._store.read_only:
                return
            if self._store.write_if_free(self._scope, now, lambda tx: _put_new(tx, waiting), seconds=seconds):
                with self._lock:
                    for each in waiting:
                        self._unwritten.pop(each.id, None)

    def store(self, items: Iterable[InjectedItem], now: datetime) -> list[InjectedItem]:
        """Store items at once and return those that were not stored before."""
        new = tuple(items)
        return self._store.write(self._scope, now, lambda tx: _put_new(tx, new)) if new else []


def _put_new(tx: Transaction, items: Iterable[InjectedItem]) -> list[InjectedItem]:
    """Items that are stored may have an outcome by now, so they are left as they are."""
    wanted = {each.id: each for each in items}
    known = tx.injected_items.get_many(wanted)
    new = [each for id, each in wanted.items() if id not in known]
    tx.injected_items.put_many(_as_records_allow(tx, new))
    return new


def _as_records_allow(tx: Transaction, items: Iterable[InjectedItem]) -> Iterator[InjectedItem]:
    """The items with the visibility of their records, and without text if the record was purged meanwhile.

    A hook process does not report the visibility.
    """
    given = tuple(items)
    records: dict[tuple[ItemKind, str], Knowledge | Pattern] = {}
    for kind, source in ((ItemKind.KNOWLEDGE, tx.knowledge), (ItemKind.PATTERN, tx.patterns)):
        found = source.get_many(each.item for each in given if each.kind is kind)
        records |= {(kind, id): record for id, record in found.items()}
    for each in given:
        if each.kind is ItemKind.FILE:
            yield each
        elif record := records.get((each.kind, each.item)):
            yield each.replace(visibility=record.visibility)
        else:
            yield each.replace(text="")
