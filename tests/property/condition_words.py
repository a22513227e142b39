"""What a condition means, and what its explanation says: the words read back by a grammar of their own.

Both end in the same form: `("all" | "any", parts)` without nesting of a kind in itself, or one test
`(field, operator, value, holds)` in which `is` stands for `eq` and `in`, and `holds` is False where it is negated.
"""

import json
import re
from typing import Any

from treering.core.conditions import AllOf, Condition, Not, Operator, bounds_of
from treering.core.conditions import Test as FieldTest
from treering.core.values import thaw

Meaning = tuple[Any, ...]
_END = r"(?= and | or |\)|$)"
_WORD = r'[^ ,"()\[\]{}]+'
_NUMBER = r"-?\d[\d.]*(?:e[+-]?\d+)?"
_JSON = json.JSONDecoder()


def meaning(condition: Condition, *, holds: bool = True) -> Meaning:
    """What it asks for, with every `not` pushed down to the tests."""
    if isinstance(condition, Not):
        return meaning(condition.condition, holds=not holds)
    if isinstance(condition, FieldTest):
        return _test(condition, holds)
    kind = "all" if isinstance(condition, AllOf) is holds else "any"
    return _joined(kind, [meaning(part, holds=holds) for part in condition.conditions])


def understood(words: str) -> Meaning:
    """What somebody reads in them."""
    reader = _Reader(words)
    found = reader.expression()
    assert reader.rest() == "", f"{reader.rest()!r} is left of {words!r}"
    return found


def _test(test: FieldTest, holds: bool) -> Meaning:
    value = thaw(test.value)
    match test.operator:
        case Operator.EXISTS:
            return (test.field, "exists", None, holds is (value is not False))
        case Operator.EQ:
            return (test.field, "is", (_written(value),), holds)
        case Operator.IN:
            values = value if isinstance(value, list) else [value]
            return (test.field, "is", tuple(map(_written, values)), holds)
        case Operator.RANGE:
            bounds = bounds_of(test.value)
            return (test.field, "range", _written(value if bounds is None else list(bounds)), holds)
        case _:
            return (test.field, test.operator.value, _written(value), holds)


def _joined(kind: str, parts: list[Meaning]) -> Meaning:
    flat = [inner for part in parts for inner in (part[1] if part[0] == kind and len(part) == 2 else (part,))]
    return flat[0] if len(flat) == 1 else (kind, tuple(flat))


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


class _Reader:
    def __init__(self, words: str) -> None:
        self.words, self.place = words, 0

    def rest(self) -> str:
        return self.words[self.place :]

    def expression(self) -> Meaning:
        parts, kinds = [self.clause()], set[str]()
        while found := self.take(r" (and|or) "):
            kinds.add(found[1])
            parts.append(self.clause())
        assert len(kinds) < 2, f"{self.words!r} joins by both without brackets"
        return _joined("any" if kinds == {"or"} else "all", parts)

    def clause(self) -> Meaning:
        if self.take(r"\("):
            found = self.expression()
            assert self.take(r"\)"), f"no bracket closes {self.words!r}"
            return found
        if constant := self.take(rf"(always|never){_END}"):
            return ("all" if constant[1] == "always" else "any", ())
        field = self.field()
        return (field, *self.predicate())

    def field(self) -> str:
        if self.rest().startswith('"'):
            return str(self.value())
        found = self.take(rf"({_WORD}(?: {_WORD})*?)(?= (?:is|contains|begins|does not) )")
        assert found, f"no field at {self.rest()!r}"
        return found[1].replace(" ", "_")

    def predicate(self) -> tuple[str, Any, bool]:
        for words, operator in ((r"contain", "contains"), (r"begin", "prefix")):
            if found := self.take(rf" (does not {words}|{words}s)( with)? "):
                return operator, _written(self.value()), not found[1].startswith("does")
        if found := self.take(rf" is (known|unknown){_END}"):
            return "exists", None, found[1] == "known"
        if self.take(r" is neither "):
            return "is", self.values("nor"), False
        found = self.take(r" is (not )?")
        assert found, f"no verb at {self.rest()!r}"
        holds = not found[1]
        if (bounds := self.bounds()) is not None:
            return "range", bounds, holds
        if self.take(rf"one of none{_END}"):
            return "is", (), holds
        return "is", self.values("or"), holds

    def bounds(self) -> str | None:
        if self.take(rf"a number{_END}"):
            return "[null, null]"
        if found := self.take(rf"(at least|at most) ({_NUMBER}){_END}"):
            number = json.loads(found[2])
            return _written([number, None] if found[1] == "at least" else [None, number])
        if found := self.take(rf"between ({_NUMBER}) and ({_NUMBER}){_END}"):
            return _written([json.loads(found[1]), json.loads(found[2])])
        if self.take(r"within (?=.)"):
            value = self.value()
            assert self.take(r", which is not a range")
            return _written(value)
        return None

    def values(self, last: str) -> tuple[str, ...]:
        """`a`, `a or b`, `a, b or c`: what follows `or` is a value, unless a verb follows that."""
        found = [self.value()]
        while self.take(r", "):
            found.append(self.value())
        start = self.place
        if self.take(rf" {last} "):
            another = not (self.take(r"\(") or self.take(rf"(?:always|never){_END}"))
            value = self.value() if another else None
            if another and self.take(_END):
                found.append(value)
            else:
                self.place = start
        return tuple(map(_written, found))

    def value(self) -> Any:
        rest = self.rest()
        if rest[:1] in ('"', "[", "{"):
            found, length = _JSON.raw_decode(rest)
            self.place += length
            return found
        word = self.take(_WORD)
        assert word, f"no value at {rest!r}"
        try:
            return json.loads(word[0])
        except ValueError:
            return word[0]

    def take(self, pattern: str) -> re.Match[str] | None:
        found = re.compile(pattern).match(self.words, self.place)
        if found:
            self.place = found.end()
        return found
