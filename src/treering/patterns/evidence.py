"""From applications, counted by session in the database, to what the evidence of each pattern comes to."""

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
from treering.patterns.base_rates import Tallies, bases_of, left_out
from treering.patterns.merge import MERGED_FROM
from treering.patterns.statistics import BaseRates, Tally
from treering.patterns.storage import stored_pattern
from treering.patterns.validation import SessionCount, Tested, Trial, tried
from treering.ports.patterns import PatternUse, SessionOutcomes, UsedEpisode
from treering.ports.store import Store, Transaction

_FIRST = 1
# So few are looked up one by one; of more all applications are read.
_FEW = 500
_BY_SESSION = attrgetter("session")
Part = tuple[str, int]
"""A pattern and a generation of its evidence."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Everything that a verdict rests on, read in one transaction."""

    patterns: Mapping[str, Pattern]
    tested: Mapping[str, Tested]
    parts: Mapping[str, frozenset[Part]]
    """Where the evidence of each stands."""
    used: Mapping[str, PatternUse]
    retired: int
    """Tests of patterns that are deprecated or forgotten: they were tried, too."""


def count_evidence(tx: Transaction, audience: Audience, settings: PatternSettings) -> Counted:
    """Measure every living pattern; sessions are let go as soon as they are measured, however many there are."""
    ever = [each for each in tx.patterns.stream(PatternFilter(deleted=None)) if audience.owns(each.visibility)]
    everything = {each.id: each for each in ever if each.deleted_at is None}
    living = {id: each for id, each in everything.items() if each.status is not PatternStatus.DEPRECATED}
    bases = BaseRates({name: Tally(*counted) for name, counted in tx.applications.outcomes_by_session().items()})
    named = list(everything) if len(everything) <= _FEW else None
    parts = {id: frozenset(parts_of(each, everything.get)) for id, each in living.items()}
    lost = _lost(tx.applications.used_episodes(named) if living else (), parts)

    def measured(id: str, sessions: tuple[SessionCount, ...]) -> Tested:
        pattern = living[id]
        trial = Trial(
            status=pattern.status,
            sessions=sessions,
            bases=bases_of(pattern, bases, lost.get(id, {}), sessions),
            since=pattern.status_since,
            tests=tests_begun(pattern, bool(sessions)),
        )
        return tried(trial, tx.now, settings)

    found = {id: measured(id, sessions) for id, sessions in _sessions(tx, named, living, parts)}
    return Counted(
        patterns=living,
        tested=found | {id: measured(id, ()) for id in living.keys() - found.keys()},
        parts=parts,
        used=tx.applications.used(named) if living else {},
        retired=sum(each.evidence.tests for each in ever if each.id not in living),
    )


def pattern_of(tx: Transaction, id: str) -> Pattern:
    """With its uses as they are now, also those after the last validation."""
    found = stored_pattern(tx, id)
    ids = [part for part, _ in parts_of(found, tx.patterns.get)]
    used = used_by(ids, tx.applications.used(ids))
    if used is None or (used.times, used.last_at) == (found.usage_count, found.last_used_at):
        return found
    return found.replace(usage_count=max(found.usage_count, used.times), last_used_at=used.last_at)


def used_by(ids: Iterable[str], used: Mapping[str, PatternUse]) -> PatternUse | None:
    """How often patterns were used, taken together."""
    some = [used[id] for id in ids if id in used]
    return PatternUse(sum(each.times for each in some), max(each.last_at for each in some)) if some else None


def tests_begun(pattern: Pattern, has_sessions: bool) -> int:
    """How many tests of it were begun by now: a generation is one from its first session on, a review at once."""
    evidence = pattern.evidence
    return evidence.tests + (has_sessions and evidence.tested != evidence.generation)


def sessions_of_pattern(scope: Scope, store: Store, now: datetime, id: str) -> tuple[SessionCount, ...]:
    """What came of one pattern in its present form, session by session; of one under review, also what came before."""
    with store.reading(scope, now) as tx:
        pattern = stored_pattern(tx, id)
    (judged_by,) = (each.scope for each in audiences(scope) if each.owns(pattern.visibility))
    with store.reading(judged_by, now) as tx:
        return _counted(tx, frozenset(parts_of(pattern, tx.patterns.get)))


def parts_of(pattern: Pattern, get: Callable[[str], Pattern | None]) -> Iterator[Part]:
    """Where its evidence stands: its own, and as long as that has not begun anew that of all it was merged from."""
    waiting, seen = [pattern], set[str]()
    while waiting:
        each = waiting.pop()
        seen.add(each.id)
        yield each.id, each.evidence.generation
        merged = each.metadata.get(MERGED_FROM, ()) if each.evidence.generation == _FIRST else ()
        waiting += [found for id in merged if id not in seen and (found := get(id)) is not None]


def _lost(used: Iterable[UsedEpisode], parts: Mapping[str, frozenset[Part]]) -> dict[str, Tallies]:
    """What base rates lose without each pattern: an episode that used two of its parts is left out once."""
    wholes = defaultdict[str, list[str]](list)
    for id, of in parts.items():
        for part in {part for part, _ in of}:
            wholes[part].append(id)
    found, held = dict[str, Tallies](), defaultdict[str, list[UsedEpisode]](list)
    for part, rows in groupby(used, key=attrgetter("pattern")):
        if wholes[part] == [part] and len(parts[part]) == 1:
            found[part] = left_out(rows)
        elif wholes[part]:
            kept = list(rows)
            for id in wholes[part]:
                held[id] += kept
    return found | {id: left_out(rows) for id, rows in held.items()}


def _sessions(
    tx: Transaction, named: Sequence[str] | None, living: Mapping[str, Pattern], parts: Mapping[str, frozenset[Part]]
) -> Iterator[tuple[str, tuple[SessionCount, ...]]]:
    """Of each pattern that has any. Only what is to be joined with others is held until all is read."""
    # What came before a review is not even a part of a session that went on after it.
    since = {id: each.status_since for id, each in living.items() if each.status is PatternStatus.UNDER_REVIEW}
    single = {id: each.evidence.generation for id, each in living.items() if len(parts[id]) == 1 and id not in since}
    joined = {part: id for id, of in parts.items() if id not in single and id not in since for part in of}
    held = defaultdict[str, list[SessionOutcomes]](list)
    for id, rows in groupby(tx.applications.applied(named) if living else (), key=attrgetter("pattern")):
        if id in single:
            yield id, counted_by_session(row for row in rows if row.evidence == single[id])
        else:
            for row in rows:
                if (row.pattern, row.evidence) in joined:
                    held[joined[row.pattern, row.evidence]].append(row)
    for id, kept in held.items():
        yield id, counted_by_session(sorted(kept, key=_BY_SESSION))
    for id, moment in since.items():
        yield id, _counted(tx, parts[id], moment)


def _counted(tx: Transaction, parts: frozenset[Part], since: datetime | None = None) -> tuple[SessionCount, ...]:
    rows = tx.applications.applied([id for id, _ in parts], since=since)
    return counted_by_session(sorted((row for row in rows if (row.pattern, row.evidence) in parts), key=_BY_SESSION))


def counted_by_session(rows: Iterable[SessionOutcomes]) -> tuple[SessionCount, ...]:
    """Rows of one session, which stand together, are one piece of evidence; the oldest session comes first."""
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
