"""Conditions over the features of a task, as data.

A condition is a test of one field, or conditions joined by `all`, `any` and `not`. Fields are dotted names into nested
features (`task_type`, `context.branch`); keys that contain dots are found too. Evaluation never fails: a missing field,
a value of another type or an invalid range makes a test false.

| operator   | holds when the field                              | value                                         |
| ---------- | ------------------------------------------------- | --------------------------------------------- |
| `eq`       | is the value                                      | any JSON; 1 is 1.0, but neither is `true`     |
| `in`       | is one of the values                              | a list; anything else counts as a list of one |
| `range`    | is a number between both, ends included           | `[low, high]`; null leaves that end open      |
| `contains` | is text with the value in it, or a list with it   | any JSON; upper case counts as lower          |
| `prefix`   | is text that begins with the value                | text                                          |
| `exists`   | is present and not null                           | `false` tests for the opposite                |

A field that is a list passes `eq`, `in`, `range` and `prefix` when any of its members does: `languages eq "python"`
holds for a task in Python and SQL. `not` inverts the result, so it holds if a field is missing. An empty `all` holds,
an empty `any` does not. Nothing is ever evaluated as code.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from treering.core.values import NESTING, Json, Label, Value, thaw


class Operator(StrEnum):
    """How a field is compared. Data, never evaluated code."""

    EQ = "eq"
    IN = "in"
    RANGE = "range"
    CONTAINS = "contains"
    PREFIX = "prefix"
    EXISTS = "exists"


class Test(Value):
    """One field compared with one value."""

    form: Literal["test"] = "test"
    field: Label
    operator: Operator
    value: Json = None

    __test__ = False  # keeps pytest from collecting the class


class Compound(Value):
    """Conditions made of conditions."""

    @model_validator(mode="after")
    def _readable_again(self) -> Self:
        if _depth(self) > NESTING:
            raise ValueError(f"conditions nest deeper than {NESTING} levels; flatten them")
        return self


class AllOf(Compound):
    form: Literal["all"] = "all"
    conditions: tuple["Condition", ...]


class AnyOf(Compound):
    form: Literal["any"] = "any"
    conditions: tuple["Condition", ...]


class Not(Compound):
    form: Literal["not"] = "not"
    condition: "Condition"


Condition = Annotated[Test | AllOf | AnyOf | Not, Field(discriminator="form")]
Bounds = tuple[float | None, float | None]


class Missing:
    """Type of `MISSING`, the value of an absent field."""


MISSING: Final = Missing()


class _ConditionHolder(Value):
    condition: Condition


def condition_of(condition: "Condition | Mapping[str, Any]") -> Condition:
    """The condition itself, or the one that a mapping describes. Raises `InvalidInput`."""
    return _ConditionHolder.make(condition=condition).condition


def holds(condition: Condition, features: Mapping[str, Any]) -> bool:
    """Whether the features satisfy the condition. Never raises."""
    if isinstance(condition, Test):
        return _EVALUATORS[condition.operator](value_at(features, condition.field), condition.value)
    if isinstance(condition, Not):
        return not holds(condition.condition, features)
    quantifier = all if isinstance(condition, AllOf) else any
    return quantifier(holds(part, features) for part in condition.conditions)


def explain(condition: Condition) -> str:
    """The condition in words: `task type is fix and complexity is at most 0.4`."""
    return _phrase(condition, negated=False, within="")


def fields_of(condition: Condition) -> frozenset[str]:
    """The fields that the answer depends on."""
    return frozenset(test.field for test in leaves_of(condition))


def leaves_of(condition: Condition) -> Iterator[Test]:
    """The tests of a condition, in written order."""
    if isinstance(condition, Test):
        yield condition
        return
    for part in parts_of(condition):
        yield from leaves_of(part)


def parts_of(condition: Value) -> tuple[Condition, ...]:
    """The direct parts of a condition; none for a test."""
    if isinstance(condition, AllOf | AnyOf):
        return condition.conditions
    return (condition.condition,) if isinstance(condition, Not) else ()


def written(condition: Condition) -> str:
    """Canonical text of a condition, which distinguishes values that Python considers equal (1 and true)."""
    return condition.to_json()


def value_at(features: Any, field: str) -> Any:
    """Value of a field, or `MISSING`."""
    place, rest = features, field
    while isinstance(place, Mapping):
        if rest in place:
            return place[rest]
        step, dot, rest = rest.partition(".")
        if not dot or step not in place:
            return MISSING
        place = place[step]
    return MISSING


def members_of(found: Any) -> tuple[Any, ...]:
    """Values that `eq`, `in`, `range` and `prefix` test: the field itself and the members of a list."""
    return (found, *found) if isinstance(found, list | tuple) else (found,)


def is_number(value: Any) -> bool:
    """Whether the value is a number; booleans are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def bounds_of(value: Any) -> Bounds | None:
    """The two ends of a `range`; None if the value is not a range."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    if not all(end is None or is_number(end) for end in value):
        return None
    return (value[0], value[1])


def _depth(condition: Value) -> int:
    return 1 + max(map(_depth, parts_of(condition)), default=0)


def _same(one: Any, other: Any) -> bool:
    """Equality as in JSON, where booleans are not numbers."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_number(one) or isinstance(one, str):
        return isinstance(other, str) == isinstance(one, str) and isinstance(other, int | float | str) and one == other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in other)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return one is None and other is None


