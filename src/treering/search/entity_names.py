"""Entities named in a query, and the records that mention them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from treering.core.language.folding import bare
from treering.core.language.scripts import SPACELESS
from treering.core.statements import same_name
from treering.core.values import LABEL_BYTES

if TYPE_CHECKING:
    from treering.core.entities import Entity
    from treering.ports.store import Transaction

MAX_NAMES = 250  # word sequences of a query looked up as names: all of them in a query of sixty words
MAX_ENTITIES = 8  # named entities that are followed, the longest names first; each costs a look-up
MAX_LINKS = 100  # an entity that more records mention says nothing about any of them
MAX_MERGES = 5  # merges from an entity to the one that remains; more is a cycle

_MAX_NAME_WORDS = 4
_MAX_NAME_CHARACTERS = 8
# Splits words as `same_name` does: `next.js`, `c++` and `c#` are words, other punctuation separates words.
_WORD = re.compile(r"[^\W_]+(?:\.[^\W_]+)*(?:\+\+|#)?")


@cache
def _spaceless() -> re.Pattern[str]:
    return re.compile(f"[{SPACELESS}]{{2,}}")


@dataclass(frozen=True, slots=True)
class NameSpan:
    """Consecutive words that may be a name, without surrounding punctuation; positions are counted in words."""

    text: str
    start: float
    end: float

    def is_inside(self, other: NameSpan) -> bool:
        """Whether the other span contains this one and is longer."""
        own, outer = (self.start, self.end), (other.start, other.end)
        return own != outer and outer[0] <= own[0] and own[1] <= outer[1]


NameKeys = Callable[[NameSpan], Iterable[str]]
"""Returns the `same_name` keys of the entities that a span may refer to."""


@dataclass(frozen=True, slots=True)
class EntityMatch:
    """An entity named in a query, the ids of entities merged into it, and the spans that name it."""

    entity: Entity
    ids: tuple[str, ...]
    spans: tuple[NameSpan, ...]


def entities_in_query(tx: Transaction, query: str) -> tuple[EntityMatch, ...]:
    """Entities that the query names by name or alias, each once; a name inside a longer one is ignored."""
    return entities_named(tx, name_spans(query, MAX_NAMES), exact_key, MAX_ENTITIES)


def query_name_keys(query: str) -> tuple[str, ...]:
    """Keys of all names that `entities_in_query` looks up."""
    return tuple(dict.fromkeys(key for span in name_spans(query, MAX_NAMES) for key in exact_key(span)))


def exact_key(span: NameSpan) -> tuple[str, ...]:
    key = same_name(span.text)
    return (key,) if any(map(str.isalnum, key)) else ()


def entities_named(
    tx: Transaction, spans: Sequence[NameSpan], name_keys: NameKeys, limit: int
) -> tuple[EntityMatch, ...]:
    """Entities that the spans name, at most `limit`, those with the longest names first."""
    keys: dict[str, list[NameSpan]] = {}

    def read_keys() -> Iterable[str]:
        for span in spans:
            for key in name_keys(span):
                keys.setdefault(key, []).append(span)
        return keys

    found = tx.entities.by_names(read_keys) if spans else {}
    spans_by_id = {id: _spans_of(entity, keys) for id, entity in found.items()}
    used = {span for own in spans_by_id.values() for span in own}
    outer = {id: tuple(span for span in own if not any(map(span.is_inside, used))) for id, own in spans_by_id.items()}
    longest = sorted((id for id in outer if outer[id]), key=lambda id: (-_length(outer[id]), found[id].name))
    named: dict[str, EntityMatch] = {}
    for entity, survivor in _survivors(tx, [found[id] for id in longest]):
        before = named.get(survivor.id, EntityMatch(survivor, (survivor.id,), ()))
        ids, own = dict.fromkeys((*before.ids, entity.id)), dict.fromkeys((*before.spans, *outer[entity.id]))
        named[survivor.id] = replace(before, ids=tuple(ids), spans=tuple(own))
    return _with_merged(tx, tuple(named.values())[:limit])


def mentions_of(tx: Transaction, named: EntityMatch) -> Mapping[tuple[str, str], float]:
    """Confidence by kind and id of the records that mention the entity, the newest link first.

    Of links from the same time, the one of the newer record comes first: ids of links are hashes, ids of records sort
    by time. Empty if more than `MAX_LINKS` records mention the entity.
    """
    links = tx.entities.links(named.ids, limit=MAX_LINKS + 1)
    if len(links) > MAX_LINKS:
        return {}
    confidences: dict[tuple[str, str], float] = {}
    for link in sorted(links, key=lambda link: (link.created_at, link.record), reverse=True):
        key = link.record_kind, link.record
        confidences[key] = max(link.confidence, confidences.get(key, 0.0))
    return confidences


def name_spans(text: str, limit: int) -> tuple[NameSpan, ...]:
    """Spans of the text that may be a name: up to four words each, from its beginning.

    In scripts without spaces, spans of characters. Surrounding punctuation and grammatical suffixes are removed.
    """
    return tuple(span for span in islice(_spans(bare(text), limit), limit) if _may_be_a_name(span.text))


def _spans_of(entity: Entity, keys: Mapping[str, Sequence[NameSpan]]) -> tuple[NameSpan, ...]:
    """The spans that name the entity; of two that differ only by an article, the shorter one."""
    own = dict.fromkeys(same_name(name) for name in (entity.name, *entity.aliases))
    found: dict[NameSpan, None] = {}
    for key in own:
        spans = keys.get(key, ())
        found.update(dict.fromkeys(span for span in spans if not any(other.is_inside(span) for other in spans)))
    return tuple(found)


def _length(spans: Iterable[NameSpan]) -> int:
    return max(len(span.text) for span in spans)


def _survivors(tx: Transaction, entities: Sequence[Entity]) -> Iterator[tuple[Entity, Entity]]:
    """Each entity with the one that it was finally merged into; omitted if that is deleted or a cycle."""
    ends = {entity.id: entity for entity in entities}
    for _ in range(MAX_MERGES):
        merged = {id: entity.merged_into for id, entity in ends.items() if entity.merged_into}
        if not merged:
            break
        into = tx.entities.get_many(merged.values())
        ends = {id: into.get(merged[id], end) if id in merged else end for id, end in ends.items()}
    for entity in entities:
        end = ends[entity.id]
        if end.merged_into is None and end.deleted_at is None:
            yield entity, end


def _with_merged(tx: Transaction, named: Sequence[EntityMatch]) -> tuple[EntityMatch, ...]:
    """Each with the ids of entities merged into it, transitively."""
    of = {id: position for position, each in enumerate(named) for id in each.ids}
    pending = tuple(of)
    for _ in range(MAX_MERGES if named else 0):
        merged = tx.entities.merged_into(pending)
        fresh = {each.id: of[each.merged_into] for each in merged if each.merged_into and each.id not in of}
        of, pending = of | fresh, tuple(fresh)
        if not pending:
            break
    return tuple(replace(each, ids=tuple(id for id in of if of[id] == position)) for position, each in enumerate(named))


def _spans(text: str, limit: int) -> Iterator[NameSpan]:
    words = list(islice(_WORD.finditer(text), limit))
    for position, word in enumerate(words):
        for last in range(position, min(position + _MAX_NAME_WORDS, len(words))):
            yield NameSpan(" ".join(text[word.start() : words[last].end()].split()), position, last + 1)
        if word[0].isascii():
            continue
        for found in _spaceless().finditer(word[0]):
            span, first, whole = found[0], found.start(), len(word[0])
            for at in range(len(span) - 1):
                for length in range(2, min(_MAX_NAME_CHARACTERS, len(span) - at) + 1):
                    start = position + (first + at) / whole
                    yield NameSpan(span[at : at + length], start, start + length / whole)


def _may_be_a_name(text: str) -> bool:
    return len(text) > 1 and text.isprintable() and len(text.encode()) <= LABEL_BYTES
