"""Commands with their outcomes: counts, sequences that succeed, test runs around edits, errors and their resolution."""

import re
from collections.abc import Iterator

from treering.observe.commands import Purpose, ShellCommand
from treering.observe.errors import Failure, changes_of, other_form, other_path, resolution_of, ways_of
from treering.observe.scratchpad.activity import Activity
from treering.observe.scratchpad.calls import PendingCall
from treering.observe.scratchpad.entries import ErrorUse
from treering.observe.scratchpad.kept_text import kept_path, kept_text
from treering.observe.scratchpad.recent import (
    MAX_OPEN_COMMANDS,
    Did,
    FailedCall,
    JournalEntry,
    OpenError,
    RecentHistory,
    SucceededCommand,
)

SEQUENCE_STEPS = 25  # commands further apart than this do not belong to one sequence
_RECIPE_PURPOSES = frozenset(
    {
        Purpose.TEST,
        Purpose.BUILD,
        Purpose.LINT,
        Purpose.FORMAT,
        Purpose.TYPECHECK,
        Purpose.INSTALL,
        Purpose.MIGRATE,
        Purpose.RUN,
    }
)
_CHANGING_PURPOSES = frozenset({Purpose.BUILD, Purpose.FORMAT, Purpose.INSTALL, Purpose.MIGRATE, Purpose.RUN})
_PUBLISHING = re.compile(r"^(?:git (?:commit|push|rebase|merge|tag)|gh pr create|jj (?:commit|describe|git push))\b")
_MAX_OPEN_ERRORS = 4  # of one command
_MAX_CHANGES = 8
_MAX_WAYS = 40  # kept of one error
_OTHER_FORM_STEPS = 6  # a call this soon after a failed one may be another form of it
_LOOKING = ("find ", "ls", "fd ", "rg ", "grep ", "git ls-files", "tree")
_CONFLICT = re.compile(r"^CONFLICT \([^)\n]{1,40}\): (?:Merge conflict in )?(\S[^\n]{0,300})", re.MULTILINE)
_MAX_CONFLICTS = 20


def record_run(activity: Activity, normal: str, purpose: Purpose) -> None:
    use = activity.entry("commands", normal)
    use.purpose = purpose.value
    use.runs += 1
    use.first_step = use.first_step or activity.step
    use.last_step = activity.step


def record_success(
    activity: Activity, recent: RecentHistory, normal: str, purpose: Purpose, duration_ms: float | None
) -> None:
    """Note that a command succeeded: it resolves its errors and continues a sequence."""
    use = activity.commands.get(normal)
    if use:
        use.successes += 1
        use.longest_ms = max(use.longest_ms, int(duration_ms or 0))
    failed = FailedCall(*recent.failed)
    if failed.value and not failed.tool and activity.step - failed.step <= _OTHER_FORM_STEPS:
        before = activity.commands.get(failed.value)
        if before is None or before.purpose in (purpose.value, Purpose.OTHER.value):
            _resolve_otherwise(activity, recent, failed, other_form(failed.value, normal))
    _resolve(activity, recent, normal)
    recent.note(activity.step, Did.SUCCEEDED, normal)
    if purpose is Purpose.TEST:
        _record_test_run(activity, normal, failed=False)
    if purpose in _RECIPE_PURPOSES or _PUBLISHING.match(normal):
        _record_sequence(activity, recent, normal, purpose)


def record_tool_success(activity: Activity, recent: RecentHistory, tool: str, path: str) -> None:
    """Note that a call of one of the agent's own tools succeeded, if that resolves an error."""
    if (source := tool_source(tool, path)) in recent.open_errors:
        _resolve(activity, recent, source, path)
    failed = FailedCall(*recent.failed)
    if failed.tool == tool and activity.step - failed.step <= _OTHER_FORM_STEPS:
        _resolve_otherwise(
            activity, recent, failed, other_path(failed.value, path, searched=_has_searched(recent, failed))
        )


def tool_source(tool: str, path: str) -> str:
    """What names a call of a tool that does not run a command."""
    return f"{tool} {path}" if path else tool


def record_failure(activity: Activity, recent: RecentHistory, source: str, call: PendingCall, failure: Failure) -> None:
    """Note a failure of a call; it is resolved as soon as a call with the same `source` succeeds."""
    use = activity.commands.get(source)
    if use:
        use.failures += 1
    error: ErrorUse = activity.entry("errors", failure.fingerprint)
    if not error.count:
        error.summary = kept_text(failure.summary, 200)
        error.dialect, error.tool = failure.dialect, call.tool
        error.tests = tuple(kept_text(each, 160) for each in failure.tests[:5])
        error.first_step = activity.step
    error.command = source if call.normal else call.tool
    error.minor = failure.minor
    error.files = tuple(path for each in failure.files[:8] if (path := kept_path(each)))
    error.count += 1
    error.last_step = activity.step
    if call.purpose is Purpose.TEST:
        _record_test_run(activity, source, failed=True)
    number = recent.note(activity.step, Did.FAILED, failure.fingerprint)
    _open(recent, source, error, failure.fingerprint, number)
    tool, value = ("", source) if call.normal else (call.tool, next(iter(call.use.paths), ""))
    recent.failed = FailedCall(tool, value, failure.fingerprint, activity.step, number)


