"""Read marks: how far a reader has read the documents of a project, stored as runs.

A mark has the numbers of documents and digests of their ids: in a copy, where numbers differ, nothing matches and
reading starts over. If the last document is removed, the one before it counts.
"""

from dataclasses import dataclass
from hashlib import blake2b

from treering.core.runs import Run, RunState
from treering.ports.index import DocumentRef
from treering.ports.store import Transaction

_MAX_POSITIONS = 5  # positions in a mark, newest first; the older ones are used if documents are removed


@dataclass(frozen=True, slots=True)
class ReadMark:
    """One reader of one stream: the shared documents, or the personal ones of `owner`."""

    stage: str
    owner: str = ""

    @property
    def id(self) -> str:
        return f"{self.stage} {_digest(self.owner)}" if self.owner else self.stage

    def read(self, tx: Transaction) -> int:
        """Number of the last document read; 0 before the first."""
        for number, digest in self._positions(tx):
            found = tx.documents.after(number - 1, owner=self.owner, limit=1)
            if found and found[0].number == number and _identity(found[0]) == digest:
                return number
        return 0

    def move(self, tx: Transaction, last: DocumentRef) -> None:
        """Record that everything up to `last` was read."""
        run = tx.runs.get(self.id)
        earlier = [place for place in self._positions(tx) if place[0] < last.number]
        places = [(last.number, _identity(last)), *earlier][:_MAX_POSITIONS]
        cursor = ",".join(f"{number}:{digest}" for number, digest in places)
        begun = tx.now if run is None else run.started_at
        done = 1 if run is None else run.done + 1
        moved = Run(
            id=self.id,
            stage=self.stage,
            state=RunState.DONE,
            started_at=begun,
            updated_at=tx.now,
            finished_at=tx.now,
            cursor=cursor,
            done=done,
        )
        tx.runs.put_many([moved])

    def _positions(self, tx: Transaction) -> list[tuple[int, str]]:
        run = tx.runs.get(self.id)
        if run is None or not run.cursor:
            return []
        parts = (place.partition(":") for place in run.cursor.split(","))
        return [(int(number), digest) for number, _, digest in parts]


def _identity(document: DocumentRef) -> str:
    return _digest(f"{document.kind}\n{document.id}")


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()
