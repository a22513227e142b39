"""Precise recall: only what a query is really about, possibly nothing, each document with the reason why it passed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from treering.core.language.stems import Stem, language_of, stemmer, stop_words
from treering.core.queries import Filter, KnowledgeFilter
from treering.core.records import Knowledge
from treering.core.statements import same_name
from treering.ports.index import Candidates
from treering.search.entity_names import Named, Run, as_written, entities_named, records_of, runs_in
from treering.search.graph_path import MAX_FILES_IN_PLAY, MAX_RECORDS, Reached, Tie, about_files, files_in, related
from treering.search.query_terms import Telling
from treering.search.spellings import slips, spellings

if TYPE_CHECKING:
    from treering.core.settings import Settings
    from treering.ports.store import Transaction
    from treering.search.query import Question
    from treering.search.query_vector import Meaning

MIN_LINK_CONFIDENCE = 0.5  # links to entities are followed above this (more likely than not), relations from it on
MAX_PRECISE_NAMES = 1_000  # word sequences of a query looked up as names: all of them in a message of 200 words
MAX_PRECISE_ENTITIES = 20  # named entities that are followed: twice the default number of results
MAX_MISSPELT_WORDS = 4  # unknown words looked up with a typing error; each takes about 400 look-ups


@dataclass(frozen=True)
class Precise:
    """The documents that one question is about."""

    tx: Transaction
    question: Question
    meaning: Meaning
    settings: Settings

    def passed(self, filters: Mapping[str, Filter]) -> Mapping[int, Tie]:
        """What passed, by the number of its document, with the reason.

        The filters say only where to look: whoever shows these holds them against the filters.
        """
        found = {**self._alike(filters), **self._named(filters)}
        return dict(sorted(found.items()))

    def _named(self, filters: Mapping[str, Filter]) -> Mapping[int, Tie]:
        """What speaks of an entity or a file that the query names, and what relations tie to that."""
        direct = {(tie.kind, tie.id): tie for tie in (*self._files_named(), *self._entities_named())}
        named = self._numbered(direct.values())
        return {**self._numbered(self._related(named, filters)), **named}

    def _files_named(self) -> Iterator[Tie]:
        paths = files_in(self.question.text)[:MAX_FILES_IN_PLAY]
        for each in about_files(self.tx, paths) if paths else ():
            yield replace(each.tie, why=f"named: {each.tie.why.removeprefix('about ')}")

    def _entities_named(self) -> Iterator[Tie]:
        runs = runs_in(self.question.text, MAX_PRECISE_NAMES)
        exact = entities_named(self.tx, runs, self._spelled, MAX_PRECISE_ENTITIES)
        slipped = self._misspelt(runs, {run for each in exact for run in each.runs})
        for each in (*entities_named(self.tx, slipped, self._slipped, MAX_PRECISE_ENTITIES), *exact):
            for (kind, id), confidence in records_of(self.tx, each).items():
                # A name that rules read in passing has even odds: following it would let one shared word pass as proof.
                if confidence > MIN_LINK_CONFIDENCE:
                    yield Tie(kind, id, 1.0, f"named: {_called(each)}")

    def _spelled(self, run: Run) -> Sequence[str]:
        """A name may hold words of grammar, but it is not made of them; at its ends they belong to the sentence."""
        words = same_name(run.text).split()
        if not words or self._grammar.issuperset(words):
            return ()
        ends = {words[0], words[-1]}
        return as_written(run) if ends & self._grammar else tuple(spellings(run.text, self._stem))

    def _misspelt(self, runs: Sequence[Run], used: set[Run]) -> tuple[Run, ...]:
        """The first words that nobody wrote and that name nothing as they are, alone and beside another word."""
        free = [run for run in runs if not any(run == each or run.is_inside(each) for each in used)]
        most = MAX_MISSPELT_WORDS
        words = dict.fromkeys(run.start for run in free if run.end - run.start == 1 and self._unknown_in(run))
        places = set(tuple(words)[:most])
        return tuple(run for run in free if run.end - run.start <= 2 and places & {run.start, run.end - 1})

    def _slipped(self, run: Run) -> Iterator[str]:
        words = same_name(run.text).split()
        for place, word in enumerate(words):
            if word in self._unknown:
                yield from (" ".join((*words[:place], meant, *words[place + 1 :])) for meant in slips(word))

    def _unknown_in(self, run: Run) -> bool:
        return same_name(run.text) in self._unknown

    @cached_property
    def _unknown(self) -> frozenset[str]:
        return self._telling.unknown()

    def _related(self, named: Mapping[int, Tie], filters: Mapping[str, Filter]) -> Iterator[Tie]:
        """One hop from what the filters let through, or would if it had not been superseded since."""
        where = filters.get("knowledge")
        if not isinstance(where, KnowledgeFilter) or not named:
            return
        ever = {"knowledge": where.replace(deprecated=None, valid_at=None)}
        seeds = self.tx.index.matching_ids(ever, np.fromiter(sorted(named), np.int64, len(named)))
        ids = [id for _, id in seeds.values()][:MAX_RECORDS]
        records = self.tx.knowledge.readable(ids) if ids else ()
        reached = [Reached(Tie("knowledge", match.value.id, 1.0, ""), match.value) for match in records]
        for each in related(self.tx, reached):
            if each.tie.weight >= MIN_LINK_CONFIDENCE and isinstance(each.record, Knowledge):
                yield Tie("knowledge", each.tie.id, each.tie.weight, f"related: {each.tie.why}")

    def _alike(self, filters: Mapping[str, Filter]) -> Mapping[int, Tie]:
        """What holds most of the query's words, or says nearly the same."""
        seen = self._candidates(filters)
        found: dict[int, Tie] = {}
        nearness = self.meaning.reliability * np.nan_to_num(seen.meaning)
        for row in np.flatnonzero(nearness >= self.settings.precise.likeness).tolist():
            found[int(seen.number[row])] = Tie("", "", 0.0, f"says nearly the same: {nearness[row]:.2f}")
        holding = np.sort(seen.number[seen.words > 0])
        for number, (codes, _) in self.tx.index.words_of(holding).items() if len(holding) else ():
            if shared := self._telling.shared(codes):
                found[number] = Tie("", "", 0.0, f"words: {', '.join(word.term.word for word in shared)}")
        return found

    def _candidates(self, filters: Mapping[str, Filter]) -> Candidates:
        """The best by words and by vector; where the filters keep some out that hid others, among those that pass."""
        index, kinds, most = self.tx.index, tuple(filters), self.settings.search.candidates
        wanted = self.meaning.wanted(self._telling.codes())
        seen = self.meaning.candidates(self.tx, wanted, kinds, most=most)
        if int((seen.words > 0).sum()) < most or len(index.matching_ids(filters, np.sort(seen.number))) == len(seen):
            return seen
        return self.meaning.candidates(self.tx, wanted, kinds, most=most, among=index.matching_numbers(filters))

    @cached_property
    def _telling(self) -> Telling:
        return Telling(self.question, self.tx.index, self._grammar, self.settings.precise)

    @cached_property
    def _language(self) -> str:
        return language_of(self.question.text, self.tx.index.languages()) or "en"

    @cached_property
    def _grammar(self) -> frozenset[str]:
        return stop_words(self._language) | stop_words("en")

    @cached_property
    def _stem(self) -> Stem:
        return stemmer(self._language)

    def _numbered(self, ties: Iterable[Tie]) -> Mapping[int, Tie]:
        by_kind: dict[str, dict[str, Tie]] = {}
        for tie in ties:
            by_kind.setdefault(tie.kind, {}).setdefault(tie.id, tie)
        found: dict[int, Tie] = {}
        for kind, of_kind in by_kind.items():
            found |= {number: of_kind[id] for id, number in self.tx.documents.numbers(kind, list(of_kind)).items()}
        return found


def _called(named: Named) -> str:
    """As the query calls it; with its own name where that is another."""
    called = named.runs[0].text
    return called if same_name(called) == same_name(named.entity.name) else f"{called} ({named.entity.name})"
