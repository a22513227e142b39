"""Signals of the work as a whole: plans, configuration, tokens, outside content."""

from collections.abc import Iterator

from treering.observe.scratchpad import Activity
from treering.observe.signals.command_signals import main_module
from treering.observe.signals.note import SignalFinding

OVERRUN = 1.25  # times the planned steps
_ITEMS_ADDED = 2
_MAX_FILES = 5


def step_overrun(activity: Activity) -> Iterator[SignalFinding]:
    """Plans that took more steps, or grew more items, than they had."""
    plan, module = activity.plan, main_module(activity)
    steps = activity.step - plan.first_step
    if plan.steps and steps > OVERRUN * plan.steps:
        yield _overrun(module, plan.steps, steps, activity.step, {"items": plan.items, "done": plan.done})
    elif plan.first_items and plan.items >= max(OVERRUN * plan.first_items, plan.first_items + _ITEMS_ADDED):
        more: dict[str, object] = {"unit": "items", "steps": steps, "done": plan.done}
        yield _overrun(module, plan.first_items, plan.items, plan.last_step, more)
    for key, task in activity.subtasks.items():
        taken = task.last_step - task.first_step + 1
        if task.planned and task.outcome and taken > OVERRUN * task.planned:
            more = {"subtask": task.title or key, "outcome": task.outcome, "validated": task.validated}
            yield _overrun(module, task.planned, taken, task.last_step, more)


def config_touch(activity: Activity) -> Iterator[SignalFinding]:
    """Configuration files that are edited together with others."""
    for path, use in activity.configs.items():
        paired = tuple(each for each in use.paired if each in activity.files)
        if paired and path in activity.files:
            data = {"edits": use.edits, "paired": list(paired), "tally": dict.fromkeys(paired, 1)}
            yield SignalFinding(path, data, (path, *paired)[:_MAX_FILES], use.last_step, use.edits + len(paired))


def context_token_spike(activity: Activity) -> Iterator[SignalFinding]:
    """Results that filled the context."""
    for subject, spike in activity.spikes.items():
        data = {
            "tokens": spike.tokens,
            "usual": spike.usual,
            "count": spike.count,
            "share": round(spike.tokens / max(1, activity.tokens), 3),
        }
        yield SignalFinding(subject, data, spike.files, spike.last_step, spike.tokens)


def external_reference(activity: Activity) -> Iterator[SignalFinding]:
    """Outside sources that were followed by an edit."""
    for label, source in activity.sources.items():
        if source.files:
            data = {"source": label, "count": source.count}
            yield SignalFinding(label, data, source.files, source.last_step, source.count + len(source.files))


def _overrun(module: str, planned: int, actual: int, step: int, more: dict[str, object]) -> SignalFinding:
    """Of the plan, or of the subtask that `more` names."""
    ratio = round(actual / planned, 2)
    subject = f"{module}: {more['subtask']}" if "subtask" in more else module
    data = {"planned": planned, "actual": actual, "ratio": ratio, "module": module, **more}
    return SignalFinding(subject, data, (), step, ratio)
