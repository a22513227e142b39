"""What the scratchpad keeps about files, searches, commands, errors, edits and plans.

Fields are plain values or tuples of them, so that an entry is one row of a checkpoint. Steps count from 1; 0 means
never. Times are seconds since the first event.
"""

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, TypeVar

E = TypeVar("E")


@dataclass(slots=True)
class ObservedFileUse:
    """Accesses of one file."""

    reads: int = 0
    edits: int = 0
    first_step: int = 0
    last_step: int = 0
    first_edit: int = 0
    last_edit: int = 0
    first_at: float = 0.0
    last_at: float = 0.0
    dwell_ms: int = 0  # time until the next tool call, summed over the accesses


@dataclass(slots=True)
class FilePair:
    """Two files, in alphabetical order, accessed within three steps of each other."""

    count: int = 0
    forward: int = 0  # times that the first one came first
    delay_ms: int = 0  # sum over `count`
    both_edited: int = 0
    one_edited: int = 0
    first_step: int = 0
    last_step: int = 0


@dataclass(slots=True)
class SearchUse:
    """Searches for one pattern."""

    count: int = 0
    empty: int = 0
    first_step: int = 0
    last_step: int = 0
    answers: tuple[str, ...] = ()  # files that were opened right after the last search


@dataclass(slots=True)
class ListingUse:
    """Listings by one pattern or of one folder."""

    count: int = 0
    used: int = 0
    ignored: int = 0
    results: int = 0  # entries of the last listing
    last_step: int = 0


@dataclass(slots=True)
class CommandUse:
    """Runs of one command. A run without a result has no outcome."""

    purpose: str = ""
    runs: int = 0
    failures: int = 0
    successes: int = 0
    first_step: int = 0
    last_step: int = 0
    longest_ms: int = 0


@dataclass(slots=True)
class CommandSequence:
    """Commands that succeeded one after the other."""

    count: int = 0
    purposes: tuple[str, ...] = ()
    edits: int = 0  # edits between them, summed over `count`
    last_step: int = 0


@dataclass(slots=True)
class ErrorUse:
    """One failure, and how it was resolved."""

    summary: str = ""
    dialect: str = ""
    command: str = ""
    tool: str = ""
    tests: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    count: int = 0
    attempts: int = 0  # times that edits or other commands did not help
    resolved: int = 0
    first_step: int = 0
    last_step: int = 0
    resolved_step: int = 0
    edits: tuple[str, ...] = ()  # files edited between the last failure and the first success
    commands: tuple[str, ...] = ()  # commands that succeeded in between and may have changed something
    resolution: str = ""  # both, as a phrase
    minor: bool = False  # says little about the project
    ways: tuple[str, ...] = ()  # phrases for what preceded a success: one for each time that it did, the latest


@dataclass(slots=True)
class PlanItem:
    """One item of the plan as it was last given, in the order of the plan."""

    status: str = ""  # "success", "failure", "abandoned", "running", or empty if it was not begun
    place: int = 0
    step: int = 0


@dataclass(slots=True)
class QaFailure:
    """A serious problem that a check reported."""

    severity: str = ""
    file: str = ""
    tried: str = ""
    recommendation: str = ""
    step: int = 0


@dataclass(slots=True)
class ScreenObservation:
    """What a tool that drives a browser or an app reported."""

    kind: str = ""
    tool: str = ""
    count: int = 0
    step: int = 0


@dataclass(slots=True)
class EditBacktrack:
    """Edits of one file that changed what had just been written."""

    count: int = 0
    cause: str = ""
    within_steps: int = 0
    paired: tuple[str, ...] = ()
    failure: str = ""
    last_step: int = 0


@dataclass(slots=True)
class ConfigUse:
    """Edits of one configuration file, and the files edited around them."""

    edits: int = 0
    paired: tuple[str, ...] = ()
    last_step: int = 0


