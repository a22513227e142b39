"""Statistics over sessions, updated after every session: co-access edges, sessions by file and by module.

A row of each session keeps what was counted for it, so that a repeated job or a continued session counts nothing twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from treering.core.observations import SignalEvidence, evidence_id
from treering.core.taint import Taint
from treering.core.values import FrozenDict, thaw
from treering.observe.co_access import FilePairKey, edge_id, pair_of, updated_edges, weight_of
from treering.observe.scratchpad.path_kinds import module_of
from treering.observe.synthesis.session_facts import CountedPair, SessionFacts

if TYPE_CHECKING:
    from treering.core.co_access import CoAccessEdge
    from treering.core.observations import ObservedSession
    from treering.ports.store import Transaction

SESSION_COUNTS = "session_counts"
FILE_SESSIONS = "file_sessions"
MODULE_SESSIONS = "module_sessions"
MAX_MODULE_SESSIONS = 100  # kept of each kind, until the last synthesis of the module
MAX_SAMPLES = 20  # sessions of a module whose tokens, plans and tests are kept, the latest
MAX_FILES = 1_000  # of one session
MAX_MODULES = 20  # of one session, those with most edits
_FORGOTTEN_FILES, _FORGOTTEN_PAIRS = "forgotten_files", "forgotten_pairs"
_FORGOTTEN = (_FORGOTTEN_FILES, _FORGOTTEN_PAIRS)
_SAMPLES = ("tokens", "plans", "tests")
_PairCounts = tuple[int, int, int]
"""Of one session: accesses, the sum of the milliseconds between them, and 1 if all are tainted."""


def new_row(signal: str, subject: str, at: datetime) -> SignalEvidence:
    id = evidence_id(signal, subject)
    return SignalEvidence.make(id=id, signal=signal, subject=subject, first_seen_at=at, last_seen_at=at)


@dataclass(frozen=True, slots=True)
class ModuleStatistics:
    """The sessions of one module, and samples of the latest. `triggers` are the session counts already synthesised."""

    row: SignalEvidence

    @property
    def module(self) -> str:
        return self.row.subject

    @property
    def count(self) -> int:
        """Number of sessions, tainted ones included."""
        return self.row.occurrences

    @property
    def triggers(self) -> tuple[int, ...]:
        return tuple(self.row.detail.get("triggers", ()))

    def samples(self, name: str, *, tainted: bool = False) -> Mapping[str, Any]:
        """Values by session: `tokens`, `plans` or `tests`."""
        detail = self.row.tainted_detail if tainted else self.row.detail
        found: Mapping[str, Any] = detail.get(name, {})
        return found

    @property
    def left_for_model(self) -> int:
        """Number of records that a language model may still add since the last trigger."""
        return int(self.row.detail.get("left_for_model", 0))

    def with_triggers(self, triggers: Iterable[int] = (), *, left_for_model: int) -> ModuleStatistics:
        done = sorted({*self.triggers, *triggers})
        detail = {**thaw(self.row.detail), "triggers": done, "left_for_model": left_for_model}
        return ModuleStatistics(self.row.replace(detail=detail))


@dataclass(slots=True)
class SessionUpdate:
    """Adds one session to the statistics inside one transaction."""

    tx: Transaction
    session: ObservedSession
    facts: SessionFacts
    continued: tuple[str, ...] = ()
    at: datetime = field(init=False)
    counted: SignalEvidence = field(init=False)

    def __post_init__(self) -> None:
        # A session whose clock was ahead is not the latest one forever.
        self.at = min(self.session.last_at, self.tx.now)
        ids = [evidence_id(SESSION_COUNTS, each) for each in (self.session.id, *self.continued)]
        known = self.tx.evidence.get_many(ids)
        first = next((known[id] for id in ids if id in known), None)
        # A session that repeats another one begins with what is counted of that one.
        own = {"id": ids[0], "subject": self.session.id}
        self.counted = new_row(SESSION_COUNTS, own["subject"], self.at) if first is None else first.replace(**own)

    def run(self) -> list[ModuleStatistics]:
        """Store the statistics with this session; return those of its modules."""
        paths = [each.path for each in self.session.files]
        files = self._count_files(paths)
        pairs = self._count_pairs(files)
        modules, counted = self._count_modules(paths)
        tainted = [path for path in paths if path not in self.facts.clean_files]
        kept = {name: value for name, value in self.counted.detail.items() if name in _FORGOTTEN}
        ever = tuple(dict.fromkeys((*paths, *self.counted.files)))[:MAX_FILES]
        detail = {**kept, "modules": counted, "tainted_files": tainted}
        row = self.counted.replace(files=ever, detail=detail, text=_packed(pairs, ever), last_seen_at=self.at)
        self.tx.evidence.put_many([row, *files.values(), *(each.row for each in modules)])
        return modules

    def _count_files(self, paths: Sequence[str]) -> dict[str, SignalEvidence]:
        """Rows of the session's files, with this session."""
        known, before = self._rows(FILE_SESSIONS, paths), frozenset(self.counted.files)
        forgotten = frozenset(self.counted.detail.get(_FORGOTTEN_FILES, ()))
        return {
            path: row
            if path in before or (forgotten and row.id in forgotten)
            else row.model_copy(
                update={"occurrences": row.occurrences + 1, "last_seen_at": max(row.last_seen_at, self.at)}
            )
            for path, row in known.items()
        }

    def _count_pairs(self, files: Mapping[str, SignalEvidence]) -> dict[FilePairKey, _PairCounts]:
        """Store the edges of the session's pairs; return what is counted of each."""
        pairs = {key: pair for key, pair in self.facts.pairs.items() if key[0] in files and key[1] in files}
        ids = {key: edge_id(*key) for key in pairs}
        before = self._counted_pairs(ids)
        known = {pair_of(edge): edge for edge in self.tx.co_access.get_many(ids.values()).values()}
        sessions = {path: row.occurrences for path, row in files.items()}
        new = {key: pair for key, pair in pairs.items() if key not in before}
        at, type = self.at, self.session.type.value
        changed = {pair_of(edge): edge for edge in self._with_new(known, new, sessions, at, type)}
        for key, pair in pairs.items():
            edge = changed.get(key) or known.get(key)
            if key not in new and edge is not None:
                changed[key] = _recounted(edge, pair, before[key], at)
        self.tx.co_access.put_many(changed.values())
        counts = {key: (each.pair.count, int(each.pair.delay_ms), int(each.tainted)) for key, each in pairs.items()}
        return {**before, **counts}

    def _counted_pairs(self, ids: Mapping[FilePairKey, str]) -> dict[FilePairKey, _PairCounts]:
        counted = _unpacked(self.counted)
        forgotten: Mapping[str, _PairCounts] = self.counted.detail.get(_FORGOTTEN_PAIRS, {})
        return {**{key: forgotten[id] for key, id in ids.items() if id in forgotten}, **counted}

    def _with_new(
        self,
        known: Mapping[FilePairKey, CoAccessEdge],
        new: Mapping[FilePairKey, CountedPair],
        sessions: Mapping[str, int],
        at: datetime,
        type: str,
    ) -> Iterable[CoAccessEdge]:
        edges = updated_edges(known, {key: pair.pair for key, pair in new.items()}, sessions, at, task_type=type)
        for edge in edges:
            key = pair_of(edge)
            if key not in new:
                yield edge
                continue
            tainted = (known[key].tainted_sessions if key in known else 0) + new[key].tainted
            yield edge.model_copy(update={"tainted_sessions": tainted})

    def _count_modules(self, paths: Sequence[str]) -> tuple[list[ModuleStatistics], list[str]]:
        """Statistics of the session's modules with this session, and the names of those that counted it."""
        before: list[str] = list(self.counted.detail.get("modules", ()))
        touched = dict.fromkeys(map(module_of, paths))
        modules = [*before, *(each for each in touched if each not in before)][: max(MAX_MODULES, len(before))]
        clean = {module_of(path) for path in paths if path in self.facts.clean_files}
        rows = self._rows(MODULE_SESSIONS, modules)
        found = [
            ModuleStatistics(self._with_session(rows[each], counted=each in before, clean=each in clean))
            for each in modules
        ]
        return found, modules

    def _with_session(self, row: SignalEvidence, *, counted: bool, clean: bool) -> SignalEvidence:
        id, facts = self.session.id, self.facts
        changes: dict[str, Any] = {"last_seen_at": max(row.last_seen_at, self.at)}
        if not counted:
            changes["occurrences"] = row.occurrences + 1
        if MAX_MODULE_SESSIONS in row.detail.get("triggers", ()):
            changes |= {"sessions": (), "tainted_sessions": ()}  # no synthesis will read them
        elif clean:
            changes["sessions"] = _with(_without(row.sessions, self.continued), id)
            changes["tainted_sessions"] = _without(row.tainted_sessions, (id, *self.continued))
        elif id not in row.sessions:
            changes["tainted_sessions"] = _with(_without(row.tainted_sessions, self.continued), id)
        if not clean or facts.taint is not None:
            changes["taint"] = row.taint or session_taint(facts)
        samples = [("tokens", facts.tokens.get(row.subject), facts.taint is not None)]
        if row.subject == facts.module or counted:
            samples += self._samples_of_main_module(is_main=row.subject == facts.module)
        details = {"detail": thaw(row.detail), "tainted_detail": thaw(row.tainted_detail)}
        for name, value, tainted in samples:
            for each, is_tainted in (("detail", False), ("tainted_detail", True)):
                kept = details[each].get(name, {})
                for session in (id, *self.continued):
                    kept.pop(session, None)
                if value is not None and tainted is is_tainted:
                    kept[id] = value
                if kept:
                    details[each][name] = dict([*kept.items()][-MAX_SAMPLES:])
        # Parts of valid rows and facts: validating a hundred session ids again takes longer than the rest.
        return row.model_copy(update={**changes, **{name: FrozenDict(each) for name, each in details.items()}})

    def _samples_of_main_module(self, *, is_main: bool) -> list[tuple[str, Any, bool]]:
        """Plan and tests; None if the main module of a continued session has changed."""
        facts, session = self.facts, self.session
        plan, tests = (facts.plan, facts.tests) if is_main else (None, None)
        done = session.finished_at is not None and session.outcome == "success"
        planned = None if plan is None or not done else [session.type.value, plan.unit, plan.planned, plan.actual]
        ordered = None if tests is None else [tests.order, tests.command]
        return [("plans", planned, facts.taint is not None), ("tests", ordered, facts.tests_tainted)]

    def _rows(self, signal: str, subjects: Iterable[str]) -> dict[str, SignalEvidence]:
        """Rows by subject, in this order; new ones where there are none."""
        ids = {evidence_id(signal, subject): subject for subject in subjects}
        known = self.tx.evidence.get_many(ids)
        return {subject: known.get(id) or new_row(signal, subject, self.at) for id, subject in ids.items()}


