"""Signals of errors, of edits taken back, and of conflicting edits."""

from collections import Counter
from collections.abc import Iterator

from treering.observe.scratchpad import Activity
from treering.observe.signals.note import SignalFinding

SAME_ERROR = 3  # times after which an error is worth a record of its own
_MAX_FILES = 6


def error_retry(activity: Activity) -> Iterator[SignalFinding]:
    """Errors that came back in spite of attempts, or that were resolved by a change."""
    for fingerprint, error in activity.errors.items():
        resolved = bool(error.edits or error.commands)
        if not (resolved or error.ways or (error.count > 1 and not error.minor)):
            continue
        data: dict[str, object] = {
            "summary": error.summary,
            "dialect": error.dialect,
            "command": error.command,
            "tool": error.tool,
            "tests": list(error.tests),
            "count": error.count,
            "attempts": error.attempts,
            "resolved": error.resolved,
            "flaky": error.resolved > 0 and not (resolved or error.ways),
            "minor": error.minor,
            "tally": dict(Counter(error.ways)),
            "type": "error_pattern" if error.count >= SAME_ERROR or resolved else "gotcha",
        }
        if resolved:
            data["resolution"] = error.resolution
            data["resolution_edits"], data["resolution_commands"] = list(error.edits), list(error.commands)
        step = max(error.last_step, error.resolved_step)
        strength = error.count + 2 * error.attempts + 3 * bool(error.edits) + 5 * bool(error.commands)
        files = tuple(dict.fromkeys((*error.edits, *error.files)))[:_MAX_FILES]
        yield SignalFinding(fingerprint, data, files, step, strength)


def backtrack(activity: Activity) -> Iterator[SignalFinding]:
    """Files whose edit was soon taken back or changed, with the likely cause."""
    for path, found in activity.backtracks.items():
        if path in activity.files:
            data = {
                "likely_cause": found.cause,
                "count": found.count,
                "within_steps": found.within_steps,
                "paired": list(found.paired),
                "failure": found.failure,
            }
            strength = found.count + bool(found.failure) + bool(found.paired)
            yield SignalFinding(path, data, (path, *found.paired), found.last_step, strength)


def parallel_conflict(activity: Activity) -> Iterator[SignalFinding]:
    """Files with merge conflicts. Edits of one file by several agents are found when their notes are merged."""
    for path, conflict in activity.conflicts.items():
        data = {"cause": conflict.cause, "count": conflict.count}
        yield SignalFinding(path, data, (path,), conflict.last_step, conflict.count)