@dataclass(slots=True)
class ImportChase:
    """Files read one after the other along their imports, from the first to the last of the key."""

    count: int = 0
    chain: tuple[str, ...] = ()
    edited: bool = False
    last_step: int = 0


@dataclass(slots=True)
class AbandonedRead:
    """A file that was read and left for another search; `instead` was edited afterwards."""

    step: int = 0
    pattern: str = ""
    instead: str = ""
    instead_step: int = 0


@dataclass(slots=True)
class ModuleTokens:
    """Tokens of results about one module."""

    tokens: int = 0
    results: int = 0
    largest: int = 0


@dataclass(slots=True)
class TokenSpike:
    """Results of one file, command or search that were unusually long."""

    count: int = 0
    tokens: int = 0  # of the largest
    usual: int = 0  # mean of the results until then
    files: tuple[str, ...] = ()
    last_step: int = 0


@dataclass(slots=True)
class OutsideSource:
    """Outside content that entered the session."""

    count: int = 0
    first_step: int = 0
    last_step: int = 0
    files: tuple[str, ...] = ()  # edited afterwards


@dataclass(slots=True)
class KeptCue:
    """A sentence with a cue. `approach`, `reason` and `alternative` belong to an abandoned approach."""

    kind: str = ""
    sentence: str = ""
    phrase: str = ""
    count: int = 0
    by_user: bool = False
    files: tuple[str, ...] = ()
    approach: str = ""
    reason: str = ""
    alternative: str = ""
    first_step: int = 0
    last_step: int = 0


@dataclass(slots=True)
class EditConflict:
    """A file that two agents or branches changed in conflicting ways."""

    count: int = 0
    agents: int = 2
    cause: str = ""
    last_step: int = 0


@dataclass(slots=True)
class SubtaskRun:
    """One subtask of the plan. `validated` is None until a check is reported."""

    title: str = ""
    outcome: str = ""
    validated: bool | None = None
    planned: int = 0
    first_step: int = 0
    last_step: int = 0


@dataclass(slots=True)
class SubagentRun:
    """One subagent, as the parent saw it."""

    task: str = ""
    outcome: str = ""
    first_step: int = 0
    last_step: int = 0


@dataclass(slots=True)
class PlannedWork:
    """The plan and its changes."""

    steps: int = 0  # planned steps, where the plan names a number
    first_items: int = 0
    items: int = 0
    done: int = 0
    revisions: int = 0
    first_step: int = 0
    last_step: int = 0


@dataclass(slots=True)
class TestRuns:
    """Test runs in relation to edits of source files."""

    __test__ = False  # not a test class, whatever pytest thinks of the name

    before: int = 0
    after: int = 0
    failed_before: int = 0
    failures: int = 0
    test_edited_first: bool = False
    untested_edits: int = 0
    most_untested_edits: int = 0
    command: str = ""
    last_step: int = 0
    last_failed: bool = False


_GETTERS: "dict[Any, attrgetter[Any]]" = {}


def _values(entry: Any) -> tuple[Any, ...]:
    kind = type(entry)
    getter = _GETTERS.get(kind)
    if getter is None:
        getter = _GETTERS[kind] = attrgetter(*(field.name for field in fields(kind)))
    values: tuple[Any, ...] = getter(entry)
    return values


def packed(entry: Any) -> list[Any]:
    """The entry as a JSON array."""
    return [_listed(value) if type(value) is tuple else value for value in _values(entry)]


def _listed(values: tuple[Any, ...]) -> list[Any]:
    return [_listed(value) if type(value) is tuple else value for value in values]


def frozen(value: Any) -> Any:
    """A JSON array as a tuple."""
    return tuple(frozen(each) for each in value) if isinstance(value, (list, tuple)) else value


def unpacked(kind: type[E], values: list[Any]) -> E:
    return kind(*(frozen(value) if type(value) is list else value for value in values))


def copied(entry: E) -> E:
    return type(entry)(*_values(entry))
