"""What the sources of an injection may read, and look-ups that several of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from treering.context.injection.candidates import InjectionCandidate, record_candidate
from treering.context.injection.gate import InjectionGate
from treering.core.injection_rules import WARNING_CONFIDENCE
from treering.core.observations import evidence_id
from treering.core.queries import KnowledgeFilter, ObservedSessionFilter, Order, SearchedKind, SearchFilter
from treering.core.records import Knowledge

if TYPE_CHECKING:
    from treering.context.injection.occasions import SessionSoFar
    from treering.context.prefetch.ranking import PrefetchedFile
    from treering.core.injections import InjectedItem, Occasion
    from treering.core.observations import ObservedSession
    from treering.patterns.matching.ranking import RankedPattern
    from treering.ports.store import Transaction
    from treering.search.answer import Answer, Hit

TRUSTED = KnowledgeFilter(deprecated=False, flagged=False)
WARNING_TYPES = ("gotcha", "error_pattern", "dead_end")
MAX_LISTED = 40  # records of a filter that are considered, newest first
MAX_HITS = 8
WORK_AGE = timedelta(days=7)  # a later session has other work
MAX_FILES = 8  # files of an occasion that are looked up
_RECENT_SESSIONS = 5


@dataclass(frozen=True)
class InjectionLookup:
    """One offer: what happens, the transaction that reads, and the searches that may be asked."""

    tx: Transaction
    occasion: Occasion
    gate: InjectionGate
    given: tuple[InjectedItem, ...]
    """Everything that the session was given, also before its context was compacted."""
    so_far: SessionSoFar
    search: Callable[..., Answer]
    prefetch: Callable[..., tuple[PrefetchedFile, ...]]
    find_patterns: Callable[..., tuple[RankedPattern, ...]]
    in_time: Callable[[], bool]
    """Whether the deadline is not reached: asked before each source."""

    @cached_property
    def recent_sessions(self) -> tuple[ObservedSession, ...]:
        """The last finished sessions, newest first, without the current one."""
        where, order = ObservedSessionFilter(finished=True), Order(by="started_at")
        found = self.tx.observed_sessions.find(where, order=order, limit=_RECENT_SESSIONS + 1).items
        return tuple(each for each in found if each.id != self.occasion.session)[:_RECENT_SESSIONS]

    @cached_property
    def _recent_files(self) -> list[frozenset[str]]:
        return [frozenset(file.path for file in each.files) for each in self.recent_sessions]

    def recent_share(self, record: Knowledge) -> float | None:
        """Share of the last sessions that touched a file of the record; None if it names none, or none is known.

        A session that went just before counts twice: work goes on where it stopped.
        """
        if not record.files or not self._recent_files:
            return None
        own = frozenset(record.files)
        touched = [bool(own & files) for files in self._recent_files]
        return (touched[0] + sum(touched)) / (1 + len(touched))

    def newest(self, where: KnowledgeFilter, limit: int = MAX_LISTED) -> Iterator[Knowledge]:
        for match in self.tx.knowledge.newest(where, limit=limit):
            if self.gate.admits(match.value):
                yield match.value

    def matching(self, query: str, *, types: tuple[str, ...] = (), precise: bool) -> list[tuple[Hit, Knowledge]]:
        """Knowledge of other sessions that matches the query, best first."""
        where = SearchFilter(
            kinds=(SearchedKind.KNOWLEDGE,), types=types, not_sessions=(self.occasion.session,), tainted=None
        )
        answer = self.search(
            query,
            where=where,
            limit=MAX_HITS,
            files=self.occasion.files[:MAX_FILES],
            thorough=False,
            precise=precise,
            private=True,
            note_access=False,
            catch_up=False,
        )
        hits = ((hit, hit.record) for hit in answer if isinstance(hit.record, Knowledge))
        return [(hit, record) for hit, record in hits if self.gate.admits(record)]

    def promoted(self, signal: str, subject: str) -> Knowledge | None:
        """The record that a signal about this subject became, if it may be given."""
        evidence = self.tx.evidence.get(evidence_id(signal, subject))
        record = None if evidence is None or evidence.record is None else self.tx.knowledge.get(evidence.record)
        return record if record is not None and self.gate.admits(record) else None

    def warnings(self, files: Iterable[str], section: str) -> Iterator[InjectionCandidate]:
        """What went wrong before in these files; records about few files first."""
        named = tuple(dict.fromkeys(files))[:MAX_FILES]
        if not named:
            return
        for record in self.newest(TRUSTED.replace(types=WARNING_TYPES, files=named)):
            if record.is_from_person or self.gate.confidence(record) >= WARNING_CONFIDENCE:
                # A record about many files says less about each of them.
                about = len(set(record.files) & set(named)) / len(record.files)
                path = next(each for each in named if each in record.files)
                yield record_candidate(record, section, 0.45 + 0.25 * about, f"about {path}, just touched")
