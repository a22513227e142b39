"""Variables of a task: by scope, each with the lifetime that the scope's name implies."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treering.core.errors import InvalidInput
from treering.core.values import KEY_BYTES, FrozenDict, thaw
from treering.task.sections import KINDS, Section
from treering.task.sizes import Address, most_tokens

# A save holds the variables some levels down, and records end at 32.
DEPTH = 24


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long a scope's variables live, and of which kind they are."""

    kind: str
    ends: str


# Innermost first: the order in which a name is looked up.
SCOPES: Mapping[str, Lifetime] = {
    "execution": Lifetime("control_flow", "with the state frame they were set in"),
    "intermediate": Lifetime("intermediate", "when their subtask's output is moved out; they come back with it"),
    "task": Lifetime("task", "with the task, or at clear"),
    "global": Lifetime("task", "with the task, or at clear"),
    "metadata": Lifetime("metadata", "never: they survive clear"),
}
# Whose they are: none of these has owners.
_SHARED = ("task", "global", "metadata")


_SECTIONS: Mapping[str, Section] = {name: KINDS[f"{each.kind} variable"].section for name, each in SCOPES.items()}


class Variables:
    """Values by address; frozen when they come in, thawed copies when they go out."""

    def __init__(self) -> None:
        self.values: dict[Address, Any] = {}
        self.accumulators: set[str] = set()
        self.short: set[Address] = set()
        self.hidden: set[Address] = set()
        self._subtasks: dict[str, None] = {}

    def copy(self) -> "Variables":
        twin = Variables()
        twin.values, twin.accumulators = dict(self.values), set(self.accumulators)
        twin.short, twin.hidden, twin._subtasks = set(self.short), set(self.hidden), dict(self._subtasks)
        return twin

    def put(self, address: Address, frozen: Any) -> None:
        """Keep a frozen value; it is shown whole again."""
        self.values[address] = frozen
        self.short.discard(address)
        self.hidden.discard(address)
        if address[0] == "intermediate":
            self._subtasks[address[1]] = None

    def find(self, key: str, scope: str | None, depth: int, subtask: str | None) -> Address | None:
        """Where `key` stands, innermost first; None where it stands nowhere."""
        values = self.values
        for name in SCOPES if scope is None else (scope,):
            if name in _SHARED:
                if (name, "", key) in values:
                    return name, "", key
                continue
            for owner in self._owners(name, depth, subtask):
                if (name, owner, key) in values:
                    return name, owner, key
        return None

    def of(self, scope: str, owner: str = "") -> dict[str, Any]:
        """The frozen values of one owner, by name."""
        return {key: value for (where, who, key), value in self.values.items() if (where, who) == (scope, owner)}

    def remove(self, scope: str, owner: str) -> list[Address]:
        """End the lifetime of one owner's variables; their addresses are returned."""
        gone = [address for address in self.values if address[:2] == (scope, owner)]
        for address in gone:
            del self.values[address]
            self.short.discard(address)
            self.hidden.discard(address)
        self._subtasks.pop(owner, None)
        return gone

    def kept(self) -> "Variables":
        """Those that survive clear: accumulators and metadata."""
        rest = Variables()
        for address, value in self.values.items():
            if address[0] == "metadata" or self.is_accumulator(address):
                rest.put(address, value)
        rest.accumulators = set(self.accumulators)
        return rest

    def is_accumulator(self, address: Address) -> bool:
        return address[0] == "task" and address[2] in self.accumulators

    def kind_of(self, address: Address) -> str:
        """The kind of item that a variable is."""
        return "accumulator" if self.is_accumulator(address) else f"{SCOPES[address[0]].kind} variable"

    def section_of(self, address: Address) -> Section:
        return Section.RESULTS if self.is_accumulator(address) else _SECTIONS[address[0]]

    def _owners(self, scope: str, depth: int, subtask: str | None) -> Iterator[str]:
        if scope == "execution":
            yield from (str(frame) for frame in range(depth, 0, -1))
            return
        if subtask is not None:
            yield subtask
        yield from reversed(self._subtasks)


def checked_key(key: object) -> str:
    """The name of a variable."""
    if not isinstance(key, str) or not key.strip() or not key.isprintable() or len(key.encode()) > KEY_BYTES:
        raise InvalidInput(f"{key!r} cannot name a variable; use up to {KEY_BYTES} bytes of printable text")
    return key


def checked_scope(scope: str) -> str:
    if scope not in SCOPES:
        raise InvalidInput(f"there is no scope {scope!r}; choose one of {', '.join(SCOPES)}")
    return scope


def frozen_value(key: str, value: object) -> Any:
    """`value` as JSON that nobody can change; anything else is `InvalidInput`."""
    if type(value) in (int, bool, type(None)) and -(2**63) < (value or 0) < 2**63:  # type: ignore[operator]
        return value
    try:
        frozen = FrozenDict({"value": value})["value"]
        most_shown(frozen)
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f"the variable {key!r} {exc}") from exc
    return frozen


def most_shown(value: Any, room: int = DEPTH) -> int:
    """More tokens than the value takes when it is shown; raises where it is nested too deep to be saved."""
    if isinstance(value, str):
        # A control character is escaped to six characters; others that are escaped, to two.
        if value.isascii():
            signs = value.count('"') + value.count("\\") if value.isprintable() else 5 * len(value)
            return most_tokens(len(value) + signs + 2, plain=True)
        return most_tokens(6 * len(value) + 2, plain=False)
    if isinstance(value, (Mapping, tuple)):
        if room == 0:
            raise ValueError(f"is nested deeper than {DEPTH} levels; flatten it")
        if isinstance(value, Mapping):
            pairs = sum(most_shown(name) + most_shown(item, room - 1) for name, item in value.items())
            return pairs + 4 * len(value) + 4
        return sum(most_shown(item, room - 1) for item in value) + 4 * len(value) + 4
    return most_tokens(len(repr(value)) + 1, plain=True)


def shown_value(value: Any) -> str:
    """The value as one line of JSON."""
    return json.dumps(thaw(value), ensure_ascii=False)


def added(key: str, before: Any, more: Any) -> Any:
    """What an accumulator holds after `more`: lists grow, numbers add up, maps are updated. Both are frozen."""
    if isinstance(before, tuple):
        return (*before, *more) if isinstance(more, tuple) else (*before, more)
    if isinstance(before, Mapping) and isinstance(more, Mapping):
        return FrozenDict({**before, **more})
    if _is_number(before) and _is_number(more):
        return frozen_value(key, before + more)
    raise InvalidInput(
        f"{key!r} holds {type(thaw(before)).__name__} and cannot take {type(thaw(more)).__name__}; "
        "lists take anything, numbers take numbers, maps take maps"
    )


def first_gathered(value: Any) -> Any:
    """What an accumulator begins with: a number, a map or a list."""
    return value if _is_number(value) or isinstance(value, (Mapping, tuple)) else (value,)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
