"""Shows that what was removed for good is gone: its words are looked for in everything that is stored."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from treering.core.errors import BlobMissing, InvalidInput, Unreadable
from treering.core.history import Revision
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

# What holds a record's own words; the rest are names that others carry too.
_TEXTS = frozenset({"content", "text", "citation"})
_NESTED = frozenset({"payload", "metadata", "task", "outcome", "execution", "reflection"})
_OF_PATTERNS = ("name", "summary", "description", "explanation", "content", "guidance", "deprecation_reason")
# Shorter pieces stand in any file of some size by chance.
_SHORTEST = 8
_SOURCES = ("knowledge", "turns", "episodes", "events", "patterns", "entities")
_MOST = 1_000
_LONG_WORD = re.compile(rf"\w{{{_SHORTEST},40}}")
_MOST_WORDS = 40
_FEW = 10


@dataclass(frozen=True, slots=True)
class Remains:
    """Where some of the removed words still stand, and what that means."""

    place: str
    record: str
    piece: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What a search for the removed words came to; `files` are tables on a server."""

    files: int
    size: int
    pieces: int
    remains: tuple[Remains, ...]

    @property
    def clean(self) -> bool:
        return not self.remains

    def __str__(self) -> str:
        if not self.pieces:
            return "not searched: too little was said to know a copy by"
        searched = f"searched {self.files:,} files, {self.size:,} bytes"
        if self.clean:
            return f"{searched}: no trace"
        held = "; ".join(dict.fromkeys(f"{each.place} {each.record}".strip() for each in self.remains))
        return f"{searched}: still in {held}"


Sweep = Callable[[Scope, float], object]
"""Remove the blobs of purged records of a scope, waiting at most this many seconds for other workers."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A record that was removed for good. It knows the words to look for, until it is let go."""

    id: str
    prove: Callable[[], Proof]
    """Look for the words now: reads everything that is stored, a second for each gigabyte or so."""


def forget_for_good(
    scope: Scope,
    operations: KnowledgeOperations,
    clock: Clock,
    id: str,
    *,
    sweep: Sweep,
    settings: Settings,
) -> Forgotten:
    """Remove a record with every copy of it; the words to look for are read before."""
    store = operations.store
    with store.reading(scope, clock()) as tx:
        ids = (id, *earlier_wordings(tx, id))
    texts = [text for each in ids for text in words_of(scope, store, clock(), each)]
    pieces = (*pieces_of(texts), *own_words(scope, store, clock(), ids, texts))
    operations.purge(scope, clock(), id)
    sweep(scope, settings.store.busy_seconds)
    store.erase_traces()
    return Forgotten(id, lambda: prove(scope, store, clock(), pieces))


def words_of(scope: Scope, store: Store, now: datetime, id: str) -> tuple[str, ...]:
    """Every text that belongs to a record alone, also from its earlier states; nothing where it cannot be read."""
    with store.reading(scope, now) as tx:
        try:
            texts = list(_texts(tx, id))
        except (BlobMissing, Unreadable, InvalidInput):
            texts = []
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


def pieces_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Pieces by which a copy would be known: short texts whole, of longer ones some from all over."""
    each, length = [text.strip() for text in texts if text.strip()], PROOF_CHARACTERS
    chosen: dict[str, None] = {}
    for text in sorted(each, key=len, reverse=True):
        last = max(0, len(text) - length)
        places = [*range(0, last, length), last]
        step = max(1, len(places) * len(each) // PROOF_PIECES)
        chosen |= dict.fromkeys(text[place : place + length] for place in places[::step])
    return tuple(piece for piece in chosen if len(piece.strip()) >= _SHORTEST)[:PROOF_PIECES]


def own_words(scope: Scope, store: Store, now: datetime, ids: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Words of these records that no other record holds: a copy of such a word is a copy of one of them."""
    if not all(map(is_key, ids)):
        return ()
    with store.reading(scope, now) as tx:
        try:
            said = [*texts, *(label for id in ids for label in _labels(tx, id))]
        except (BlobMissing, Unreadable, InvalidInput):
            said = list(texts)
        words = sorted(dict.fromkeys(word for text in said for word in _LONG_WORD.findall(text)), key=len, reverse=True)
        return tuple(word for word in words[:_MOST_WORDS] if _is_own(tx, word, len(ids)))


