"""How a memory does: what it holds, how it grows, how sure it is, what waits and what failed. Counts, no texts."""

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
# The confidence of more records than this is worked out from some of each part of the project's life.
_READ = 5_000
_PARTS = 100


@dataclass(frozen=True, slots=True)
class HealthReport:
    """How a memory does, as this scope sees it. `confidence` is the effective one, of `looked_at` records."""

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
        """Every number, under one name."""
        numbers = {field.name: getattr(self, field.name) for field in fields(self)}
        return dict(_numbers({**numbers, "stages": {run.stage: _result(run) for run in self.runs}}))


def health_report(
    scope: Scope, store: Store, now: datetime, *, stages: Sequence[str], settings: Settings
) -> HealthReport:
    """Count everything, and the last runs of these stages; cheap however much there is."""
    held = stats(scope, store, now)
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
            sizes=store.sizes(scope),
        )


def _result(run: Run) -> Mapping[str, object]:
    """What a stage did, or that it failed. A report holds no earlier report."""
    return {"failed": int(run.state is RunState.FAILED), **({} if run.stage == "report" else run.counts)}


def _growth(tx: Transaction, lately: TimeRange) -> Mapping[str, int]:
    return {
        "knowledge": tx.knowledge.count(KnowledgeFilter(created=lately)),
        "turns": tx.turns.count(TurnFilter(said=lately)),
        "sessions": tx.sessions.count(SessionFilter(started=lately)),
        "episodes": tx.episodes.count(EpisodeFilter(happened=lately)),
    }


def _learning(tx: Transaction) -> Mapping[str, int]:
    return {
        "sessions to be read": tx.sessions.count(SessionFilter(learned=False)),
        "duplicates folded": tx.audit.count(AuditFilter(actions=(Action.REINFORCE,), kinds=("knowledge",))),
        "facts retired": tx.knowledge.count(KnowledgeFilter(types=("fact",), deprecated=True)),
        "corrected": tx.audit.count(AuditFilter(actions=(Action.CORRECT,))),
    }


def _last_runs(tx: Transaction, stages: Sequence[str]) -> tuple[Run, ...]:
    """The last run of each stage."""
    latest = Order(by="started_at")
    return tuple(run for name in stages for run in tx.runs.find(RunFilter(stages=(name,)), order=latest, limit=1).items)


def _confidence(tx: Transaction, settings: TrustSettings) -> tuple[Mapping[str, int], int]:
    """How many standing records are trusted how far, and how many were read to say so."""
    found, looked_at = dict.fromkeys(_FIFTHS, 0.0), 0
    few = tx.knowledge.count(KnowledgeFilter(deprecated=False)) <= _READ
    parts, most = ((None,), _READ) if few else (_parts_of_life(tx), _READ // _PARTS)
    for part in parts:
        standing = KnowledgeFilter(created=part, deprecated=False)
        read = tx.knowledge.newest(standing, limit=most)
        if not read:
            continue
        looked_at += len(read)
        stands_for = 1.0 if len(read) < most else tx.knowledge.count(standing) / len(read)
        for match in read:
            share = effective_confidence(match.value, tx.now, settings)
            found[_FIFTHS[min(len(_FIFTHS) - 1, int(share * len(_FIFTHS)))]] += stands_for
    return {name: round(count) for name, count in found.items()}, looked_at


def _parts_of_life(tx: Transaction) -> Sequence[TimeRange]:
    first = tx.knowledge.find(order=Order(by="created_at", descending=False), limit=1).items
    begin = first[0].created_at if first else tx.now
    step = max((tx.now - begin) / _PARTS, timedelta(seconds=1))
    edges = [begin + step * place for place in range(1, _PARTS)]
    return [TimeRange(since=since, before=before) for since, before in zip((None, *edges), (*edges, None), strict=True)]


def _numbers(found: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, int]]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{prefix}{name}: ")
        elif isinstance(value, int):
            yield f"{prefix}{name}", value
