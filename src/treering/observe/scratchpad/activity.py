"""Everything noted about a session up to some event, in capped tables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from treering.observe.scratchpad.entries import (
    AbandonedRead,
    CommandSequence,
    CommandUse,
    ConfigUse,
    EditBacktrack,
    EditConflict,
    ErrorUse,
    FilePair,
    ImportChase,
    KeptCue,
    ListingUse,
    ModuleTokens,
    ObservedFileUse,
    OutsideSource,
    PlanItem,
    PlannedWork,
    QaFailure,
    ScreenObservation,
    SearchUse,
    SubagentRun,
    SubtaskRun,
    TestRuns,
    TokenSpike,
    copied,
    frozen,
    packed,
    unpacked,
)

K = TypeVar("K")
E = TypeVar("E")
_EVICTED = 4  # a full table loses one entry in four, so that eviction is rare


@dataclass(frozen=True, slots=True)
class TableSpec(Generic[E]):
    """Entries of one table, their maximum number, and the order in which they are evicted: lowest value first."""

    entry: type[E]
    cap: int
    value: Callable[[E], tuple[float, ...]]


TABLES: Mapping[str, TableSpec[Any]] = {
    "files": TableSpec(ObservedFileUse, 1_500, lambda use: (use.edits > 0, use.reads + 3 * use.edits, use.last_step)),
    "pairs": TableSpec(FilePair, 4_000, lambda pair: (pair.both_edited, pair.one_edited, pair.count, pair.last_step)),
    "searches": TableSpec(SearchUse, 400, lambda use: (use.count, use.last_step)),
    "listings": TableSpec(ListingUse, 200, lambda use: (use.ignored, use.last_step)),
    "commands": TableSpec(CommandUse, 400, lambda use: (use.runs, use.last_step)),
    "sequences": TableSpec(CommandSequence, 400, lambda found: (found.count, found.last_step)),
    "errors": TableSpec(ErrorUse, 200, lambda error: (not error.minor, error.resolved, error.count, error.last_step)),
    "backtracks": TableSpec(EditBacktrack, 200, lambda found: (found.count, found.last_step)),
    "configs": TableSpec(ConfigUse, 100, lambda use: (use.edits, use.last_step)),
    "chases": TableSpec(ImportChase, 100, lambda chase: (chase.edited, chase.count, chase.last_step)),
    "abandoned": TableSpec(AbandonedRead, 200, lambda read: (read.instead != "", read.step)),
    "tokens_by_module": TableSpec(ModuleTokens, 200, lambda module: (module.tokens,)),
    "spikes": TableSpec(TokenSpike, 100, lambda spike: (spike.tokens,)),
    "sources": TableSpec(OutsideSource, 100, lambda source: (source.count, source.last_step)),
    "cues": TableSpec(KeptCue, 120, lambda cue: (cue.by_user, cue.approach != "", cue.count, cue.last_step)),
    "conflicts": TableSpec(EditConflict, 100, lambda conflict: (conflict.count, conflict.last_step)),
    "subtasks": TableSpec(SubtaskRun, 300, lambda task: (task.last_step,)),
    "subagents": TableSpec(SubagentRun, 100, lambda run: (run.last_step,)),
    "plan_items": TableSpec(PlanItem, 60, lambda item: (item.step, -item.place)),
    "qa_failures": TableSpec(QaFailure, 40, lambda failure: (failure.severity == "critical", failure.step)),
    "screens": TableSpec(ScreenObservation, 40, lambda found: (found.count, found.step)),
}


@dataclass(slots=True)
class Activity:
    """Tables of a session. Keys of `pairs`, `chases` and `sequences` are tuples, all others are texts."""

    step: int = 0
    tool_calls: int = 0
    edits: int = 0
    edited_files: int = 0
    tokens: int = 0
    results: int = 0
    files: dict[str, ObservedFileUse] = field(default_factory=dict)
    pairs: dict[tuple[str, str], FilePair] = field(default_factory=dict)
    searches: dict[str, SearchUse] = field(default_factory=dict)
    listings: dict[str, ListingUse] = field(default_factory=dict)
    commands: dict[str, CommandUse] = field(default_factory=dict)
    sequences: dict[tuple[str, ...], CommandSequence] = field(default_factory=dict)
    errors: dict[str, ErrorUse] = field(default_factory=dict)
    backtracks: dict[str, EditBacktrack] = field(default_factory=dict)
    configs: dict[str, ConfigUse] = field(default_factory=dict)
    chases: dict[tuple[str, str], ImportChase] = field(default_factory=dict)
    abandoned: dict[str, AbandonedRead] = field(default_factory=dict)
    tokens_by_module: dict[str, ModuleTokens] = field(default_factory=dict)
    spikes: dict[str, TokenSpike] = field(default_factory=dict)
    sources: dict[str, OutsideSource] = field(default_factory=dict)
    cues: dict[str, KeptCue] = field(default_factory=dict)
    conflicts: dict[str, EditConflict] = field(default_factory=dict)
    subtasks: dict[str, SubtaskRun] = field(default_factory=dict)
    subagents: dict[str, SubagentRun] = field(default_factory=dict)
    plan_items: dict[str, PlanItem] = field(default_factory=dict)
    qa_failures: dict[str, QaFailure] = field(default_factory=dict)
    screens: dict[str, ScreenObservation] = field(default_factory=dict)
    plan: PlannedWork = field(default_factory=PlannedWork)
    tests: TestRuns = field(default_factory=TestRuns)

    def entry(self, table: str, key: Any) -> Any:
        """The entry of this key, new if there is none; a full table is relieved of its least valuable entries."""
        entries: dict[Any, Any] = getattr(self, table)
        found = entries.get(key)
        if found is None:
            spec = TABLES[table]
            if len(entries) >= spec.cap:
                _evict(entries, spec)
            found = entries[key] = spec.entry()
        return found

    def copy(self) -> "Activity":
        """An independent copy."""
        other = Activity(*(getattr(self, name) for name in _COUNTS))
        for name in TABLES:
            setattr(other, name, {key: copied(entry) for key, entry in getattr(self, name).items()})
        other.plan, other.tests = copied(self.plan), copied(self.tests)
        return other

    def state(self) -> dict[str, Any]:
        """The tables as JSON data; empty ones are left out."""
        tables = {
            name: [[list(key) if type(key) is tuple else key, *packed(entry)] for key, entry in entries.items()]
            for name in TABLES
            if (entries := getattr(self, name))
        }
        counts = [getattr(self, name) for name in _COUNTS]
        return {"counts": counts, "plan": packed(self.plan), "tests": packed(self.tests), "tables": tables}

    @classmethod
    def from_state(cls, state: Mapping[str, Any] | None) -> "Activity":
        """The activity whose `state()` this is; None, if it was removed from a checkpoint, gives an empty one."""
        if state is None:
            return cls()
        activity = cls(*state["counts"])
        for name, rows in state["tables"].items():
            entry = TABLES[name].entry
            setattr(activity, name, {frozen(key): unpacked(entry, values) for key, *values in rows})
        activity.plan = unpacked(PlannedWork, state["plan"])
        activity.tests = unpacked(TestRuns, state["tests"])
        return activity


_COUNTS = ("step", "tool_calls", "edits", "edited_files", "tokens", "results")


def _evict(entries: dict[Any, Any], spec: TableSpec[Any]) -> None:
    value = spec.value
    ranked = sorted(entries, key=lambda key: value(entries[key]))
    for key in ranked[: max(1, spec.cap // _EVICTED)]:
        del entries[key]
