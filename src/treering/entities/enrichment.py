"""At night, what has few names is read again by whoever sees more than the rules do."""

from functools import partial

from treering.core.errors import ModelUnavailable, UnusableAnswer
from treering.core.privacy import may_leave
from treering.core.queries import EntityLinkFilter
from treering.core.scope import Visibility
from treering.core.values import Record
from treering.entities.extraction.providers import Readers, accurate_readers
from treering.entities.link_jobs import BATCH_RECORDS, LINKED, link_new, records_of, spoken, unchanged
from treering.entities.links import CLAIM, link_records
from treering.entities.read_marks import Mark
from treering.jobs.stage import StageRun
from treering.ports.index import DocumentRef
from treering.ports.store import Transaction
from treering.prompts.token_budget import metered_writer

FEW_NAMES = 2  # a record with so few names may have more that rules do not see: it is read again at night

ENRICHED = "entities enriched"
"""The stage under which it is kept how far records were read again."""
STRAYS = "entities looked for again"
"""How far the nights looked at all once more."""
_LOOKED_AT = 20
"""Documents that are looked at for each one that may be read: a night ends also where nothing is worth reading."""


def enrich_entities(run: StageRun) -> None:
    """Read records with few entities again, some each night, going on where the last night stopped.

    Where neither spaCy nor a language model is there, they are counted as skipped and left for when one is. A language
    model reads nothing that is personal, and nothing at all where `learn.model` is off.
    """
    principal = run.scope.principal
    if not run.dry_run:
        link_new(run.scope, run.store, lambda: run.now, run.settings.entities, run.new_id)
        for owner in ("", principal):
            _link_strays(run, Mark(STRAYS, owner))
    metered = partial(metered_writer, run.models, run.store, run.scope, run.now, run.settings)
    found = accurate_readers(run.models, metered)
    shared = found.without_model() if run.settings.learn.model == "off" else found
    private = found.without_model()
    left = _enrich(run, Mark(ENRICHED), shared, _room(run, shared))
    _enrich(run, Mark(ENRICHED, principal), private, _room(run, private) if shared.has("llm") else left)


def _room(run: StageRun, found: Readers) -> int:
    """How many records they read in one night."""
    limits = run.settings.entities
    return limits.nightly_llm if found.has("llm") or not found.accurate else limits.nightly_spacy


def _link_strays(run: StageRun, mark: Mark) -> None:
    """On a server, what was committed late may have been passed by: all of the day is looked at once more."""
    settings = run.settings.entities
    while True:
        with run.store.transaction(run.scope, run.now) as tx:
            tx.claim(CLAIM)
            linked = Mark(LINKED, mark.owner).read(tx)
            listed = tx.documents.after(mark.read(tx), owner=mark.owner, limit=BATCH_RECORDS)
            documents = [document for document in listed if document.number <= linked]
            if not documents:
                return
            strays = [document for document in documents if not _links(tx, document)]
            link_records(tx, [spoken(record, settings) for record in records_of(tx, strays)], run.new_id)
            mark.move(tx, documents[-1])
        run.progress.advance(None, 0)


def _enrich(run: StageRun, mark: Mark, found: Readers, room: int) -> int:
    """How much room is left for what is read again tonight."""
    with run.store.reading(run.scope, run.now) as tx:
        linked = Mark(LINKED, mark.owner).read(tx)
        listed = tx.documents.after(mark.read(tx), owner=mark.owner, limit=room * _LOOKED_AT) if room else ()
    passed = None
    for document in (each for each in listed if each.number <= linked):
        with run.store.reading(run.scope, run.now) as tx:
            record = _worth_reading(tx, document, found, FEW_NAMES)
        if record is None:
            passed = document
            continue
        if not room:
            break
        room, passed = room - 1, None
        if not found.accurate or run.dry_run:
            run.progress.advance(None, 1, skipped=1)
        elif not _read_again(run, mark, document, record, found):
            return 0
    if passed is not None and found.accurate and not run.dry_run:
        with run.store.transaction(run.scope, run.now) as tx:
            mark.move(tx, passed)
    return room


def _worth_reading(tx: Transaction, document: DocumentRef, found: Readers, few: int) -> Record | None:
    """Turns are many: only who reads for nothing reads them, too. What has become personal is in the other stream."""
    if document.kind == "turn" and found.has("llm"):
        return None
    record = next(iter(records_of(tx, [document])), None)
    if record is None or getattr(record, "deleted_at", None) is not None:
        return None
    personal = getattr(record, "visibility", None) is Visibility.PERSONAL
    if found.has("llm") and (personal or not may_leave(record, found.location)):
        return None
    return record if _links(tx, document) <= few else None


def _links(tx: Transaction, document: DocumentRef) -> int:
    return tx.entity_links.count(EntityLinkFilter(records=(document.id,)))


def _read_again(run: StageRun, mark: Mark, document: DocumentRef, record: Record, found: Readers) -> bool:
    """No transaction is open while a model reads. False where it no longer answers: the next night goes on here."""
    try:
        told = spoken(record, run.settings.entities, found.readers)
    except UnusableAnswer:
        told = None
    except ModelUnavailable as exc:
        run.models.failed("writer", exc)
        run.progress.advance(None, 0, failed=1)
        return False
    links = 0
    with run.store.transaction(run.scope, run.now) as tx:
        tx.claim(CLAIM)
        if told is not None and unchanged(tx, [document]):
            links = link_records(tx, [told], run.new_id)
        mark.move(tx, document)
    run.progress.advance(str(document.number), 1, links=links, **{"unusable" if told is None else "enriched": 1})
    return True
