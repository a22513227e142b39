"""Commands with their outcomes: counts, sequences that succeed, test runs around edits, errors and their resolution."""

import re
from collections.abc import Iterator

from treering.observe.commands import Command, Purpose
from treering.observe.errors import Failure, resolution_of
from treering.observe.scratchpad.activity import Activity
from treering.observe.scratchpad.calls import PendingCall
from treering.observe.scratchpad.entries import ErrorUse
from treering.observe.scratchpad.kept_text import kept_path, kept_text
from treering.observe.scratchpad.recent import (
    MAX_OPEN_COMMANDS,
    Did,
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
    _resolve(activity, recent, normal)
    recent.note(activity.step, Did.SUCCEEDED, normal)
    if purpose is Purpose.TEST:
        _record_test_run(activity, normal, failed=False)
    if purpose in _RECIPE_PURPOSES or _PUBLISHING.match(normal):
        _record_sequence(activity, recent, normal, purpose)


def record_failure(activity: Activity, recent: RecentHistory, source: str, call: PendingCall, failure: Failure) -> None:
    """Note a failure of a call; it is resolved as soon as a call with the same `source` succeeds.

    A minor failure counts, but is not kept as an error.
    """
    use = activity.commands.get(source)
    if use:
        use.failures += 1
    if failure.minor:
        if call.purpose is Purpose.TEST:
            _record_test_run(activity, source, failed=True)
        recent.note(activity.step, Did.FAILED, failure.fingerprint)
        return
    error: ErrorUse = activity.entry("errors", failure.fingerprint)
    if not error.count:
        error.summary = kept_text(failure.summary, 200)
        error.dialect, error.tool = failure.dialect, call.tool
        error.tests = tuple(kept_text(each, 160) for each in failure.tests[:5])
        error.first_step = activity.step
    error.command = source
    error.files = tuple(path for each in failure.files[:8] if (path := kept_path(each)))
    error.count += 1
    error.last_step = activity.step
    if call.purpose is Purpose.TEST:
        _record_test_run(activity, source, failed=True)
    number = recent.note(activity.step, Did.FAILED, failure.fingerprint)
    _open(recent, source, error, failure.fingerprint, number)


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


def _resolve(activity: Activity, recent: RecentHistory, source: str) -> None:
    for opened in recent.open_errors.pop(source, ()):
        error = activity.errors.get(opened.fingerprint)
        if error is None:
            continue
        done = [*recent.since(opened.failed_at, opened.next_run or None)][::-1]
        error.resolved += 1
        error.resolved_step = activity.step
        edits = tuple(dict.fromkeys(each.value for each in done if each.did == Did.EDITED))[:_MAX_CHANGES]
        commands = tuple(_changing_commands(activity, done, source))[:_MAX_CHANGES]
        if edits or commands:
            error.edits, error.commands = edits, tuple(each.normal for each in commands)
            error.resolution = resolution_of(edits, commands) or ""


def _changing_commands(activity: Activity, done: list[JournalEntry], source: str) -> Iterator[Command]:
    """Commands that succeeded and may have changed something, each once."""
    for normal in dict.fromkeys(each.value for each in done if each.did == Did.SUCCEEDED and each.value != source):
        use = activity.commands.get(normal)
        if use and Purpose(use.purpose) in _CHANGING_PURPOSES:
            yield Command(Purpose(use.purpose), normal)


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
    tests.command, tests.last_step = command, activity.step
