"""A project's code as indexing sees it: its scope, its store and its folder on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import Conflict
from treering.ports.processes import ProcessEnded, WriterProcess

if TYPE_CHECKING:
    from treering.code.files.outer_ignore_rules import GitHome
    from treering.core.scope import Scope
    from treering.core.settings import IndexSettings
    from treering.ports.clock import Clock
    from treering.ports.code import CodeIndex, IndexLease
    from treering.ports.store import Store


@dataclass(frozen=True, slots=True)
class IndexedProject:
    """One project's store, settings and folder, and the write lease on its index."""

    scope: Scope
    store: Store
    clock: Clock
    settings: IndexSettings
    root: Path
    owner: str
    """Name of the writer, unique among all processes and threads."""
    ended: ProcessEnded
    git: GitHome | None = None
    """Where git keeps the user's global ignore rules."""

    def at(self, root: Path) -> IndexedProject:
        return replace(self, root=root)

    @contextmanager
    def reading(self) -> Iterator[CodeIndex]:
        with self.store.reading(self.scope, self.clock()) as tx:
            yield tx.code

    @contextmanager
    def writing(self) -> Iterator[CodeIndex]:
        """A transaction that holds the write lease. Raises `Conflict` if another writer holds it."""
        with self.store.transaction(self.scope, self.clock()) as tx:
            self.take_lease(tx.code)
            yield tx.code

    @contextmanager
    def finishing(self) -> Iterator[CodeIndex]:
        """A transaction that releases a lease taken before; `describe` raises if another writer took it meanwhile."""
        with self.store.transaction(self.scope, self.clock()) as tx:
            yield tx.code

    def take_lease(self, index: CodeIndex) -> None:
        """Take the write lease in this transaction. Raises `Conflict` if another live writer holds it."""
        duration = timedelta(seconds=self.settings.lease_seconds)
        if index.take_lease(self.owner, duration):
            return
        state = index.state()
        if state is not None and state.lease is not None:
            self.check_lease(state.lease)
            index.release_lease(state.lease.owner)
        index.take_lease(self.owner, duration)

    def check_lease(self, lease: IndexLease | None) -> None:
        """Raise `Conflict` if this lease belongs to another writer that may still be running."""
        if lease is None or lease.owner == self.owner:
            return
        writer = WriterProcess.parse(lease.owner)
        if writer is None or not self.ended(writer):
            name = "another process" if writer is None else writer.description
            raise Conflict(
                f"{name} is indexing this project; try again when it is done, or after {lease.until:%H:%M:%S} UTC, "
                "when its lease expires"
            )

    def release_lease(self) -> None:
        """Release the write lease before it expires."""
        with self.store.transaction(self.scope, self.clock()) as tx:
            tx.code.release_lease(self.owner)
