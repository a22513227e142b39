"""All records of a kind in pages, in a stable order; an unreadable record does not block the others."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from treering.core.queries import Filter
from treering.core.values import Record
from treering.jobs.stage import StageRun
from treering.ports.collections import Searchable
from treering.ports.store import Transaction

V = TypeVar("V", bound=Record)


@dataclass(frozen=True, slots=True)
class RecordPage(Generic[V]):
    """A page of records. `ids` includes unreadable ones; `last` is the cursor of the next page."""

    ids: tuple[str, ...]
    records: tuple[V, ...]
    unreadable: int

    @property
    def last(self) -> str:
        return self.ids[-1]


def record_pages(run: StageRun, kind: str, where: Filter, after: str = "") -> Iterator[RecordPage[Any]]:
    """Pages of the records that the filter accepts now, after the id `after`. No transaction is open between pages."""
    with run.store.reading(run.scope, run.now) as tx:
        passing = tx.index.matching_numbers({kind: where})
        found = tx.index.matching_ids({kind: where}, passing)
    ids = sorted(id for _, id in found.values() if id > after)
    size = run.settings.forgetting.page
    for start in range(0, len(ids), size):
        page = tuple(ids[start : start + size])
        with run.store.reading(run.scope, run.now) as tx:
            read = _collection(tx, kind).readable(page)
        yield RecordPage(page, tuple(match.value for match in read), len(read.unreadable))


def _collection(tx: Transaction, kind: str) -> Searchable[Any, Any]:
    collections: dict[str, Searchable[Any, Any]] = {"knowledge": tx.knowledge, "turn": tx.turns, "episode": tx.episodes}
    return collections[kind]
