"""Extracts names from new records, in the order they were stored, and links them to entities."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from time import monotonic
from typing import Any

from treering.core.delimiters import without_delimited
from treering.core.episodes import Episode
from treering.core.jobs import Job, linking_job
from treering.core.language.text_features import without_speaker
from treering.core.payloads import Fact
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.core.settings import EntitySettings, Settings
from treering.core.taint import inherited_taint
from treering.core.turns import Turn
from treering.core.values import Record
from treering.entities.extraction.mentions import EntityMention, NameReader
from treering.entities.extraction.rules import FAST, extract, statement_mentions
from treering.entities.links import CLAIM, RecordMentions, link_records
from treering.entities.read_marks import ReadMark
from treering.ports.clock import Clock, NewId
from treering.ports.index import DocumentRef
from treering.ports.store import Store, Transaction

MAX_READ_CHARACTERS = 20_000  # text after this is data; names in it are found by their words
BATCH_RECORDS = 200  # records linked between two commits: the most that a crash costs
LINK_SECONDS = 1.0  # a job links this long before other jobs have their turn: `settle` keeps its deadline

KINDS = ("knowledge", "turn", "episode")
"""Kinds of records that are linked to entities."""
LINKED = "entities linked"
"""Read mark of linked records."""


def queue_linking(tx: Transaction, now: datetime, new_id: NewId) -> None:
    """Queue linking for the new records of this principal, unless a job is queued that begins after the commit.

    A running job may have passed the new records, so a second one may be queued behind it.
    """
    tx.jobs.enqueue_later([linking_job(tx.scope.principal, now, new_id(), turn) for turn in (1, 2)])


def do_linking(scope: Scope, store: Store, job: Job, clock: Clock, *, settings: Settings, new_id: NewId) -> None:
    """Link new shared records, then those of the job's principal, for some seconds; the rest is queued again."""
    own = Scope(tenant=scope.tenant, project=scope.project, principal=job.payload["principal"])
    until = monotonic() + LINK_SECONDS
    if not link_new(own, store, clock, settings.entities, new_id, between=lambda: monotonic() < until):
        with store.transaction(own, clock()) as tx:
            queue_linking(tx, tx.now, new_id)


def link_new(
    scope: Scope,
    store: Store,
    clock: Clock,
    settings: EntitySettings,
    new_id: NewId,
    *,
    between: Callable[[], bool] = lambda: True,
    max_wait: float | None = None,
    batch: int = BATCH_RECORDS,
) -> bool:
    """Link records that were not read yet, batch by batch, until `between` says stop; True if all are linked.

    Records stored meanwhile may be left over.

    `max_wait` limits the seconds of waiting for another writer; None uses the store's limit. `batch` is the number of
    records between two commits.
    """
    marks = [ReadMark(LINKED, owner) for owner in dict.fromkeys(("", scope.principal))]
    while (new := _read_new(scope, store, clock(), marks, batch)) is not None:
        found = [record_mentions(record, settings) for record in new.records]
        work = partial(_link, new, found, new_id)
        if max_wait is None:
            store.write(scope, clock(), work)
        elif not store.write_if_free(scope, clock(), work, seconds=max_wait):
            return False
        if not between():
            return False
        # Records stored meanwhile have a job of their own.
        marks = marks[marks.index(new.mark) + (len(new.documents) < batch) :]
    return True


@dataclass(frozen=True, slots=True)
class _NewDocuments:
    """Documents after the read mark of one stream, and their records."""

    mark: ReadMark
    start: int
    documents: Sequence[DocumentRef]
    records: Sequence[Record]


def _read_new(scope: Scope, store: Store, now: datetime, marks: Sequence[ReadMark], limit: int) -> _NewDocuments | None:
    """Documents of the first stream that has new ones; None if there are none."""
    if not marks:
        return None
    with store.reading(scope, now) as tx:
        for mark in marks:
            start = mark.read(tx)
            if documents := tx.documents.after(start, owner=mark.owner, limit=limit):
                return _NewDocuments(mark, start, documents, list(records_of(tx, documents)))
    return None


def _link(new: _NewDocuments, found: Sequence[RecordMentions], new_id: NewId, tx: Transaction) -> None:
    tx.claim(CLAIM)
    # Another worker may have linked them meanwhile.
    if new.mark.read(tx) == new.start:
        current = unchanged(tx, new.documents)
        link_records(tx, [each for each in found if (each.kind, each.id) in current], new_id)
        new.mark.move(tx, new.documents[-1])


def unchanged(tx: Transaction, documents: Sequence[DocumentRef]) -> frozenset[tuple[str, str]]:
    """Kind and id of the documents that were not changed or removed since they were listed."""
    numbers = {
        kind: tx.documents.numbers(kind, [document.id for document in documents if document.kind == kind])
        for kind in {document.kind for document in documents}
    }
    return frozenset((each.kind, each.id) for each in documents if numbers[each.kind].get(each.id) == each.number)


def records_of(tx: Transaction, documents: Sequence[DocumentRef]) -> Iterator[Record]:
    """The records of these documents, without unreadable ones and without cold episodes, which were linked before."""
    for kind in KINDS:
        ids = [document.id for document in documents if document.kind == kind]
        if ids:
            found = (match.value for match in _COLLECTIONS[kind](tx).readable(ids))
            yield from (record for record in found if not (isinstance(record, Episode) and record.cold))


def record_mentions(record: Record, settings: EntitySettings, readers: Sequence[NameReader] = FAST) -> RecordMentions:
    """A record with its mentions."""
    kind, at, text = _TEXTS[type(record)](record)
    owned: Any = record
    language = getattr(record, "language", None)
    found = extract(text, readers, language=language, limit=settings.most_mentions, max_characters=MAX_READ_CHARACTERS)
    mentions = (*_fact_mentions(record, text), *found) if settings.most_mentions else ()
    return RecordMentions(kind, record.id, owned.owner, owned.visibility, at, mentions, inherited_taint([owned]))


def text_of(record: Record) -> str:
    """The text of a record from which names are extracted."""
    return _TEXTS[type(record)](record)[2]


def _fact_mentions(record: Record, text: str) -> tuple[EntityMention, ...]:
    fact = record.payload if isinstance(record, Knowledge) else None
    return statement_mentions(fact.subject, fact.attribute, fact.value, text) if isinstance(fact, Fact) else ()


_COLLECTIONS: Mapping[str, Callable[[Transaction], Any]] = {
    "knowledge": lambda tx: tx.knowledge,
    "turn": lambda tx: tx.turns,
    "episode": lambda tx: tx.episodes,
}
_TEXTS: Mapping[type[Record], Callable[[Any], tuple[str, datetime, str]]] = {
    Knowledge: lambda record: ("knowledge", record.created_at, record.content),
    Turn: lambda record: ("turn", record.at, without_speaker(without_delimited(record.text))),
    Episode: lambda record: (
        "episode",
        record.at,
        "\n".join((record.task.input, record.outcome.output, *map(str, record.reflection.insights))),
    ),
}