def _folded(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value


def _is(found: Any, value: Any) -> bool:
    return any(_same(member, value) for member in members_of(found))


def _is_one_of(found: Any, values: Any) -> bool:
    listed = values if isinstance(values, list | tuple) else (values,)
    return any(_is(found, value) for value in listed)


def _lies_within(found: Any, value: Any) -> bool:
    bounds = bounds_of(value)
    if bounds is None:
        return False
    low, high = bounds
    return any(
        is_number(each) and (low is None or low <= each) and (high is None or each <= high)
        for each in members_of(found)
    )


def _contains(found: Any, value: Any) -> bool:
    if isinstance(found, str):
        return isinstance(value, str) and value.casefold() in found.casefold()
    return isinstance(found, list | tuple) and any(_same(_folded(each), _folded(value)) for each in found)


def _begins(found: Any, value: Any) -> bool:
    return isinstance(value, str) and any(
        isinstance(each, str) and each.startswith(value) for each in members_of(found)
    )


def _exists(found: Any, value: Any) -> bool:
    return (found is not MISSING and found is not None) is (value is not False)


_EVALUATORS: Mapping[Operator, Callable[[Any, Any], bool]] = {
    Operator.EQ: _is,
    Operator.IN: _is_one_of,
    Operator.RANGE: _lies_within,
    Operator.CONTAINS: _contains,
    Operator.PREFIX: _begins,
    Operator.EXISTS: _exists,
}


def _phrase(condition: Condition, *, negated: bool, within: str) -> str:
    """The condition in words; in parentheses if the surrounding conjunction differs from its own."""
    if isinstance(condition, Test):
        return f"{_field(condition.field)} {_WORDS[condition.operator](condition.value, negated)}"
    if isinstance(condition, Not):
        return _phrase(condition.condition, negated=not negated, within=within)
    # De Morgan: a negated "and" reads as "or", and the other way round.
    joined_by = " and " if isinstance(condition, AllOf) is not negated else " or "
    parts = condition.conditions
    if not parts:
        return "always" if joined_by == " and " else "never"
    if len(parts) == 1:
        return _phrase(parts[0], negated=negated, within=within)
    joined = joined_by.join(_phrase(part, negated=negated, within=joined_by) for part in parts)
    return joined if within in ("", joined_by) else f"({joined})"


def _field(field: str) -> str:
    words = field.split("_")
    return " ".join(words) if all(map(_is_plain, words)) else json.dumps(field, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, str) and _is_plain(value) and not _reads_as_json(value):
        return value
    return json.dumps(thaw(value), ensure_ascii=False)


def _is_plain(word: str) -> bool:
    """Whether a word needs no quotes: it is printable and not part of the explanation's own vocabulary."""
    return bool(word) and word.isprintable() and word not in _VOCABULARY and not set(word) & _MARKS


def _reads_as_json(text: str) -> bool:
    """Whether a text would read as another JSON value, such as "1" or "true"."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_words(value: Any, negated: bool) -> str:
    return f"is {'not ' * negated}{_value(value)}"


def _in_words(values: Any, negated: bool) -> str:
    listed = [_value(each) for each in values] if isinstance(values, list | tuple) else [_value(values)]
    if not listed:
        return f"is {'not ' * negated}one of none"
    *first, last = listed
    if not first:
        return f"is {'not ' * negated}{last}"
    before, between = ("neither ", "nor") if negated else ("", "or")
    return f"is {before}{', '.join(first)} {between} {last}"


def _range_words(value: Any, negated: bool) -> str:
    no = "not " * negated
    match bounds_of(value):
        case None:
            return f"is {no}within {_value(value)}, which is not a range"
        case None, None:
            return f"is {no}a number"
        case low, None:
            return f"is {no}at least {low}"
        case None, high:
            return f"is {no}at most {high}"
        case low, high:
            return f"is {no}between {low} and {high}"


def _exists_words(value: Any, negated: bool) -> str:
    return f"is {'known' if (value is not False) is not negated else 'unknown'}"


_VOCABULARY = frozenset(
    {"is", "not", "and", "or", "neither", "nor", "known", "unknown", "contains", "begins", "does", "always", "never"}
)
_MARKS = frozenset(' ,"()[]{}')
_WORDS: Mapping[Operator, Callable[[Any, bool], str]] = {
    Operator.EQ: _is_words,
    Operator.IN: _in_words,
    Operator.RANGE: _range_words,
    Operator.CONTAINS: lambda value, negated: f"{'does not contain' if negated else 'contains'} {_value(value)}",
    Operator.PREFIX: lambda value, negated: f"{'does not begin' if negated else 'begins'} with {_value(value)}",
    Operator.EXISTS: _exists_words,
}
