"""Maintenance stage: records with few entities are read again by spaCy or a language model."""

from functools import partial

from treering.core.errors import ModelUnavailable, UnusableAnswer
from treering.core.privacy import may_leave
from treering.core.queries import EntityLinkFilter
from treering.core.scope import Visibility
from treering.core.values import Record
from treering.entities.extraction.providers import Readers, accurate_readers
from treering.entities.link_jobs import BATCH_RECORDS, LINKED, link_new, record_mentions, records_of, unchanged
from treering.entities.links import CLAIM, link_records, links_of
from treering.entities.read_marks import ReadMark
from treering.jobs.stage import StageRun
from treering.ports.index import DocumentRef
from treering.ports.store import Transaction
from treering.prompts.token_budget import metered_writer

FEW_NAMES = 2  # a record with so few names may have more that rules do not see: it is read again at night

ENRICHED = "entities enriched"
"""Read mark of records that were read again."""
STRAYS = "entities looked for again"
"""Read mark of records that were checked for missing links."""
_CHECKED_PER_READ = 20  # documents checked per document that may be read, so that a run ends even if none qualifies


def enrich_entities(run: StageRun) -> None:
    """Read a limited number of records with few entities again, continuing after the last run.

    Without spaCy and a language model, records are counted as skipped and left for later. A language model reads no
    personal records, and none at all if `learn.model` is off.
    """
    principal = run.scope.principal
    if not run.dry_run:
        link_new(run.scope, run.store, lambda: run.now, run.settings.entities, run.new_id)
        for owner in ("", principal):
            _link_strays(run, ReadMark(STRAYS, owner))
    metered = partial(metered_writer, run.models, run.store, run.scope, run.now, run.settings)
    found = accurate_readers(run.models, metered)
    shared = found.without_model() if run.settings.learn.model == "off" else found
    private = found.without_model()
    left = _enrich(run, ReadMark(ENRICHED), shared, _read_limit(run, shared))
    _enrich(run, ReadMark(ENRICHED, principal), private, _read_limit(run, private) if shared.has("llm") else left)


def _read_limit(run: StageRun, found: Readers) -> int:
    """Number of records that these readers may read in one run."""
    limits = run.settings.entities
    return limits.nightly_llm if found.has("llm") or not found.accurate else limits.nightly_spacy


def _link_strays(run: StageRun, mark: ReadMark) -> None:
    """Link records that were committed late, after the read mark had passed them."""
    settings = run.settings.entities
    while True:
        with run.store.transaction(run.scope, run.now) as tx:
            tx.claim(CLAIM)
            linked = ReadMark(LINKED, mark.owner).read(tx)
            listed = tx.documents.after(mark.read(tx), owner=mark.owner, limit=BATCH_RECORDS)
            documents = [document for document in listed if document.number <= linked]
            if not documents:
                return
            linked_records = {link.record for link in links_of(tx, [document.id for document in documents])}
            strays = [document for document in documents if document.id not in linked_records]
            link_records(tx, [record_mentions(record, settings) for record in records_of(tx, strays)], run.new_id)
            mark.move(tx, documents[-1])
        run.progress.advance(None, 0)


def _enrich(run: StageRun, mark: ReadMark, found: Readers, limit: int) -> int:
    """Read up to `limit` records; returns the rest of the limit."""
    with run.store.reading(run.scope, run.now) as tx:
        linked = ReadMark(LINKED, mark.owner).read(tx)
        listed = tx.documents.after(mark.read(tx), owner=mark.owner, limit=limit * _CHECKED_PER_READ) if limit else ()
    passed = None
    for document in (each for each in listed if each.number <= linked):
        with run.store.reading(run.scope, run.now) as tx:
            record = _worth_reading(tx, document, found, FEW_NAMES)
        if record is None:
            passed = document
            continue
        if not limit:
            break
        limit, passed = limit - 1, None
        if not found.accurate or run.dry_run:
            run.progress.advance(None, 1, skipped=1)
        elif not _read_again(run, mark, document, record, found):
            return 0
    if passed is not None and found.accurate and not run.dry_run:
        with run.store.transaction(run.scope, run.now) as tx:
            mark.move(tx, passed)
    return limit


def _worth_reading(tx: Transaction, document: DocumentRef, found: Readers, few: int) -> Record | None:
    """The record if it should be read. A language model reads no turns, as they are many, and no personal records."""
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


def _read_again(run: StageRun, mark: ReadMark, document: DocumentRef, record: Record, found: Readers) -> bool:
    """Read a record outside of any transaction; False if the model is unavailable: the next run continues here."""
    try:
        mentions = record_mentions(record, run.settings.entities, found.readers)
    except UnusableAnswer:
        mentions = None
    except ModelUnavailable as exc:
        run.models.failed("writer", exc)
        run.progress.advance(None, 0, failed=1)
        return False
    links = 0
    with run.store.transaction(run.scope, run.now) as tx:
        tx.claim(CLAIM)
        if mentions is not None and unchanged(tx, [document]):
            links = link_records(tx, [mentions], run.new_id)
        mark.move(tx, document)
    run.progress.advance(str(document.number), 1, links=links, **{"unusable" if mentions is None else "enriched": 1})
    return True
