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
from treering.learn.patterns.audience import Audience, audiences
from treering.learn.patterns.bases import bases_of
from treering.learn.patterns.keeping import stored_pattern
from treering.learn.patterns.merging import MERGED_FROM
from treering.learn.patterns.statistics import BaseRates, Tally
from treering.learn.patterns.validation import SessionCount, Tested, Trial, measure
from treering.ports.patterns import Applied, Used
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
    untried: frozenset[str]
    used: Mapping[str, Used]
    retired: int
    """Tests of patterns that are deprecated: they were tried, too."""


def count_evidence(tx: Transaction, audience: Audience, settings: PatternSettings) -> Counted:
    """Measure every living pattern; sessions are let go as soon as they are measured, however many there are."""
    everything = {each.id: each for each in tx.patterns.stream(PatternFilter()) if audience.owns(each.visibility)}
    living = {id: each for id, each in everything.items() if each.status is not PatternStatus.DEPRECATED}
    bases = BaseRates(
        {name: Tally(*counted) for name, counted in tx.applications.outcomes_by_session().items()}, settings
    )
    tested, untried = dict[str, Tested](), set(living)
    named = list(everything) if len(everything) <= _FEW else None
    applied = tx.applications.applied(named) if living else ()
    for id, sessions in _sessions(applied, everything, living):
        tested[id] = _measured(tx, living[id], sessions, bases, settings)
        untried -= {id} if sessions else set()
    for id in living.keys() - tested.keys():
        tested[id] = _measured(tx, living[id], (), bases, settings)
    gone = (each.evidence for id, each in everything.items() if id not in living)
    return Counted(
        patterns=living,
        tested=tested,
        untried=frozenset(untried),
        used=tx.applications.used(named) if living else {},
        retired=sum(each.generation for each in gone if each.applications),
    )


def sessions_of_pattern(scope: Scope, store: Store, now: datetime, id: str) -> tuple[SessionCount, ...]:
    """What came of one pattern, session by session, as its verdict counts it."""
    with store.reading(scope, now) as tx:
        pattern = stored_pattern(tx, id)
    (judged_by,) = (each.scope for each in audiences(scope) if each.owns(pattern.visibility))
    with store.reading(judged_by, now) as tx:
        parts = frozenset(parts_of(pattern, tx.patterns.get))
        rows = tx.applications.applied([each for each, _ in parts])
        return _counted(sorted((row for row in rows if (row.pattern, row.evidence) in parts), key=_BY_SESSION))


def _measured(
    tx: Transaction,
    pattern: Pattern,
    sessions: tuple[SessionCount, ...],
    bases: BaseRates,
    settings: PatternSettings,
) -> Tested:
    trial = Trial(
        status=pattern.status,
        sessions=sessions,
        bases=bases_of(pattern, bases, sessions, settings),
        since=pattern.status_since,
        tests=pattern.evidence.generation,
    )
    return Tested(trial.status, trial.tests, measure(trial, tx.now, settings))


def parts_of(pattern: Pattern, get: Callable[[str], Pattern | None]) -> Iterator[Part]:
    """Where its evidence stands: its own, and as long as that has not begun anew that of all it was merged from."""
    waiting, seen = [pattern], set[str]()
    while waiting:
        each = waiting.pop()
        seen.add(each.id)
        yield each.id, each.evidence.generation
        merged = each.metadata.get(MERGED_FROM, ()) if each.evidence.generation == _FIRST else ()
        waiting += [found for id in merged if id not in seen and (found := get(id)) is not None]


def _sessions(
    applied: Iterable[Applied], everything: Mapping[str, Pattern], living: Mapping[str, Pattern]
) -> Iterator[tuple[str, tuple[SessionCount, ...]]]:
    """Of each pattern that has any. Only what is to be joined with others is held until all is read."""
    single, joined = dict[str, int](), dict[Part, str]()
    for id, pattern in living.items():
        parts = list(parts_of(pattern, everything.get))
        if len(parts) == 1:
            single[id] = pattern.evidence.generation
        else:
            joined |= dict.fromkeys(parts, id)
    held = defaultdict[str, list[Applied]](list)
    for id, rows in groupby(applied, key=attrgetter("pattern")):
        if id in single:
            yield id, _counted(row for row in rows if row.evidence == single[id])
        else:
            for row in rows:
                if (row.pattern, row.evidence) in joined:
                    held[joined[row.pattern, row.evidence]].append(row)
    for id, kept in held.items():
        yield id, _counted(sorted(kept, key=_BY_SESSION))


def _counted(rows: Iterable[Applied]) -> tuple[SessionCount, ...]:
    """Rows of one session stand together; the oldest session comes first."""
    sessions = (_session(list(group)) for _, group in groupby(rows, key=_BY_SESSION))
    return tuple(sorted(sessions, key=attrgetter("at")))


def _session(rows: Sequence[Applied]) -> SessionCount:
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
