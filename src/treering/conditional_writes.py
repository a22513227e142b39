"""Writes that happen only once per request, or only if a record has not changed since it was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

from treering.core.errors import InvalidInput, NotFound, RequestRepeated, StaleVersion
from treering.core.history import Action, AuditEntry
from treering.core.values import Record

if TYPE_CHECKING:
    from datetime import datetime

    from treering.core.scope import Scope
    from treering.ports.store import Store, Transaction

T = TypeVar("T")
REQUEST = "request"
"""Kind of the audit entry that marks a request as carried out."""


@dataclass(frozen=True, slots=True)
class WriteConditions:
    """Conditions of one write, checked in its transaction.

    A `request` is the caller's key of the request, and `content` everything that it asks for: the same key with
    another content is `InvalidInput`. `versions` are those that the caller read, by the id of the record.
    """

    request: str | None = None
    content: str = ""
    versions: Mapping[str, int] = field(default_factory=dict)

    def check(self, tx: Transaction) -> None:
        for id, version in self.versions.items():
            tx.claim(f"record {id}")
            record = tx.knowledge.get(id)
            if record is None or record.deleted_at is not None:
                raise NotFound(f"no knowledge record with id {id!r} in project {tx.scope.project!r}")
            if record.version != version:
                raise StaleVersion(record, version)
        if self.request is not None:
            tx.claim(f"request {self.request}")
            self.check_repeated(tx)

    def check_repeated(self, tx: Transaction) -> None:
        """`RequestRepeated` if the request was carried out; `InvalidInput` if its key was used for another one."""
        if self.request is None:
            return
        mark = tx.audit.get(self._mark_id(tx.scope))
        if mark is None:
            return
        if mark.detail.get("content") != self._digest:
            raise InvalidInput(f"the key {self.request!r} was used for another request; use a new key")
        raise RequestRepeated(self.request, mark.detail.get("record"))

    def mark(self, tx: Transaction, result: object) -> None:
        """Note in the transaction that the request was carried out, and which record it returned."""
        if self.request is None:
            return
        id = self._mark_id(tx.scope)
        detail = {"content": self._digest, "record": _record_id(result)}
        tx.audit.create(
            AuditEntry.make(
                id=id,
                at=tx.now,
                actor=tx.scope.principal,
                owner=tx.scope.principal,
                action=Action.UPDATE,
                kind=REQUEST,
                subject=id,
                detail=detail,
            )
        )

    @property
    def _digest(self) -> str:
        return sha256(self.content.encode("utf-8", "replace")).hexdigest()[:32]

    def _mark_id(self, scope: Scope) -> str:
        return f"request-{sha256(f'{scope.principal} {self.request}'.encode()).hexdigest()[:40]}"


class ConditionalStore:
    """A store whose first write is subject to conditions; everything else is passed on."""

    def __init__(self, store: Store, conditions: WriteConditions) -> None:
        self._store = store
        self._conditions = conditions
        self._is_met = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, scope: Scope, now: datetime, work: Callable[[Transaction], T], *, claims: Sequence[str] = ()) -> T:
        if self._is_met:
            return self._store.write(scope, now, work, claims=claims)

        def conditional(tx: Transaction) -> T:
            self._conditions.check(tx)
            result = work(tx)
            self._conditions.mark(tx, result)
            return result

        done = self._store.write(scope, now, conditional, claims=claims)
        self._is_met = True
        return done

    @contextmanager
    def transaction(self, scope: Scope, now: datetime) -> Iterator[Transaction]:
        with self._store.transaction(scope, now) as tx:
            if self._is_met:
                yield tx
                return
            self._conditions.check(tx)
            yield tx
            self._conditions.mark(tx, None)
        self._is_met = True


def conditional_store(scope: Scope, store: Store, now: datetime, conditions: WriteConditions) -> Store:
    """The store under conditions; `RequestRepeated` at once if the request was carried out already."""
    with store.reading(scope, now) as tx:
        conditions.check_repeated(tx)
    made: Any = ConditionalStore(store, conditions)
    checked: Store = made
    return checked


def _record_id(result: object) -> str | None:
    """The id of the record that a write returns, alone or as the first of several values."""
    if isinstance(result, tuple):
        return next((_record_id(each) for each in result), None)
    return result.id if isinstance(result, Record) else None
