"""Signals of commands: sequences that work, and when tests are run."""

from collections.abc import Iterator

from treering.observe.scratchpad import Activity
from treering.observe.scratchpad.entries import CommandSequence
from treering.observe.scratchpad.path_kinds import module_of
from treering.observe.signals.note import SignalFinding

SEQUENCE_ARROW = " → "  # between the commands of a sequence, in its subject


def tool_sequence(activity: Activity) -> Iterator[SignalFinding]:
    """Commands of different purposes that succeed in the same order: the longest sequences."""
    longer = _longer_sequences(activity.sequences)
    for commands, found in activity.sequences.items():
        if len(set(found.purposes)) < 2 or longer.get(commands, 0) >= found.count:
            continue
        data = {"commands": list(commands), "count": found.count, "purposes": list(found.purposes)}
        yield SignalFinding(SEQUENCE_ARROW.join(commands), data, (), found.last_step, found.count * len(commands))


def test_order(activity: Activity) -> Iterator[SignalFinding]:
    """Whether tests were run before or after the edits, and how many edits went untested."""
    tests = activity.tests
    if not activity.edits or not (tests.before or tests.after):
        return
    if tests.test_edited_first or tests.failed_before:
        order = "test_first"
    elif tests.before and tests.after:
        order = "before_and_after"
    else:
        order = "after" if tests.after else "before"
    data = {
        "order": order,
        "command": tests.command,
        "before": tests.before,
        "after": tests.after,
        "failures": tests.failures,
        "most_untested_edits": tests.most_untested_edits,
        "module": main_module(activity),
    }
    yield SignalFinding(f"{data['module']}: {tests.command}", data, (), tests.last_step, tests.before + tests.after)


def main_module(activity: Activity) -> str:
    """Module with most edits, else with most reads."""
    scores: dict[str, int] = {}
    for path, use in activity.files.items():
        module = module_of(path)
        scores[module] = scores.get(module, 0) + 100 * use.edits + use.reads
    return max(scores, key=lambda module: scores[module], default=".")


def _longer_sequences(sequences: dict[tuple[str, ...], CommandSequence]) -> dict[tuple[str, ...], int]:
    """For each sequence, the most that a sequence one command longer than it occurred."""
    found: dict[tuple[str, ...], int] = {}
    for commands, sequence in sequences.items():
        if len(commands) > 2:
            for part in (commands[1:], commands[:-1]):
                found[part] = max(found.get(part, 0), sequence.count)
    return found
