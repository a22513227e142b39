"""Health of a memory in counts, without texts: contents, growth, confidence, pending jobs and failures."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from treering.core.confidence import effective_confidence
from treering.core.episodes import EpisodeStatus
from treering.core.history import Action
from treering.core.jobs import JobState
from treering.core.patterns import PatternStatus
from treering.core.queries import (
    AuditFilter,
    EpisodeFilter,
    JobFilter,
    KnowledgeFilter,
    Order,
    PatternFilter,
    RunFilter,
    SessionFilter,
    TimeRange,
    TurnFilter,
)
from treering.core.runs import Run, RunState
from treering.core.scope import Scope
from treering.core.settings import Settings, TrustSettings
from treering.maintenance.stats import stats
from treering.ports.store import Store, Transaction

_PERIODS = {"7 days": timedelta(days=7), "30 days": timedelta(days=30)}
_FIFTHS = ("0.0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1.0")
# Above this number of records, confidence is estimated from a sample of each period of the project.
_MAX_RECORDS_READ = 5_000
_PERIODS_SAMPLED = 100


@dataclass(frozen=True, slots=True)
class HealthReport:
    """Counts of the records visible to a scope; `confidence` is effective confidence, from `looked_at` records."""

    at: datetime
    project: str
    records: Mapping[str, int]
    knowledge: Mapping[str, int]
    states: Mapping[str, int]
    growth: Mapping[str, Mapping[str, int]]
    confidence: Mapping[str, int]
    looked_at: int
    episodes: Mapping[str, int]
    patterns: Mapping[str, int]
    learning: Mapping[str, int]
    jobs: Mapping[str, int]
    dead_jobs: Mapping[str, int]
    runs: tuple[Run, ...]
    sizes: Mapping[str, int]

    def counts(self) -> Mapping[str, int]:
        """All numbers in one flat mapping, named by their path."""
        numbers = {field.name: getattr(self, field.name) for field in fields(self)}
        return dict(_numbers({**numbers, "stages": {run.stage: _result(run) for run in self.runs}}))


def health_report(
    scope: Scope, store: Store, now: datetime, *, stages: Sequence[str], settings: Settings
) -> HealthReport:
    """Counts of everything and the last run of each stage; the cost does not grow with the number of records."""
    held = stats(scope, store, now)
    sizes = store.sizes(scope)  # outside of the transaction: a thread that holds a connection must not wait for another
    with store.reading(scope, now) as tx:
        stale = tx.knowledge.count(KnowledgeFilter(stale=True))
        confidence, looked_at = _confidence(tx, settings.trust)
        return HealthReport(
            at=now,
            project=scope.project,
            records=held.records,
            knowledge=held.knowledge,
            states={**held.states, "stale": stale},
            growth={name: _growth(tx, TimeRange(since=now - period)) for name, period in _PERIODS.items()},
            confidence=confidence,
            looked_at=looked_at,
            episodes={each.value: tx.episodes.count(EpisodeFilter(statuses=(each,))) for each in EpisodeStatus},
            patterns={each.value: tx.patterns.count(PatternFilter(statuses=(each,))) for each in PatternStatus},
            learning=_learning(tx),
            jobs=held.jobs,
            dead_jobs=Counter(job.kind for job in tx.jobs.stream(JobFilter(states=(JobState.DEAD,)))),
            runs=_last_runs(tx, stages),
            sizes=sizes,
        )


def _result(run: Run) -> Mapping[str, object]:
    """Counts of a run and whether it failed; the counts of an earlier report are left out."""
    return {"failed": int(run.state is RunState.FAILED), **({} if run.stage == "report" else run.counts)}


def _growth(tx: Transaction, period: TimeRange) -> Mapping[str, int]:
    return {
        "knowledge": tx.knowledge.count(KnowledgeFilter(created=period)),
        "turns": tx.turns.count(TurnFilter(said=period)),
        "sessions": tx.sessions.count(SessionFilter(started=period)),
        "episodes": tx.episodes.count(EpisodeFilter(happened=period)),
    }


def _learning(tx: Transaction) -> Mapping[str, int]:
    return {
        "sessions to be read": tx.sessions.count(SessionFilter(learned=False)),
        "duplicates folded": tx.audit.count(AuditFilter(actions=(Action.REINFORCE,), kinds=("knowledge",))),
        "facts retired": tx.knowledge.count(KnowledgeFilter(types=("fact",), deprecated=True)),
        "corrected": tx.audit.count(AuditFilter(actions=(Action.CORRECT,))),
    }


def _last_runs(tx: Transaction, stages: Sequence[str]) -> tuple[Run, ...]:
    latest = Order(by="started_at")
    return tuple(run for name in stages for run in tx.runs.find(RunFilter(stages=(name,)), order=latest, limit=1).items)


def _confidence(tx: Transaction, settings: TrustSettings) -> tuple[Mapping[str, int], int]:
    """Number of current records by confidence, and the number of records that were read for it."""
    found, looked_at = dict.fromkeys(_FIFTHS, 0.0), 0
    few = tx.knowledge.count(KnowledgeFilter(deprecated=False)) <= _MAX_RECORDS_READ
    periods, limit = (
        ((None,), _MAX_RECORDS_READ) if few else (_sampled_periods(tx), _MAX_RECORDS_READ // _PERIODS_SAMPLED)
    )
    for period in periods:
        current = KnowledgeFilter(created=period, deprecated=False)
        read = tx.knowledge.newest(current, limit=limit)
        if not read:
            continue
        looked_at += len(read)
        weight = 1.0 if len(read) < limit else tx.knowledge.count(current) / len(read)
        for match in read:
            share = effective_confidence(match.value, tx.now, settings)
            found[_FIFTHS[min(len(_FIFTHS) - 1, int(share * len(_FIFTHS)))]] += weight
    return {name: round(count) for name, count in found.items()}, looked_at


def _sampled_periods(tx: Transaction) -> Sequence[TimeRange]:
    first = tx.knowledge.find(order=Order(by="created_at", descending=False), limit=1).items
    begin = first[0].created_at if first else tx.now
    step = max((tx.now - begin) / _PERIODS_SAMPLED, timedelta(seconds=1))
    edges = [begin + step * number for number in range(1, _PERIODS_SAMPLED)]
    return [TimeRange(since=since, before=before) for since, before in zip((None, *edges), (*edges, None), strict=True)]


def _numbers(found: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, int]]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{prefix}{name}: ")
        elif isinstance(value, int):
            yield f"{prefix}{name}", value
