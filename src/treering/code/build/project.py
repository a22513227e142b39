"""What indexing works with: whose code, where it is stored, where it lies on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import Conflict
from treering.ports.processes import Ended, Writer

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.core.settings import IndexSettings
    from treering.code.files.outer_ignore_rules import GitHome
    from treering.ports.clock import Clock
    from treering.ports.code import CodeIndex, Lease
    from treering.ports.store import Store

LEASE_SECONDS = 60.0  # how long a process that died on another machine blocks indexing; a batch takes a second or two


@dataclass(frozen=True, slots=True)
class Desk:
    scope: Scope
    store: Store
    clock: Clock
    settings: IndexSettings
    root: Path
    owner: str
    """Who writes, told apart from every other process and thread."""
    ended: Ended
    git: GitHome | None = None
    """Where git finds what its user ignores everywhere."""

    def at(self, root: Path) -> Desk:
        return replace(self, root=root)

    @contextmanager
    def reading(self) -> Iterator[CodeIndex]:
        with self.store.reading(self.scope, self.clock()) as tx:
            yield tx.code

    @contextmanager
    def writing(self) -> Iterator[CodeIndex]:
        """As the only one who writes. `Conflict` where that is somebody else."""
        with self.store.transaction(self.scope, self.clock()) as tx:
            self.take(tx.code)
            yield tx.code

    @contextmanager
    def ending(self) -> Iterator[CodeIndex]:
        """As whoever took the lease before and gives it back in here; `describe` fails where somebody else took it."""
        with self.store.transaction(self.scope, self.clock()) as tx:
            yield tx.code

    def take(self, index: CodeIndex) -> None:
        """Be the only one who writes from this transaction on. `Conflict` where that is somebody else."""
        duration = timedelta(seconds=LEASE_SECONDS)
        if index.take(self.owner, duration):
            return
        state = index.state()
        if state is not None and state.lease is not None:
            self.refuse(state.lease)
            index.give_back(state.lease.owner)
        index.take(self.owner, duration)

    def refuse(self, lease: Lease | None) -> None:
        """`Conflict` where this is the lease of somebody else who may still be there."""
        if lease is None or lease.owner == self.owner:
            return
        writer = Writer.named(lease.owner)
        if writer is None or not self.ended(writer):
            who = "another process" if writer is None else writer.told
            raise Conflict(
                f"{who} indexes this project now; ask again when it is done, or after {lease.until:%H:%M:%S} UTC, when "
                "others may go on in its place if it does not"
            )

    def give_back(self) -> None:
        """Let others write before the lease runs out."""
        with self.store.transaction(self.scope, self.clock()) as tx:
            tx.code.give_back(self.owner)
