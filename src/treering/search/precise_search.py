"""Precise search: only documents that certainly match the query, possibly none, each with the reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from treering.core.language.stems import Stem, language_of, stemmer, stop_words
from treering.core.queries import Filter, KnowledgeFilter
from treering.core.records import Knowledge
from treering.core.statements import same_name
from treering.ports.index import Candidates
from treering.search.entity_names import EntityMatch, NameSpan, entities_named, exact_key, mentions_of, name_spans
from treering.search.graph_path import (
    MAX_FILES_IN_PLAY,
    MAX_RECORDS,
    GraphMatch,
    MatchedRecord,
    about_files,
    files_in,
    related,
)
from treering.search.query_terms import QueryWord, QueryWords
from treering.search.spellings import corrections, spellings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.core.settings import Settings
    from treering.ports.store import Transaction
    from treering.search.query import Question
    from treering.search.query_vector import QueryVector

MIN_LINK_CONFIDENCE = 0.5  # links to entities are followed above this (more likely than not), relations from it on
MAX_PRECISE_NAMES = 1_000  # word sequences of a query looked up as names: all of them in a message of 200 words
MAX_PRECISE_ENTITIES = 20  # named entities that are followed: twice the default number of results
MAX_MISSPELT_WORDS = 4  # unknown words looked up with a typing error; each takes about 400 look-ups


@dataclass(frozen=True)
class PreciseSearch:
    """Precise search for one question."""

    tx: Transaction
    question: Question
    meaning: QueryVector
    settings: Settings

    def matches(self, filters: Mapping[str, Filter]) -> Mapping[int, GraphMatch]:
        """Matches with their reasons, by document number.

        The filters only narrow the search: the caller must still check the matches against them.
        """
        found = {**self._similar(filters), **self._named(filters)}
        return dict(sorted(found.items()))

    def _named(self, filters: Mapping[str, Filter]) -> Mapping[int, GraphMatch]:
        """Documents that mention an entity or a file named in the query, and records related to these."""
        direct = {(match.kind, match.id): match for match in (*self._files_named(), *self._entities_named())}
        named = self._numbered(direct.values())
        return {**self._numbered(self._related(named, filters)), **named}

    def _files_named(self) -> Iterator[GraphMatch]:
        paths = files_in(self.question.text)[:MAX_FILES_IN_PLAY]
        for each in about_files(self.tx, paths) if paths else ():
            yield replace(each.match, why=f"named: {each.match.why.removeprefix('about ')}")

    def _entities_named(self) -> Iterator[GraphMatch]:
        spans = name_spans(self.question.text, MAX_PRECISE_NAMES)
        exact = entities_named(self.tx, spans, self._keys, MAX_PRECISE_ENTITIES)
        misspelt = self._misspelt(spans, {span for each in exact for span in each.spans})
        for each in (*entities_named(self.tx, misspelt, self._corrected_keys, MAX_PRECISE_ENTITIES), *exact):
            for (kind, id), confidence in mentions_of(self.tx, each).items():
                # Weak extraction rules are right half of the time: with them, one shared word would be a match.
                if confidence > MIN_LINK_CONFIDENCE:
                    yield GraphMatch(kind, id, 1.0, f"named: {_display_name(each)}")

    def _keys(self, span: NameSpan) -> Sequence[str]:
        """Keys of a span, none for a span of stop words. Stop words at its ends belong to the sentence."""
        words = same_name(span.text).split()
        if not words or self._stop_words.issuperset(words):
            return ()
        ends = {words[0], words[-1]}
        return exact_key(span) if ends & self._stop_words else tuple(spellings(span.text, self._stem))

    def _misspelt(self, spans: Sequence[NameSpan], used: set[NameSpan]) -> tuple[NameSpan, ...]:
        """Spans of one or two words around the first words that occur in no document and name no entity."""
        free = [span for span in spans if not any(span == each or span.is_inside(each) for each in used)]
        words = dict.fromkeys(span.start for span in free if span.end - span.start == 1 and self._unknown_in(span))
        places = set(tuple(words)[:MAX_MISSPELT_WORDS])
        return tuple(span for span in free if span.end - span.start <= 2 and places & {span.start, span.end - 1})

    def _corrected_keys(self, span: NameSpan) -> Iterator[str]:
        words = same_name(span.text).split()
        for place, word in enumerate(words):
            if word in self._unknown:
                yield from (" ".join((*words[:place], meant, *words[place + 1 :])) for meant in corrections(word))

    def _unknown_in(self, span: NameSpan) -> bool:
        return same_name(span.text) in self._unknown

    @cached_property
    def _unknown(self) -> frozenset[str]:
        return self._query_words.unknown()

    def _related(self, named: Mapping[int, GraphMatch], filters: Mapping[str, Filter]) -> Iterator[GraphMatch]:
        """Records one relation away from named records that pass the filters, superseded ones included."""
        where = filters.get("knowledge")
        if not isinstance(where, KnowledgeFilter) or not named:
            return
        including_superseded = {"knowledge": where.replace(deprecated=None, valid_at=None)}
        seeds = self.tx.index.matching_ids(including_superseded, np.fromiter(sorted(named), np.int64, len(named)))
        ids = [id for _, id in seeds.values()][:MAX_RECORDS]
        records = self.tx.knowledge.readable(ids) if ids else ()
        reached = [MatchedRecord(GraphMatch("knowledge", match.value.id, 1.0, ""), match.value) for match in records]
        for each in related(self.tx, reached):
            if each.match.weight >= MIN_LINK_CONFIDENCE and isinstance(each.record, Knowledge):
                yield GraphMatch("knowledge", each.match.id, each.match.weight, f"related: {each.match.why}")

    def _similar(self, filters: Mapping[str, Filter]) -> Mapping[int, GraphMatch]:
        """Documents with most of the query's words or nearly the same meaning, among the best by words and vector.

        If the filters exclude some of the best, the best of the passing documents count instead.
        """
        index, kinds, limit = self.tx.index, tuple(filters), self.settings.search.candidates
        wanted = self.meaning.wanted(self._query_words.codes())
        seen = self.meaning.candidates(self.tx, wanted, kinds, most=limit)
        holding = self._query_words.holding(kinds)
        by_words = None if holding is None else self._query_words.matches(holding)
        if int((seen.words > 0).sum()) < limit:
            return self._accepted(seen, by_words)
        if by_words is not None and self._includes_all(seen, by_words, limit):
            found = self._accepted(seen, by_words)
            passing = index.matching_ids(filters, np.array(sorted(found), np.int64)) if found else {}
            return {number: found[number] for number in passing}
        if len(index.matching_ids(filters, np.sort(seen.number))) < len(seen):
            among = index.matching_numbers(filters)
            seen = self.meaning.candidates(self.tx, wanted, kinds, most=limit, among=among)
        return self._accepted(seen, by_words)

    def _includes_all(self, seen: Candidates, by_words: Collection[int], limit: int) -> bool:
        """Whether the best `limit` include all matches of the project, so that excluding some can add no match."""
        best = seen.number[seen.words > np.partition(seen.words, -limit)[-limit]]
        return len(self._alike(seen)) < limit and frozenset(best.tolist()).issuperset(by_words)

    def _accepted(
        self, seen: Candidates, by_words: Mapping[int, Sequence[QueryWord]] | None
    ) -> Mapping[int, GraphMatch]:
        """Those of the documents that match; `by_words` holds the matches by words if they are known."""
        found = {
            int(seen.number[row]): GraphMatch("", "", 0.0, f"similar meaning: {self._similarity(seen)[row]:.2f}")
            for row in self._alike(seen)
        }
        if by_words is None:
            by_words = self._query_words.matches(np.sort(seen.number[seen.words > 0]))
        for number in by_words.keys() & set(seen.number.tolist()):
            words = ", ".join(word.term.word for word in by_words[number])
            found[number] = GraphMatch("", "", 0.0, f"words: {words}")
        return found

    def _alike(self, seen: Candidates) -> list[int]:
        """Rows of the documents with nearly the same meaning."""
        return np.flatnonzero(self._similarity(seen) >= self.settings.precise.likeness).tolist()

    def _similarity(self, seen: Candidates) -> NDArray[np.float64]:
        return self.meaning.reliability * np.nan_to_num(seen.meaning)

    @cached_property
    def _query_words(self) -> QueryWords:
        return QueryWords(self.question, self.tx.index, self._stop_words, self.settings.precise)

    @cached_property
    def _language(self) -> str:
        return language_of(self.question.text, self.tx.index.languages()) or "en"

    @cached_property
    def _stop_words(self) -> frozenset[str]:
        return stop_words(self._language) | stop_words("en")

    @cached_property
    def _stem(self) -> Stem:
        return stemmer(self._language)

    def _numbered(self, matches: Iterable[GraphMatch]) -> Mapping[int, GraphMatch]:
        by_kind: dict[str, dict[str, GraphMatch]] = {}
        for match in matches:
            by_kind.setdefault(match.kind, {}).setdefault(match.id, match)
        found: dict[int, GraphMatch] = {}
        for kind, of_kind in by_kind.items():
            found |= {number: of_kind[id] for id, number in self.tx.documents.numbers(kind, list(of_kind)).items()}
        return found


def _display_name(named: EntityMatch) -> str:
    """The name used in the query, followed by the entity's own name if that differs."""
    called = named.spans[0].text
    return called if same_name(called) == same_name(named.entity.name) else f"{called} ({named.entity.name})"