def forget_counted(tx: Transaction, session: str) -> None:
    """Remove the files, modules and samples of a session; the numbers that it was counted in stay.

    Observed again, its files and pairs are not counted twice.
    """
    counted = tx.evidence.get(evidence_id(SESSION_COUNTS, session))
    if counted is None:
        return
    pairs = {edge_id(*key): list(counts) for key, counts in _unpacked(counted).items()}
    files = [evidence_id(FILE_SESSIONS, path) for path in counted.files]
    known: dict[str, Any] = thaw(counted.detail)
    detail = {
        _FORGOTTEN_PAIRS: {**known.get(_FORGOTTEN_PAIRS, {}), **pairs},
        _FORGOTTEN_FILES: sorted({*known.get(_FORGOTTEN_FILES, ()), *files}),
    }
    modules = tx.evidence.get_many(evidence_id(MODULE_SESSIONS, each) for each in known.get("modules", ()))
    rows = (_without_session(each, session) for each in modules.values())
    tx.evidence.put_many([counted.replace(files=(), text="", detail=detail), *rows])


def with_renamed(counted: SignalEvidence, renamed: Mapping[str, str]) -> SignalEvidence:
    """What is counted of a session, under the new paths as well: continued with either, it is not counted again."""
    pairs = _unpacked(counted)
    both = tuple(dict.fromkeys((*counted.files, *(renamed[path] for path in counted.files if path in renamed))))
    files = both[:MAX_FILES]
    moved: dict[FilePairKey, _PairCounts] = {}
    for key, counts in pairs.items():
        first, second = sorted(renamed.get(path, path) for path in key)
        if first != second:
            moved[first, second] = counts
    return counted.replace(files=files, text=_packed({**moved, **pairs}, files))


