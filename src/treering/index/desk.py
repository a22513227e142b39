"""What indexing works with: whose code, where it is stored, where it lies on disk."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from treering.core.errors import Conflict
from treering.core.scope import Scope
from treering.core.settings import IndexSettings
from treering.ports.clock import Clock
from treering.ports.code import CodeIndex
from treering.ports.store import Store


@dataclass(frozen=True, slots=True)
class Desk:
    scope: Scope
    store: Store
    clock: Clock
    settings: IndexSettings
    root: Path
    owner: str
    """Who writes, told apart from every other process and thread."""

    def at(self, root: Path) -> "Desk":
        return replace(self, root=root)

    @contextmanager
    def reading(self) -> Iterator[CodeIndex]:
        with self.store.reading(self.scope, self.clock()) as tx:
            yield tx.code

    @contextmanager
    def writing(self) -> Iterator[CodeIndex]:
        """As the only one who writes. `Conflict` where that is somebody else."""
        with self.store.transaction(self.scope, self.clock()) as tx:
            if not tx.code.take(self.owner, timedelta(seconds=self.settings.lease_seconds)):
                raise Conflict("another process indexes this project now; ask again when it is done")
            yield tx.code

    def give_back(self) -> None:
        """Let others write before the lease runs out."""
        with self.store.transaction(self.scope, self.clock()) as tx:
            tx.code.give_back(self.owner)

    def note(self, **told: object) -> None:
        """Tell something of the index beside its files."""
        with self.writing() as index:
            state = index.state()
            if state is not None:
                index.describe(
                    self.owner,
                    seen=state.generation,
                    root=state.root,
                    version=state.version,
                    complete=state.complete,
                    told=json.dumps({**json.loads(state.told), **told}),
                )
            index.give_back(self.owner)
