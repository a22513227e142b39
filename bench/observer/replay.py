"""Replays recorded sessions through the public API, with the cost of each call."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import treering
from bench.observer.judging import PromotedRecord
from bench.observer.recorded import RecordedSession
from bench.process_memory import peak, resident
from treering.core.observations import Candidate, GateDecision
from treering.core.records import Knowledge
from treering.observe.reports import SessionReport


@dataclass(slots=True)
class Costs:
    """Seconds of processor time of the calling thread, but `processor` (all threads), `settle` and `wall`."""

    events: list[float] = field(default_factory=list)
    finishes: list[float] = field(default_factory=list)
    settles: list[float] = field(default_factory=list)
    wall: float = 0.0
    processor: float = 0.0
    resident_before: float = 0.0
    resident_peak: float = 0.0
    file_bytes: int = 0


@dataclass(slots=True)
class Replay:
    """What the sessions became: records in the order of promotion, candidates by session, costs."""

    records: list[PromotedRecord] = field(default_factory=list)
    candidates: list[tuple[Candidate, ...]] = field(default_factory=list)
    costs: Costs = field(default_factory=Costs)


def replayed(sessions: Sequence[RecordedSession], file: Path) -> Replay:
    """Observe the sessions one after the other with a new memory in `file`."""
    made, costs = Replay(), Costs(resident_before=resident())
    wall, processor = time.perf_counter(), time.process_time()
    with treering.open(file, project="bench") as memory:
        for place, session in enumerate(sessions):
            watch = memory.observe(session=session.id, type="build", root=session.root)
            for event in session.events:
                costs.events.append(_timed(partial(watch.event, event)))
            costs.finishes.append(_timed(partial(watch.finish, outcome="success")))
            begun = time.perf_counter()
            memory.settle()
            costs.settles.append(time.perf_counter() - begun)
            report = memory.sessions.get(session.id)
            made.records += _records(report, place)
            made.candidates.append(report.candidates)
        costs.wall, costs.processor = time.perf_counter() - wall, time.process_time() - processor
        costs.resident_peak = max(peak(), resident())
    costs.file_bytes = sum(each.stat().st_size for each in file.parent.glob(f"{file.name}*"))
    made.costs = costs
    return made


def _timed(call: Callable[[], object]) -> float:
    begun = time.thread_time_ns()
    call()
    return (time.thread_time_ns() - begun) / 1e9


def _records(report: SessionReport, place: int) -> list[PromotedRecord]:
    """The records that the session created, with what the observer said about each."""
    made_by = {each.record: each for each in report.candidates if each.decision is GateDecision.PROMOTED}
    return [_record(record, made_by[record.id], report.id, place) for record in report.promoted]


def _record(record: Knowledge, candidate: Candidate, session: str, place: int) -> PromotedRecord:
    return PromotedRecord(
        id=record.id,
        place=place,
        session=session,
        signal=candidate.signal,
        subject=candidate.subject,
        type=record.type,
        text=record.content,
        files=tuple(record.files),
        payload={} if record.payload is None else record.payload.model_dump(mode="json", exclude_none=True),
        support=candidate.sessions,
        tainted=record.tainted,
    )