def _without_session(row: SignalEvidence, session: str) -> SignalEvidence:
    details = {"detail": thaw(row.detail), "tainted_detail": thaw(row.tainted_detail)}
    for detail in details.values():
        for name in _SAMPLES:
            detail.get(name, {}).pop(session, None)
    return row.replace(
        occurrences=max(0, row.occurrences - 1),
        sessions=tuple(each for each in row.sessions if each != session),
        tainted_sessions=tuple(each for each in row.tainted_sessions if each != session),
        **details,
    )


def _packed(pairs: Mapping[FilePairKey, _PairCounts], files: Sequence[str]) -> str:
    """The counts as short JSON; a file is its number among `files`."""
    numbers = {path: number for number, path in enumerate(files)}
    found = [(numbers[a], numbers[b], *counts) for (a, b), counts in pairs.items() if a in numbers and b in numbers]
    return json.dumps(found, separators=(",", ":"))


def _unpacked(counted: SignalEvidence) -> dict[FilePairKey, _PairCounts]:
    files = counted.files
    found = json.loads(counted.text or "[]")
    return {(files[a], files[b]): (count, delay, tainted) for a, b, count, delay, tainted in found}


def session_taint(facts: SessionFacts) -> Taint | None:
    return None if facts.taint is None else Taint.make(source=facts.taint, reason="observed after outside content")


