"""Proof of removal: searches everything stored for the words of a purged record."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from treering.core.errors import BlobMissing, InvalidInput, Unreadable
from treering.core.history import Revision
from treering.core.observations import OWN_WORDS, SIGNAL_TAG, SYNTHESIS
from treering.core.patterns import Pattern
from treering.core.queries import EntityLinkFilter, RevisionFilter
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.core.settings import Settings
from treering.core.values import is_key
from treering.knowledge.operations import KnowledgeOperations, earlier_wordings
from treering.ports.clock import Clock
from treering.ports.index import DOCUMENT_KINDS, IndexQuery
from treering.ports.store import Store, Transaction

PROOF_PIECES = 64  # pieces of a removed text searched for in the raw files; a copy of the text holds them all
PROOF_CHARACTERS = 24  # about four words, which do not recur by chance in a memory of ordinary size

# Fields with a record's own words; other fields hold names that records share.
_TEXT_FIELDS = frozenset({"content", "text", "citation"})
_NESTED_FIELDS = frozenset({"payload", "metadata", "task", "outcome", "execution", "reflection"})
_PATTERN_FIELDS = ("name", "summary", "description", "explanation", "content", "guidance", "deprecation_reason")
# Shorter pieces occur in large files by chance.
_MIN_PIECE = 8
_RECORD_TABLES = ("knowledge", "turns", "episodes", "events", "patterns", "entities")
_MAX_ROWS = 1_000
_LONG_WORD = re.compile(rf"\w{{{_MIN_PIECE},40}}")
_MAX_WORDS = 40
_MAX_CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class Remnant:
    """A place that still contains removed words, and an explanation."""

    place: str
    record: str
    piece: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Proof:
    """Result of a search for removed words; on a server, `files` counts tables."""

    files: int
    size: int
    pieces: int
    remains: tuple[Remnant, ...]

    @property
    def clean(self) -> bool:
        return not self.remains

    def __str__(self) -> str:
        if not self.pieces:
            return "not searched: the text was too short to identify a copy"
        searched = f"searched {self.files:,} files, {self.size:,} bytes"
        if self.clean:
            return f"{searched}: no trace"
        held = "; ".join(dict.fromkeys(f"{each.place} {each.record}".strip() for each in self.remains))
        return f"{searched}: still in {held}"


Sweep = Callable[[Scope, float], object]
"""Remove the blobs of purged records of a scope, waiting at most this many seconds for other workers."""


@dataclass(frozen=True, slots=True)
class PurgeReceipt:
    """Receipt for a purged record; it holds the words to search for."""

    id: str
    prove: Callable[[], Proof]
    """Search for the words now; reads everything stored, at about a second per gigabyte."""


def purge_with_proof(
    scope: Scope,
    operations: KnowledgeOperations,
    clock: Clock,
    id: str,
    *,
    sweep: Sweep,
    settings: Settings,
) -> PurgeReceipt:
    """Purge a record with every copy of it and return a receipt that can prove it."""
    store = operations.store
    with store.reading(scope, clock()) as tx:
        ids = (id, *earlier_wordings(tx, id))
    texts = [text for each in ids for text in texts_of(scope, store, clock(), each)]
    pieces = (*pieces_of(texts), *unique_words(scope, store, clock(), ids, texts))
    operations.purge(scope, clock(), id)
    sweep(scope, settings.store.busy_seconds)
    store.erase_traces()
    return PurgeReceipt(id, lambda: prove(scope, store, clock(), pieces))


def texts_of(scope: Scope, store: Store, now: datetime, id: str) -> tuple[str, ...]:
    """Texts of a record and of its earlier versions; empty if the record is unreadable."""
    with store.reading(scope, now) as tx:
        try:
            texts = list(_texts(tx, id))
        except (BlobMissing, Unreadable, InvalidInput):
            texts = []
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


def pieces_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Pieces that identify a copy: short texts completely, longer ones in samples."""
    each, length = [text.strip() for text in texts if text.strip()], PROOF_CHARACTERS
    chosen: dict[str, None] = {}
    for text in sorted(each, key=len, reverse=True):
        last = max(0, len(text) - length)
        places = [*range(0, last, length), last]
        step = max(1, len(places) * len(each) // PROOF_PIECES)
        chosen |= dict.fromkeys(text[place : place + length] for place in places[::step])
    return tuple(piece for piece in chosen if len(piece.strip()) >= _MIN_PIECE)[:PROOF_PIECES]


def unique_words(
    scope: Scope, store: Store, now: datetime, ids: Sequence[str], texts: Sequence[str]
) -> tuple[str, ...]:
    """Long words of these records that no other visible record contains."""
    if not all(map(is_key, ids)):
        return ()
    with store.reading(scope, now) as tx:
        try:
            if any(_has_shared_names(tx, id) for id in ids):
                return ()
            all_texts = [*texts, *(label for id in ids for label in _labels(tx, id))]
        except (BlobMissing, Unreadable, InvalidInput):
            all_texts = list(texts)
        words = sorted(
            dict.fromkeys(word for text in all_texts for word in _LONG_WORD.findall(text)), key=len, reverse=True
        )
        return tuple(word for word in words[:_MAX_WORDS] if _is_unique(tx, word, len(ids)))


def _has_shared_names(tx: Transaction, id: str) -> bool:
    """Whether an observer wrote the record around names of files and commands, which other sessions share."""
    record = tx.knowledge.get(id)
    tags = () if record is None else record.tags
    return SYNTHESIS in tags or any(tag.startswith(SIGNAL_TAG) and tag != OWN_WORDS for tag in tags)


def _labels(tx: Transaction, id: str) -> Iterator[str]:
    """Tags, strings of the payload, and names of explicitly linked entities."""
    for record in filter(None, (tx.knowledge.get(id), tx.turns.get(id), tx.episodes.get_complete(id))):
        fields = json.loads(record.to_json())
        yield from (tag for tag in fields.get("tags", ()) if not tag.startswith(SIGNAL_TAG))
        yield from _strings([fields[name] for name in _NESTED_FIELDS if name in fields])
    links = tx.entity_links.find(EntityLinkFilter(records=(id,)), limit=_MAX_ROWS).items
    entities = tx.entities.get_many(link.entity for link in links if link.explicit)
    yield from (name for entity in entities.values() for name in (entity.name, *entity.aliases))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(each)


def _is_unique(tx: Transaction, word: str, limit: int) -> bool:
    """Whether at most `limit` visible documents contain the word."""
    from treering.core.language.terms import codes_of, query_terms

    codes = [codes_of(term.forms) for term in query_terms(word, tx.index.languages())]
    if not codes:
        return False
    found = tx.index.candidates(IndexQuery(codes), DOCUMENT_KINDS, limit=_MAX_CANDIDATES)
    return int((found.words > 0).sum()) <= limit


def prove(scope: Scope, store: Store, now: datetime, pieces: Sequence[str]) -> Proof:
    """Search for the pieces and explain each place that still contains one."""
    traces = store.find_traces(scope, now, pieces)
    found = (Remnant(each.place, each.record, each.needle, _meaning(each.place, each.record)) for each in traces.found)
    return Proof(traces.files, traces.size, len(pieces), tuple(found))


_MEANINGS = {
    "revisions": "an earlier version of another record with the same words; it is removed with that record",
    "sessions": "a session with the same words from another source",
    "audit": "a note about another record; it is removed with that record",
    "observed_sessions": "an observed session with the same words; `memory.sessions.forget` removes it",
    "scratchpads": "an observed session with the same words; `memory.sessions.forget` removes it",
    "injected_items": "what a session was given, with the same words; it is removed with its record or session",
    "signal_evidence": "evidence of other sessions with the same words; it is removed with its record or session",
}


def _meaning(place: str, record: str) -> str:
    table = place.partition(".")[0]
    if table.startswith("code_"):
        return "your code contains the same words: change the file and index it, or run `treering index --forget`"
    if not record:
        return "an unexpected copy: run `treering doctor --repair`, then prove again"
    if table in _RECORD_TABLES:
        return "another record with the same words; forget it too if necessary"
    return _MEANINGS.get(table, "a row with the same words")


def _texts(tx: Transaction, id: str) -> Iterator[str]:
    records: tuple[Any, ...] = (tx.knowledge.get(id), tx.turns.get(id), tx.episodes.get_complete(id))
    for record in filter(None, records):
        fields = json.loads(record.to_json())
        yield from (fields[name] for name in _TEXT_FIELDS & fields.keys() if fields[name])
        if not _has_shared_names(tx, id):
            yield from _prose([fields[name] for name in _NESTED_FIELDS & fields.keys()])
    revisions = tx.revisions.find(RevisionFilter.make(subjects=(id,)), limit=_MAX_ROWS).items
    for revision in revisions:
        if revision.before:
            yield from _texts_of_revision(revision)
    pattern = tx.patterns.get(id)
    if pattern is not None:
        yield from _texts_of_pattern(pattern)


def _texts_of_revision(revision: Revision) -> Iterator[str]:
    if revision.kind == "knowledge":
        yield Knowledge.from_json(revision.before).content
    elif revision.kind == "pattern":
        yield from _texts_of_pattern(Pattern.from_json(revision.before))


def _texts_of_pattern(pattern: Pattern) -> Iterator[str]:
    fields = json.loads(pattern.to_json())
    yield from _prose([fields[name] for name in _PATTERN_FIELDS])


def _prose(value: Any) -> Iterator[str]:
    """Texts of several words inside a value; a single word may be an enum value, an id or a date."""
    if isinstance(value, str):
        if len(value.split()) > 1:
            yield value
    elif isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _prose(each)
