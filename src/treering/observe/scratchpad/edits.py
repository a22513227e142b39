"""Edits: whether one takes back another, and which configuration is edited together with which files."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from zlib import crc32

from treering.observe.scratchpad.activity import Activity
from treering.observe.scratchpad.path_kinds import is_config
from treering.observe.scratchpad.recent import MAX_WRITTEN_FILES, Did, JournalEntry, RecentHistory, WrittenLines

BACKTRACK_STEPS = 5
CONFIG_STEPS = 10  # a file edited this close to a configuration file belongs to it
_MAX_LINES = 40
_MIN_LINE = 8  # characters; a brace or `return` says nothing
_MAX_TEXT = 8_000
_MAX_PAIRED = 6
_FIELDS: Mapping[str, str] = {
    **dict.fromkeys(("old_string", "old_str", "oldText", "old_text", "old", "oldString"), "old"),
    **dict.fromkeys(("new_string", "new_str", "newText", "new_text", "new", "newString"), "new"),
    **dict.fromkeys(("content", "file_text", "contents"), "new"),
    **dict.fromkeys(("patch", "input", "diff", "patch_text", "patchText"), "patch"),
}


_PATCH_MARK = "*** Begin Patch"  # of a patch that is given to a shell


class BacktrackCause(StrEnum):
    WRONG_ASSUMPTION = "wrong_assumption"
    MISSING_CONTEXT = "missing_context"
    CASCADING_CHANGE = "cascading_change"


def record_edit(activity: Activity, recent: RecentHistory, path: str, arguments: Mapping[str, object]) -> None:
    """Compare an edit with the last one of the same file. Call it after the access was recorded."""
    removed, added = changed_lines(arguments)
    before = recent.written.pop(path, None)
    if before and activity.step - before.step <= BACKTRACK_STEPS:
        _record_backtrack(activity, recent, path, before, removed)
    if len(recent.written) >= MAX_WRITTEN_FILES:
        del recent.written[next(iter(recent.written))]
    recent.written[path] = WrittenLines(activity.step, recent.number, added)
    _record_config(activity, recent, path)


def forget_edit(recent: RecentHistory, path: str) -> None:
    """Take back an edit that failed."""
    recent.written.pop(path, None)


def changed_lines(arguments: Mapping[str, object]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Checksums of the lines that an edit removes and of those that it adds."""
    old: dict[int, None] = {}
    new: dict[int, None] = {}
    for change in _changes(arguments):
        for name, value in change.items():
            target = _FIELDS.get(name)
            if target is None or not isinstance(value, str):
                continue
            lines = value[:_MAX_TEXT].split("\n", 2 * _MAX_LINES)[: 2 * _MAX_LINES]
            if target != "patch":
                _add_checksums(old if target == "old" else new, lines)
            else:
                _add_checksums(old, [line[1:] for line in lines if line.startswith("-")])
                _add_checksums(new, [line[1:] for line in lines if line.startswith("+")])
    removed = tuple(line for line in old if line not in new)[:_MAX_LINES]
    added = tuple(line for line in new if line not in old)[:_MAX_LINES]
    return removed, added


def _changes(arguments: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    yield arguments
    command = arguments.get("command")
    if isinstance(command, (list, tuple)) and command:
        command = command[-1]
    if isinstance(command, str) and _PATCH_MARK in command:
        yield {"patch": command}
    several = arguments.get("edits")
    if isinstance(several, (list, tuple)):
        yield from (each for each in several[:20] if isinstance(each, Mapping))


def _add_checksums(checksums: dict[int, None], lines: list[str]) -> None:
    for each in lines:
        line = each.strip()
        if len(line) >= _MIN_LINE:
            checksums[crc32(line.encode("utf-8", "replace"))] = None


def _record_backtrack(
    activity: Activity, recent: RecentHistory, path: str, before: WrittenLines, removed: tuple[int, ...]
) -> None:
    between = [each for each in recent.since(before.number) if not (each.did == Did.EDITED and each.value == path)]
    failure = next((each.value for each in between if each.did == Did.FAILED), "")
    known = bool(before.lines and removed)
    if not (any(line in before.lines for line in removed) if known else failure):
        return
    found = activity.entry("backtracks", path)
    found.count += 1
    found.within_steps = max(1, activity.step - before.step)
    paired = tuple(dict.fromkeys(each.value for each in between if each.did == Did.EDITED))[:_MAX_PAIRED]
    found.cause = _cause_of(between, paired)
    found.paired = tuple(dict.fromkeys((*found.paired, *paired)))[:_MAX_PAIRED]
    error = activity.errors.get(failure)
    found.failure = error.summary if error and not error.minor else found.failure
    found.last_step = activity.step


def _cause_of(between: list[JournalEntry], paired: tuple[str, ...]) -> BacktrackCause:
    did = {each.did for each in between}
    if paired:
        return BacktrackCause.CASCADING_CHANGE
    if Did.FAILED in did or Did.CORRECTED in did:
        return BacktrackCause.WRONG_ASSUMPTION
    return BacktrackCause.MISSING_CONTEXT if did & {Did.READ, Did.SEARCHED} else BacktrackCause.WRONG_ASSUMPTION


def _record_config(activity: Activity, recent: RecentHistory, path: str) -> None:
    step = activity.step
    if not is_config(path):
        for config, config_step in recent.configs:
            if step - config_step <= CONFIG_STEPS:
                _pair_with_config(activity, config, (path,))
        return
    config_use = activity.entry("configs", path)
    config_use.edits += 1
    edited = (each for each in reversed(recent.touches) if each.edited and step - each.step <= CONFIG_STEPS)
    _pair_with_config(activity, path, tuple(each.path for each in edited if each.path != path))
    recent.configs.append((path, step))


def _pair_with_config(activity: Activity, config: str, paths: tuple[str, ...]) -> None:
    use = activity.configs.get(config)
    if use:
        use.paired = tuple(dict.fromkeys((*use.paired, *paths)))[:_MAX_PAIRED]
        use.last_step = activity.step