def _recounted(edge: CoAccessEdge, pair: CountedPair, before: _PairCounts, at: datetime) -> CoAccessEdge:
    """The edge after a session that it counts already went on: its accesses are added, the session is not."""
    count, delay, tainted = before
    more = max(0, pair.pair.count - count)
    changes: dict[str, Any] = {"tainted_sessions": max(0, edge.tainted_sessions + pair.tainted - bool(tainted))}
    if more:
        total = (edge.mean_delta_ms or 0.0) * edge.count + max(0.0, pair.pair.delay_ms - delay)
        changes |= {
            "count": edge.count + more,
            "mean_delta_ms": round(total / (edge.count + more), 1),
            "last_seen_at": max(at, edge.last_seen_at),
        }
    return edge.model_copy(update=changes)


def _without(sessions: tuple[str, ...], others: Sequence[str]) -> tuple[str, ...]:
    return tuple(each for each in sessions if each not in others)


def _with(sessions: tuple[str, ...], session: str) -> tuple[str, ...]:
    return sessions if session in sessions else (*sessions, session)[-MAX_MODULE_SESSIONS:]


def sessions_by_file(tx: Transaction, edges: Iterable[CoAccessEdge]) -> dict[str, int]:
    """Number of sessions that touched each file of the edges."""
    ids = {evidence_id(FILE_SESSIONS, path): path for each in edges for path in (each.first, each.second)}
    return {ids[id]: row.occurrences for id, row in tx.evidence.get_many(ids).items()}


def correct_edges(tx: Transaction, edges: Sequence[CoAccessEdge]) -> tuple[list[CoAccessEdge], int]:
    """Store the edges with the weights that their files have now, and return them with the number of changes.

    A session changes only the edges of its own pairs; those of a file that it touched without the other are too strong.
    """
    sessions, corrected = sessions_by_file(tx, edges), []
    for edge in edges:
        weight = weight_of(edge.sessions, *(sessions.get(each, edge.sessions) for each in (edge.first, edge.second)))
        corrected.append(edge if weight == edge.weight else edge.model_copy(update={"weight": weight}))
    changed = [after for before, after in zip(edges, corrected, strict=True) if before is not after]
    tx.co_access.put_many(changed)
    return corrected, len(changed)


def clean_weight(edge: CoAccessEdge, sessions: Mapping[str, int]) -> float:
    """Weight of the edge by its untainted sessions alone; `sessions` counts by file."""
    clean = max(0, edge.sessions - edge.tainted_sessions)
    return weight_of(clean, *(max(clean, sessions.get(path, edge.sessions)) for path in (edge.first, edge.second)))
