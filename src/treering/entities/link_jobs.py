"""Reads new records for names, in the order they were stored, and ties them to entities."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
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
from treering.entities.extraction.mentions import Mention, NameReader
from treering.entities.extraction.rules import FAST, extract, told
from treering.entities.links import CLAIM, Spoken, link_records
from treering.entities.read_marks import Mark
from treering.ports.clock import Clock, NewId
from treering.ports.index import Listed
from treering.ports.store import Store, Transaction

KINDS = ("knowledge", "turn", "episode")
"""What speaks of entities."""
LINKED = "entities linked"
"""The stage under which it is kept how far links were made."""


def queue_linking(tx: Transaction, now: datetime, new_id: NewId) -> bool:
    """Have what this principal has just stored linked; False where that waits already. Costs the same for any amount.

    A job that is at work may have read past what was just stored: another one then waits behind it.
    """
    return tx.jobs.enqueue_first([linking_job(tx.scope.principal, now, new_id(), turn) for turn in (1, 2)])


def do_linking(scope: Scope, store: Store, job: Job, clock: Clock, *, settings: Settings, new_id: NewId) -> None:
    """Link what is new to all, then what is new to whoever queued the job, for some seconds; the rest waits again."""
    own = Scope(tenant=scope.tenant, project=scope.project, principal=job.payload["principal"])
    until, lease = monotonic() + settings.entities.slice_seconds, timedelta(seconds=settings.jobs.lease_seconds)

    def keep() -> bool:
        with store.transaction(scope, clock()) as tx:
            return tx.jobs.extend(job, lease) and monotonic() < until

    if not link_new(own, store, clock, settings.entities, new_id, between=keep):
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
    patience: float | None = None,
) -> bool:
    """Link records that were not read yet, batch by batch, until `between` says stop; True if all are linked.

    `patience` limits the seconds of waiting for another writer; None waits as long as any writer does.
    """
    for owner in ("", scope.principal):
        mark = Mark(LINKED, owner)
        while (linked := _link_batch(_Batch(scope, store, clock(), mark, patience), settings, new_id)) is not None:
            if not linked:
                return False
            if not between():
                return False
    return True


@dataclass(frozen=True, slots=True)
class _Batch:
    """Where a batch is read, and how far was read before."""

    scope: Scope
    store: Store
    now: datetime
    mark: Mark
    patience: float | None

    def write(self, work: Callable[[Transaction], None]) -> bool:
        """Whether it was stored."""
        if self.patience is not None:
            return self.store.write_if_free(self.scope, self.now, work, seconds=self.patience)
        self.store.write(self.scope, self.now, work)
        return True


def _link_batch(batch: _Batch, settings: EntitySettings, new_id: NewId) -> bool | None:
    """Whether the batch is linked, None if there is none. Nobody who writes waits for the reading."""
    mark = batch.mark
    with batch.store.reading(batch.scope, batch.now) as tx:
        begun = mark.read(tx)
        documents = tx.documents.after(begun, owner=mark.owner, limit=settings.batch)
        records = list(records_of(tx, documents))
    if not documents:
        return None
    found = [spoken(record, settings) for record in records]

    def link(tx: Transaction) -> None:
        tx.claim(CLAIM)
        # Somebody else may have linked them meanwhile.
        if mark.read(tx) == begun:
            still = unchanged(tx, documents)
            link_records(tx, [each for each in found if (each.kind, each.id) in still], new_id)
            mark.move(tx, documents[-1])

    return batch.write(link)


def unchanged(tx: Transaction, documents: Sequence[Listed]) -> frozenset[tuple[str, str]]:
    """Kind and id of those that still say what they said when they were listed: none that was removed, or changed."""
    numbers = {
        kind: tx.documents.numbers(kind, [document.id for document in documents if document.kind == kind])
        for kind in {document.kind for document in documents}
    }
    return frozenset((each.kind, each.id) for each in documents if numbers[each.kind].get(each.id) == each.number)


def records_of(tx: Transaction, documents: Sequence[Listed]) -> Iterator[Record]:
    """The records of documents that speak of entities; those that cannot be read are passed over.

    So are episodes of which most lies in the blob store: they were linked when all of them was here.
    """
    for kind in KINDS:
        ids = [document.id for document in documents if document.kind == kind]
        if ids:
            found = (match.value for match in _COLLECTIONS[kind](tx).readable(ids))
            yield from (record for record in found if not (isinstance(record, Episode) and record.cold))


def spoken(record: Record, settings: EntitySettings, readers: Sequence[NameReader] = FAST) -> Spoken:
    """A record with the names in it."""
    kind, at, text = _TEXTS[type(record)](record)
    said: Any = record
    language = getattr(record, "language", None)
    found = extract(text, readers, language=language, most=settings.most_mentions, longest=settings.read_characters)
    mentions = (*_told(record, text), *found) if settings.most_mentions else ()
    return Spoken(kind, record.id, said.owner, said.visibility, at, mentions, inherited_taint([said]))


def text_of(record: Record) -> str:
    """What of a record is read for names."""
    return _TEXTS[type(record)](record)[2]


def _told(record: Record, text: str) -> tuple[Mention, ...]:
    fact = record.payload if isinstance(record, Knowledge) else None
    return told(fact.subject, fact.attribute, fact.value, text) if isinstance(fact, Fact) else ()


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
