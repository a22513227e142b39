"""Plans, subtasks, checks and subagents: what was planned, and the outcome."""

import re
from collections.abc import Mapping, Sequence

from treering.observe.scratchpad.activity import Activity
from treering.observe.scratchpad.checks import record_qa_failures
from treering.observe.scratchpad.intake import IncomingEvent
from treering.observe.scratchpad.kept_text import kept_text
from treering.observe.scratchpad.recent import RecentHistory

_ITEMS = ("todos", "plan", "items", "steps", "tasks", "subtasks")
_NUMBERS = ("planned_steps", "estimated_steps", "steps", "max_steps")
_STATUSES = ("status", "state", "outcome", "result")
_TITLES = ("title", "name", "content", "description", "step", "task")
_IDS = ("subtask", "subtask_id", "agent_id", "id", "key")
_LINE = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)]|\[[ xX]\])\s+\S", re.MULTILINE)
_OUTCOMES: Mapping[str, str] = {
    **dict.fromkeys(("completed", "complete", "done", "success", "succeeded", "passed", "finished", "ok"), "success"),
    **dict.fromkeys(("failed", "failure", "error", "errored", "rejected"), "failure"),
    **dict.fromkeys(("abandoned", "cancelled", "canceled", "skipped", "stopped"), "abandoned"),
}
_MAX_ITEMS = 200
_MAX_KEPT_ITEMS = 50
_BEGUN = frozenset({"in_progress", "in progress", "running", "started", "active", "doing"})
RUNNING = "running"


def record_plan(activity: Activity, arguments: Mapping[str, object], text: str = "") -> None:
    """Take over a plan of a plan event or of a tool such as TodoWrite."""
    items = next((each for name in _ITEMS if isinstance(each := arguments.get(name), (list, tuple))), None)
    count = len(items[:_MAX_ITEMS]) if items is not None else len(_LINE.findall(text[:20_000]))
    steps = _number_in(arguments)
    if not count and not steps:
        return
    plan = activity.plan
    if not plan.first_step:
        plan.first_step, plan.first_items = activity.step, count
    elif count != plan.items:
        plan.revisions += 1
    plan.items = max(plan.items, count)
    plan.steps = plan.steps or steps
    plan.done = sum(_outcome_in(item) == "success" for item in (items or ())[:_MAX_ITEMS])
    plan.last_step = activity.step
    _record_items(activity, items or ())


def _record_items(activity: Activity, items: Sequence[object]) -> None:
    """Keep the plan as it is now; items that were dropped from it are forgotten."""
    activity.plan_items = {}
    for place, item in enumerate(items[:_MAX_KEPT_ITEMS]):
        title = item if isinstance(item, str) else _text_in(item, _TITLES) if isinstance(item, Mapping) else ""
        if kept := kept_text(title, 200):
            found = activity.entry("plan_items", kept)
            found.place, found.step = place, activity.step
            found.status = _outcome_in(item) or (RUNNING if _is_running(item) else "")


def record_subtask(activity: Activity, recent: RecentHistory, event: IncomingEvent) -> None:
    """Begin or end a subtask."""
    details = _details(event)
    key = kept_text(_text_in(details, _IDS) or _text_in(details, _TITLES) or event.text, 120) or recent.subtask
    if not key:
        return
    task = activity.entry("subtasks", key)
    task.title = task.title or kept_text(event.text or _text_in(details, _TITLES), 200)
    task.first_step = task.first_step or max(1, activity.step)
    task.last_step = activity.step
    task.planned = task.planned or _number_in(details)
    task.outcome = _outcome_in(details) or ("failure" if event.is_error else task.outcome)
    if isinstance(validated := details.get("validated"), bool):
        task.validated = validated
    recent.subtask = "" if task.outcome else key


def record_qa_report(activity: Activity, recent: RecentHistory, event: IncomingEvent, root: str) -> None:
    """Keep the serious problems of a check, and attach its outcome to its subtask, or to the last one."""
    details = _details(event)
    record_qa_failures(activity, details, root)
    key = kept_text(_text_in(details, _IDS[:2]), 120)
    task = activity.subtasks.get(key) or next(reversed(activity.subtasks.values()), None)
    if task is None:
        return
    passed = details.get("passed", details.get("validated"))
    task.validated = passed if isinstance(passed, bool) else not (event.is_error or _outcome_in(details) == "failure")


def record_subagent(activity: Activity, event: IncomingEvent) -> None:
    details = _details(event)
    key = kept_text(_text_in(details, ("agent_id", "agent", "id")) or event.call_id or event.text, 120)
    if not key:
        return
    run = activity.entry("subagents", key)
    run.task = run.task or kept_text(event.text, 200)
    run.first_step = run.first_step or max(1, activity.step)
    run.last_step = activity.step
    run.outcome = _outcome_in(details) or ("failure" if event.is_error else run.outcome)


def _details(event: IncomingEvent) -> Mapping[str, object]:
    return {**event.metadata, **event.arguments} if event.metadata else event.arguments


def _text_in(details: Mapping[str, object], names: tuple[str, ...]) -> str:
    return next((each for name in names if isinstance(each := details.get(name), str) and each), "")


def _number_in(details: Mapping[str, object]) -> int:
    for name in _NUMBERS:
        value = details.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 100_000:
            return int(value)
    return 0


def _is_running(item: object) -> bool:
    return isinstance(item, Mapping) and _text_in(item, _STATUSES).lower() in _BEGUN


def _outcome_in(item: object) -> str:
    if not isinstance(item, Mapping):
        return ""
    return _OUTCOMES.get(_text_in(item, _STATUSES).lower(), "")
