"""Variables of a task by scope; the scope determines their lifetime."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treering.core.errors import InvalidInput
from treering.core.values import KEY_BYTES, FrozenDict, thaw
from treering.task.sections import KINDS, Section
from treering.task.sizes import Address, max_tokens_of

# Records may nest 32 levels, and a save holds variables a few levels down.
DEPTH = 24


@dataclass(frozen=True, slots=True)
class VariableLifetime:
    """The kind of a scope's variables, and when their lifetime ends."""

    kind: str
    ends: str


# Innermost first, the order of lookup.
SCOPES: Mapping[str, VariableLifetime] = {
    "execution": VariableLifetime("control_flow", "with the state frame they were set in"),
    "intermediate": VariableLifetime(
        "intermediate", "when their subtask's output is moved out; they come back with it"
    ),
    "task": VariableLifetime("task", "with the task, or at clear"),
    "global": VariableLifetime("task", "with the task, or at clear"),
    "metadata": VariableLifetime("metadata", "never: they survive clear"),
}
# Scopes without owners.
_SHARED = ("task", "global", "metadata")


_SECTIONS: Mapping[str, Section] = {name: KINDS[f"{each.kind} variable"].section for name, each in SCOPES.items()}


class Variables:
    """Frozen values by address, with how each is shown."""

    def __init__(self) -> None:
        self.values: dict[Address, Any] = {}
        self.accumulators: set[str] = set()
        self.short: set[Address] = set()
        self.hidden: set[Address] = set()
        self._subtasks: dict[str, None] = {}

    def copy(self) -> "Variables":
        copied = Variables()
        copied.values, copied.accumulators = dict(self.values), set(self.accumulators)
        copied.short, copied.hidden, copied._subtasks = set(self.short), set(self.hidden), dict(self._subtasks)
        return copied

    def put(self, address: Address, frozen: Any) -> None:
        """Set a frozen value; it is shown in full again."""
        self.values[address] = frozen
        self.short.discard(address)
        self.hidden.discard(address)
        if address[0] == "intermediate":
            self._subtasks[address[1]] = None

    def find(self, key: str, scope: str | None, depth: int, subtask: str | None) -> Address | None:
        """The innermost address of `key`, or None."""
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
        return {
            key: value for (in_scope, holder, key), value in self.values.items() if (in_scope, holder) == (scope, owner)
        }

    def remove(self, scope: str, owner: str) -> list[Address]:
        """Remove one owner's variables. Returns their addresses."""
        addresses = [address for address in self.values if address[:2] == (scope, owner)]
        for address in addresses:
            del self.values[address]
            self.short.discard(address)
            self.hidden.discard(address)
        self._subtasks.pop(owner, None)
        return addresses

    def retained(self) -> "Variables":
        """The variables that survive `clear`: accumulators and metadata."""
        remaining = Variables()
        for address, value in self.values.items():
            if address[0] == "metadata" or self.is_accumulator(address):
                remaining.put(address, value)
        remaining.accumulators = set(self.accumulators)
        return remaining

    def is_accumulator(self, address: Address) -> bool:
        return address[0] == "task" and address[2] in self.accumulators

    def kind_of(self, address: Address) -> str:
        """The item kind of a variable."""
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
    """A valid name of a variable. Raises `InvalidInput`."""
    if not isinstance(key, str) or not key.strip() or not key.isprintable() or len(key.encode()) > KEY_BYTES:
        raise InvalidInput(f"{key!r} is not a valid variable name; use up to {KEY_BYTES} bytes of printable text")
    return key


def checked_scope(scope: str) -> str:
    if scope not in SCOPES:
        raise InvalidInput(f"unknown scope {scope!r}; use one of {', '.join(SCOPES)}")
    return scope


def frozen_value(key: str, value: object) -> Any:
    """`value` as immutable JSON. Raises `InvalidInput` if it is not JSON."""
    if type(value) in (int, bool, type(None)) and -(2**63) < (value or 0) < 2**63:  # type: ignore[operator]
        return value
    try:
        frozen = FrozenDict({"value": value})["value"]
        max_shown_tokens(frozen)
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f"the variable {key!r} {exc}") from exc
    return frozen


def max_shown_tokens(value: Any, depth_left: int = DEPTH) -> int:
    """Upper bound of the tokens of the shown value. Raises `ValueError` if it is nested too deep to be saved."""
    if isinstance(value, str):
        # Escaping turns a control character into six characters, a quote or backslash into two.
        if value.isascii():
            signs = value.count('"') + value.count("\\") if value.isprintable() else 5 * len(value)
            return max_tokens_of(len(value) + signs + 2, plain=True)
        return max_tokens_of(6 * len(value) + 2, plain=False)
    if isinstance(value, (Mapping, tuple)):
        if depth_left == 0:
            raise ValueError(f"is nested deeper than {DEPTH} levels; flatten it")
        if isinstance(value, Mapping):
            pairs = sum(max_shown_tokens(name) + max_shown_tokens(item, depth_left - 1) for name, item in value.items())
            return pairs + 4 * len(value) + 4
        return sum(max_shown_tokens(item, depth_left - 1) for item in value) + 4 * len(value) + 4
    return max_tokens_of(len(repr(value)) + 1, plain=True)


def shown_value(value: Any) -> str:
    """The value as one line of JSON."""
    return json.dumps(thaw(value), ensure_ascii=False)


def accumulated(key: str, before: Any, more: Any) -> Any:
    """An accumulator after adding `more`: lists grow, numbers add up, maps are updated. Both are frozen."""
    if isinstance(before, tuple):
        return (*before, *more) if isinstance(more, tuple) else (*before, more)
    if isinstance(before, Mapping) and isinstance(more, Mapping):
        return FrozenDict({**before, **more})
    if _is_number(before) and _is_number(more):
        return frozen_value(key, before + more)
    raise InvalidInput(
        f"cannot add {type(thaw(more)).__name__} to {key!r}, which holds {type(thaw(before)).__name__}; "
        "lists take any value, numbers take numbers, maps take maps"
    )


def initial_accumulator(value: Any) -> Any:
    """The initial value of an accumulator: a number, a map or a list."""
    return value if _is_number(value) or isinstance(value, (Mapping, tuple)) else (value,)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
