"""What one session adds to the statistics over sessions, read from its saved scratchpads. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treering.observe.co_access import FilePairKey, SessionPair
from treering.observe.cues import CueKind
from treering.observe.scratchpad import Activity
from treering.observe.scratchpad.entries import FilePair, SubtaskRun
from treering.observe.scratchpad.plans import RUNNING
from treering.observe.signals.command_signals import main_module, test_order

MAX_PAIRS = 100  # of one session, the strongest: those with edits first
_MAX_FILES = 20  # of one subtask
_MAX_FAILURES = 5
_MAX_ITEMS = 8  # of a work state
_DECIDING = frozenset({CueKind.USER_CORRECTION, CueKind.EXPLICIT_RULE})


@dataclass(frozen=True, slots=True)
class CountedPair:
    """Accesses of two files in one session; `tainted` if all of them came after outside content."""

    pair: SessionPair
    tainted: bool


@dataclass(frozen=True, slots=True)
class PlanFact:
    """Planned and actual steps of a session, or items of its plan if the plan does not name a number of steps."""

    unit: str
    planned: int
    actual: int


@dataclass(frozen=True, slots=True)
class TestFact:
    """When a session ran its tests, and with which command."""

    __test__ = False  # not a test class, whatever pytest thinks of the name

    order: str
    command: str


@dataclass(frozen=True, slots=True)
class WorkUnitFact:
    """A finished subtask."""

    key: str
    title: str
    outcome: str
    validated: bool | None
    steps: int
    files: tuple[str, ...]
    failures: tuple[str, ...]
    tainted: bool


@dataclass(frozen=True, slots=True)
class OpenWork:
    """Where a session left its work: items of its plan and subtasks, the last failure, and what the user decided."""

    completed: tuple[str, ...] = ()
    in_progress: str = ""
    next_step: str = ""
    failure: str = ""
    decisions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckFact:
    """A serious problem that a check reported, or what a screen was seen to do."""

    text: str
    kind: str
    tool: str = ""
    file: str = ""
    tried: str = ""
    recommendation: str = ""
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """Facts of a session. `taint` is the source of its first outside content, None without any.

    `clean_files` were accessed before outside content. `plan` and `tokens` describe the whole session, so they are
    tainted if the session is.
    """

    module: str
    taint: str | None
    clean_files: frozenset[str]
    pairs: Mapping[FilePairKey, CountedPair]
    plan: PlanFact | None
    tests: TestFact | None
    tests_tainted: bool
    tokens: Mapping[str, int]
    units: tuple[WorkUnitFact, ...]
    work: OpenWork = OpenWork()
    work_tainted: bool = False
    failed_checks: tuple[CheckFact, ...] = ()
    screens: tuple[CheckFact, ...] = ()


@dataclass(frozen=True, slots=True)
class _AgentActivity:
    """What one agent did: all of it, and the part before outside content."""

    whole: Activity
    clean: Activity
    taint: str | None


def session_facts(state: Mapping[str, Any]) -> SessionFacts:
    """The facts in the saved state of a watch."""
    agents = [_agent(pad) for pad in state["pads"].values()]
    main = agents[0]
    clean_test, any_test = _tests(main.clean), _tests(main.whole)
    return SessionFacts(
        module=main_module(main.whole),
        taint=next((each.taint for each in agents if each.taint is not None), None),
        clean_files=frozenset(path for each in agents for path in each.clean.files),
        pairs=_pairs(agents),
        plan=_plan(main.whole),
        tests=clean_test or any_test,
        tests_tainted=clean_test is None,
        tokens=_tokens(agents),
        units=tuple(unit for each in agents for unit in _units(each)),
        work=(work := _open_work(main.whole)),
        work_tainted=main.taint is not None and work != _open_work(main.clean),
        failed_checks=tuple(fact for each in agents for fact in _failed_checks(each)),
        screens=tuple(fact for each in agents for fact in _screens(each)),
    )


def _agent(pad: Mapping[str, Any]) -> _AgentActivity:
    whole = Activity.from_state(pad["activity"])
    if pad["taint"] is None:
        return _AgentActivity(whole, whole, None)
    clean = Activity() if pad["clean"] is None else Activity.from_state(pad["clean"])
    return _AgentActivity(whole, clean, pad["taint"])


def _pairs(agents: Sequence[_AgentActivity]) -> dict[FilePairKey, CountedPair]:
    clean = {key for each in agents for key, _ in _telling_pairs(each.clean)}
    found: dict[FilePairKey, list[FilePair]] = {}
    for each in agents:
        for key, pair in _telling_pairs(each.whole):
            found.setdefault(key, []).append(pair)
    ranked = sorted(found.items(), key=lambda item: (-sum(_strength(pair) for pair in item[1]), item[0]))
    return {key: CountedPair(_sum(pairs), key not in clean) for key, pairs in ranked[:MAX_PAIRS]}


def _telling_pairs(activity: Activity) -> Iterator[tuple[FilePairKey, FilePair]]:
    """Pairs with an edit, or accessed together more than once; both files could be opened."""
    files = activity.files
    for key, pair in activity.pairs.items():
        if (pair.both_edited or pair.one_edited or pair.count > 1) and key[0] in files and key[1] in files:
            yield key, pair


def _strength(pair: FilePair) -> int:
    return 4 * pair.both_edited + 2 * pair.one_edited + pair.count


def _sum(pairs: Sequence[FilePair]) -> SessionPair:
    count, forward, delay = (sum(getattr(each, name) for each in pairs) for name in ("count", "forward", "delay_ms"))
    return SessionPair(count, forward, float(max(0, delay)))


def _plan(activity: Activity) -> PlanFact | None:
    plan = activity.plan
    steps = activity.step - plan.first_step
    if plan.steps and steps > 0:
        return PlanFact("steps", plan.steps, steps)
    return PlanFact("items", plan.first_items, plan.items) if plan.first_items and plan.items else None


def _tests(activity: Activity) -> TestFact | None:
    found = next(test_order(activity), None)
    return None if found is None else TestFact(str(found.data["order"]), str(found.data["command"]))


def _tokens(agents: Sequence[_AgentActivity]) -> dict[str, int]:
    """Tokens of results by module."""
    tokens: dict[str, int] = {}
    for each in agents:
        for module, use in each.whole.tokens_by_module.items():
            tokens[module] = tokens.get(module, 0) + use.tokens
    return tokens


def _units(agent: _AgentActivity) -> Iterator[WorkUnitFact]:
    for key, task in agent.whole.subtasks.items():
        if task.outcome:
            tainted = agent.taint is not None and agent.clean.subtasks.get(key) != task
            activity = agent.whole if tainted else agent.clean
            yield WorkUnitFact(
                key=key,
                title=task.title or key,
                outcome=task.outcome,
                validated=task.validated,
                steps=max(1, len(_steps_of(task))),
                files=_edited_in(activity, task),
                failures=_failures_in(activity, task),
                tainted=tainted,
            )


def _steps_of(task: SubtaskRun) -> range:
    """The steps after the one at which the subtask began; a subtask at the beginning has the first step, too."""
    return range(task.first_step + (task.first_step > 1), task.last_step + 1)


def _edited_in(activity: Activity, task: SubtaskRun) -> tuple[str, ...]:
    steps = _steps_of(task)
    edited = (path for path, use in activity.files.items() if use.first_edit in steps or use.last_edit in steps)
    return tuple(edited)[:_MAX_FILES]


def _failures_in(activity: Activity, task: SubtaskRun) -> tuple[str, ...]:
    """Failures in these steps that were not resolved in them."""
    steps = _steps_of(task)
    errors = (each for each in activity.errors.values() if each.last_step in steps and each.summary and not each.minor)
    return tuple(each.summary for each in errors if each.last_step > each.resolved_step)[:_MAX_FAILURES]


def _open_work(activity: Activity) -> OpenWork:
    items = sorted(activity.plan_items.items(), key=lambda item: item[1].place)
    tasks = [(task.title or key, task.outcome or RUNNING) for key, task in activity.subtasks.items()]
    states = [(title, item.status) for title, item in items] or tasks
    running = [title for title, status in states if status == RUNNING]
    waiting = [title for title, status in states if not status]
    unsolved = [each for each in activity.errors.values() if each.summary and each.last_step > each.resolved_step]
    said = [(cue.last_step, cue.sentence) for cue in activity.cues.values() if cue.by_user and cue.kind in _DECIDING]
    edited = sorted(activity.files.items(), key=lambda item: -item[1].last_edit)
    current, following = (running, waiting) if running else (waiting[:1], waiting[1:])
    return OpenWork(
        completed=tuple(title for title, status in states if status == "success")[-_MAX_ITEMS:],
        in_progress=next(iter(current), ""),
        next_step=next(iter(following), ""),
        failure=max(unsolved, key=lambda each: each.last_step).summary if unsolved else "",
        decisions=tuple(sentence for _, sentence in sorted(said))[-_MAX_ITEMS:],
        files=tuple(path for path, use in edited if use.edits)[:_MAX_ITEMS],
    )


def _failed_checks(agent: _AgentActivity) -> Iterator[CheckFact]:
    for text, found in agent.whole.qa_failures.items():
        yield CheckFact(
            text,
            found.severity,
            file=found.file,
            tried=found.tried,
            recommendation=found.recommendation,
            tainted=agent.taint is not None and text not in agent.clean.qa_failures,
        )


def _screens(agent: _AgentActivity) -> Iterator[CheckFact]:
    for text, found in agent.whole.screens.items():
        tainted = agent.taint is not None and text not in agent.clean.screens
        yield CheckFact(text, found.kind, tool=found.tool, tainted=tainted)