def _labels(tx: Transaction, id: str) -> Iterator[str]:
    """Tags, single words of a payload, and names that the record was linked to by hand."""
    for record in filter(None, (tx.knowledge.get(id), tx.turns.get(id), tx.episodes.get_complete(id))):
        fields = json.loads(record.to_json())
        yield from _strings([fields[name] for name in ("tags", *_NESTED) if name in fields])
    links = tx.entity_links.find(EntityLinkFilter(records=(id,)), limit=_MOST).items
    entities = tx.entities.get_many(link.entity for link in links if link.explicit)
    yield from (name for entity in entities.values() for name in (entity.name, *entity.aliases))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(each)


def _is_own(tx: Transaction, word: str, limit: int) -> bool:
    """Whether at most `limit` documents of those that this scope sees hold it."""
    from treering.core.language.terms import codes_of, query_terms

    codes = [codes_of(term.forms) for term in query_terms(word, tx.index.languages())]
    if not codes:
        return False
    found = tx.index.candidates(IndexQuery(codes), DOCUMENT_KINDS, limit=_FEW)
    return int((found.words > 0).sum()) <= limit


def prove(scope: Scope, store: Store, now: datetime, pieces: Sequence[str]) -> Proof:
    """Look for the pieces; what still holds one is named with what it is."""
    traces = store.find_traces(scope, now, pieces)
    found = (Remains(each.place, each.record, each.needle, _meaning(each.place, each.record)) for each in traces.found)
    return Proof(traces.files, traces.size, len(pieces), tuple(found))


_ELSEWHERE = {
    "revisions": "an earlier state of another record that said the same words; it leaves with that record",
    "sessions": "a session that holds the same words from another source",
    "audit": "a note about another record; it leaves with that record",
}


def _meaning(place: str, record: str) -> str:
    table = place.partition(".")[0]
    if table.startswith("code_"):
        return "your code says the same words: change the file and index it, or run `treering index --forget`"
    if not record:
        return "a copy that should not be: run `treering doctor --repair`, then look again"
    if table in _SOURCES:
        return "another record that says the same words; forget it too if it must go"
    return _ELSEWHERE.get(table, "a row that holds the same words")


def _texts(tx: Transaction, id: str) -> Iterator[str]:
    records: tuple[Any, ...] = (tx.knowledge.get(id), tx.turns.get(id), tx.episodes.get_complete(id))
    for record in filter(None, records):
        fields = json.loads(record.to_json())
        yield from (fields[name] for name in _TEXTS & fields.keys() if fields[name])
        yield from _prose([fields[name] for name in _NESTED & fields.keys()])
    revisions = tx.revisions.find(RevisionFilter.make(subjects=(id,)), limit=_MOST).items
    for revision in revisions:
        if revision.before:
            yield from _said_before(revision)
    pattern = tx.patterns.get(id)
    if pattern is not None:
        yield from _said_by(pattern)


def _said_before(revision: Revision) -> Iterator[str]:
    if revision.kind == "knowledge":
        yield Knowledge.from_json(revision.before).content
    elif revision.kind == "pattern":
        yield from _said_by(Pattern.from_json(revision.before))


def _said_by(pattern: Pattern) -> Iterator[str]:
    fields = json.loads(pattern.to_json())
    yield from _prose([fields[name] for name in _OF_PATTERNS])


def _prose(value: Any) -> Iterator[str]:
    """The texts inside a value; a single word may be a choice, an id or a date."""
    if isinstance(value, str):
        if len(value.split()) > 1:
            yield value
    elif isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _prose(each)