def record_conflicts(activity: Activity, text: str) -> None:
    """Note the files in which a merge found conflicts."""
    if "CONFLICT (" not in text:
        return
    for found in list(_CONFLICT.finditer(text[:20_000]))[:_MAX_CONFLICTS]:
        path = kept_path(found[1].strip())
        if path and not path.startswith(("/", "..")):
            conflict = activity.entry("conflicts", path)
            conflict.count += 1
            conflict.cause, conflict.last_step = "merge", activity.step


def _open(recent: RecentHistory, source: str, error: ErrorUse, fingerprint: str, number: int) -> None:
    """Keep the error open until its command succeeds; another failure in between ends the search for its resolution."""
    still_open = []
    for each in recent.open_errors.pop(source, ()):
        if each.fingerprint != fingerprint:
            still_open.append(each if each.next_run else each._replace(next_run=number))
        elif any(done.did in (Did.EDITED, Did.SUCCEEDED) for done in recent.since(each.failed_at)):
            error.attempts += 1
    if len(recent.open_errors) >= MAX_OPEN_COMMANDS:
        del recent.open_errors[next(iter(recent.open_errors))]
    recent.open_errors[source] = (*still_open[1 - _MAX_OPEN_ERRORS :], OpenError(fingerprint, number, 0))


def _resolve(activity: Activity, recent: RecentHistory, source: str, path: str | None = None) -> None:
    """Note how the open errors of a call were resolved; `path` is the file of a tool that does not run a command."""
    for opened in recent.open_errors.pop(source, ()):
        error = activity.errors.get(opened.fingerprint)
        if error is None:
            continue
        done = [*recent.since(opened.failed_at, opened.next_run or None)][::-1]
        error.resolved += 1
        error.resolved_step = activity.step
        if recent.failed[2] == opened.fingerprint:
            recent.failed = _NOT_FAILED
        edits = tuple(dict.fromkeys(each.value for each in done if each.did == Did.EDITED))[:_MAX_CHANGES]
        reads = [each.value for each in done if each.did == Did.READ]
        ways = ways_of(path or "", error.files, edits, reads, is_tool=path is not None)
        commands = () if path is not None else tuple(_changing_commands(activity, done, source))[:_MAX_CHANGES]
        changes = () if path is not None else changes_of(edits, commands)
        error.ways = (*error.ways, *ways, *changes)[-_MAX_WAYS:]
        if path is not None:
            continue
        if edits or commands:
            error.edits, error.commands = edits, tuple(each.normal for each in commands)
            error.resolution = resolution_of(edits, commands) or ""


def _resolve_otherwise(activity: Activity, recent: RecentHistory, failed: FailedCall, way: str) -> None:
    """Note that another form of the failed call succeeded."""
    error = activity.errors.get(failed.fingerprint)
    if way and error is not None:
        error.resolved += 1
        error.resolved_step = activity.step
        error.ways = (*error.ways, way)[-_MAX_WAYS:]
        recent.failed = _NOT_FAILED


def _has_searched(recent: RecentHistory, failed: FailedCall) -> bool:
    return any(
        each.did == Did.SEARCHED or (each.did == Did.SUCCEEDED and each.value.startswith(_LOOKING))
        for each in recent.since(failed.number)
    )


_NOT_FAILED = FailedCall("", "", "", 0, 0)


def _changing_commands(activity: Activity, done: list[JournalEntry], source: str) -> Iterator[ShellCommand]:
    """Commands that succeeded and may have changed something, each once."""
    for normal in dict.fromkeys(each.value for each in done if each.did == Did.SUCCEEDED and each.value != source):
        use = activity.commands.get(normal)
        if use and Purpose(use.purpose) in _CHANGING_PURPOSES:
            yield ShellCommand(Purpose(use.purpose), normal)


def _record_sequence(activity: Activity, recent: RecentHistory, normal: str, purpose: Purpose) -> None:
    """Count the sequences of two to four commands that end with this one."""
    step, window = activity.step, recent.succeeded
    if window and (window[-1].normal == normal or step - window[-1].step > SEQUENCE_STEPS):
        last = window[-1]
        if last.normal != normal:
            window.clear()
        else:
            window.pop()
    command = SucceededCommand(normal, purpose.value, step, activity.edits)
    run: tuple[SucceededCommand, ...] = (command,)
    for earlier in reversed(window):
        if any(earlier.normal == each.normal for each in run):
            break
        run = (earlier, *run)
        sequence = activity.entry("sequences", tuple(each.normal for each in run))
        sequence.count += 1
        sequence.purposes = tuple(each.purpose for each in run)
        sequence.edits += activity.edits - run[0].edits
        sequence.last_step = step
    window.append(command)


def _record_test_run(activity: Activity, command: str, *, failed: bool) -> None:
    tests = activity.tests
    if activity.edits:
        tests.after += 1
    else:
        tests.before += 1
        tests.failed_before += failed
    tests.failures += failed
    tests.untested_edits = 0
    tests.command, tests.last_step, tests.last_failed = command, activity.step, failed
