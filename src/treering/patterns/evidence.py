"""Evidence of each pattern, from its applications counted by session in the database."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter

from treering.core.patterns import Pattern, PatternStatus
from treering.core.queries import PatternFilter
from treering.core.scope import Scope
from treering.core.settings.patterns import PatternSettings
from treering.patterns.audience import Audience, audiences
from treering.patterns.base_rates import Tallies, base_rates_without, losses_of
from treering.patterns.merge import MERGED_FROM
from treering.patterns.statistics import BaseRates, Tally
from treering.patterns.storage import stored_pattern
from treering.patterns.validation import MeasuredPattern, SessionCount, Trial, measure_trial
from treering.ports.patterns import PatternUse, SessionOutcomes, UsedEpisode
from treering.ports.store import Store, Transaction

_FIRST_GENERATION = 1
# Up to this many patterns are named in queries; with more, all applications are read.
_MAX_NAMED = 500
_BY_SESSION = attrgetter("session")
Part = tuple[str, int]
"""A pattern and a generation of its evidence."""


@dataclass(frozen=True, slots=True)
class EvidenceCounts:
    """All evidence for a validation, read in one transaction."""

    patterns: Mapping[str, Pattern]
    tested: Mapping[str, MeasuredPattern]
    parts: Mapping[str, frozenset[Part]]
    """The patterns and generations whose applications are the evidence of each pattern."""
    used: Mapping[str, PatternUse]
    retired: int
    """Tests of deprecated and forgotten patterns, which count among all tests."""


def count_evidence(tx: Transaction, audience: Audience, settings: PatternSettings) -> EvidenceCounts:
    """Measure every active pattern, streaming their sessions to bound memory."""
    ever = [each for each in tx.patterns.stream(PatternFilter(deleted=None)) if audience.owns(each.visibility)]
    present = {each.id: each for each in ever if each.deleted_at is None}
    active = {id: each for id, each in present.items() if each.status is not PatternStatus.DEPRECATED}
    bases = BaseRates(
        {name: Tally(*counted) for name, counted in tx.applications.outcomes_by_session().items()}, settings
    )
    named = list(present) if len(present) <= _MAX_NAMED else None
    parts = {id: frozenset(evidence_parts(each, present.get)) for id, each in active.items()}
    lost = _base_rate_losses(tx.applications.used_episodes(named) if active else (), parts)

    def measured(id: str, sessions: tuple[SessionCount, ...]) -> MeasuredPattern:
        pattern = active[id]
        trial = Trial(
            status=pattern.status,
            sessions=sessions,
            bases=base_rates_without(pattern, bases, lost.get(id, {}), sessions, settings),
            since=pattern.status_since,
            tests=test_count(pattern, bool(sessions)),
        )
        return measure_trial(trial, tx.now, settings)

    found = {id: measured(id, sessions) for id, sessions in _sessions(tx, named, active, parts)}
    return EvidenceCounts(
        patterns=active,
        tested=found | {id: measured(id, ()) for id in active.keys() - found.keys()},
        parts=parts,
        used=tx.applications.used(named) if active else {},
        retired=sum(each.evidence.tests for each in ever if each.id not in active),
    )


def pattern_with_usage(tx: Transaction, id: str) -> Pattern:
    """The pattern with its uses counted up to now, including those after the last validation."""
    found = stored_pattern(tx, id)
    ids = [part for part, _ in evidence_parts(found, tx.patterns.get)]
    used = total_usage(ids, tx.applications.used(ids))
    if used is None or (used.times, used.last_at) == (found.usage_count, found.last_used_at):
        return found
    return found.replace(usage_count=max(found.usage_count, used.times), last_used_at=used.last_at)


def total_usage(ids: Iterable[str], used: Mapping[str, PatternUse]) -> PatternUse | None:
    """Uses of several patterns together; None if none was used."""
    some = [used[id] for id in ids if id in used]
    return PatternUse(sum(each.times for each in some), max(each.last_at for each in some)) if some else None


def test_count(pattern: Pattern, has_sessions: bool) -> int:
    """Tests begun so far: a generation counts from its first session, a review at once."""
    evidence = pattern.evidence
    return evidence.tests + (has_sessions and evidence.tested != evidence.generation)


def sessions_of_pattern(scope: Scope, store: Store, now: datetime, id: str) -> tuple[SessionCount, ...]:
    """Outcomes of a pattern in its present form by session; for one under review, including those before the review."""
    with store.reading(scope, now) as tx:
        pattern = stored_pattern(tx, id)
    (judged_by,) = (each.scope for each in audiences(scope) if each.owns(pattern.visibility))
    with store.reading(judged_by, now) as tx:
        return _count_sessions(tx, frozenset(evidence_parts(pattern, tx.patterns.get)))


def evidence_parts(pattern: Pattern, get: Callable[[str], Pattern | None]) -> Iterator[Part]:
    """The pattern and, unless its evidence was reset, those merged into it, transitively, each with its generation."""
    pending, seen = [pattern], set[str]()
    while pending:
        each = pending.pop()
        seen.add(each.id)
        yield each.id, each.evidence.generation
        merged = each.metadata.get(MERGED_FROM, ()) if each.evidence.generation == _FIRST_GENERATION else ()
        pending += [found for id in merged if id not in seen and (found := get(id)) is not None]


def _base_rate_losses(used: Iterable[UsedEpisode], parts: Mapping[str, frozenset[Part]]) -> dict[str, Tallies]:
    """Base-rate losses of each pattern; an episode that used two of its parts is left out once."""
    owners = defaultdict[str, list[str]](list)
    for id, of in parts.items():
        for part in {part for part, _ in of}:
            owners[part].append(id)
    found, held = dict[str, Tallies](), defaultdict[str, list[UsedEpisode]](list)
    for part, rows in groupby(used, key=attrgetter("pattern")):
        if owners[part] == [part] and len(parts[part]) == 1:
            found[part] = losses_of(rows)
        elif owners[part]:
            shared = list(rows)
            for id in owners[part]:
                held[id] += shared
    return found | {id: losses_of(rows) for id, rows in held.items()}


def _sessions(
    tx: Transaction, named: Sequence[str] | None, active: Mapping[str, Pattern], parts: Mapping[str, frozenset[Part]]
) -> Iterator[tuple[str, tuple[SessionCount, ...]]]:
    """Sessions of each pattern that has any. Only the rows of merged patterns are held until all are read."""
    # Applications before a review do not count, even in a session that continued after it.
    since = {id: each.status_since for id, each in active.items() if each.status is PatternStatus.UNDER_REVIEW}
    single = {id: each.evidence.generation for id, each in active.items() if len(parts[id]) == 1 and id not in since}
    joined = {part: id for id, of in parts.items() if id not in single and id not in since for part in of}
    held = defaultdict[str, list[SessionOutcomes]](list)
    for id, rows in groupby(tx.applications.applied(named) if active else (), key=attrgetter("pattern")):
        if id in single:
            yield id, group_by_session(row for row in rows if row.evidence == single[id])
        else:
            for row in rows:
                if (row.pattern, row.evidence) in joined:
                    held[joined[row.pattern, row.evidence]].append(row)
    for id, rows_of in held.items():
        yield id, group_by_session(sorted(rows_of, key=_BY_SESSION))
    for id, moment in since.items():
        yield id, _count_sessions(tx, parts[id], moment)


def _count_sessions(tx: Transaction, parts: frozenset[Part], since: datetime | None = None) -> tuple[SessionCount, ...]:
    rows = tx.applications.applied([id for id, _ in parts], since=since)
    return group_by_session(sorted((row for row in rows if (row.pattern, row.evidence) in parts), key=_BY_SESSION))


def group_by_session(rows: Iterable[SessionOutcomes]) -> tuple[SessionCount, ...]:
    """One count per session, oldest session first; rows of one session must be adjacent."""
    sessions = (_session(list(group)) for _, group in groupby(rows, key=_BY_SESSION))
    return tuple(sorted(sessions, key=attrgetter("at")))


def _session(rows: Sequence[SessionOutcomes]) -> SessionCount:
    if len(rows) == 1:
        (row,) = rows
        return SessionCount(row.last_at, row.successes, row.partial, row.n, ((row.task_type, row.n),))
    types = Counter[str | None]()
    for row in rows:
        types[row.task_type] += row.n
    return SessionCount(
        at=max(row.last_at for row in rows),
        successes=sum(row.successes for row in rows),
        partial=sum(row.partial for row in rows),
        n=sum(row.n for row in rows),
        task_types=tuple(types.items()),
    )
