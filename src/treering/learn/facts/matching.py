"""Reads one clause: the first pattern that fits it, with a subject and a value that can be meant."""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from datetime import datetime

from treering.core.statements import ATTRIBUTES
from treering.learn.facts.clauses import Clause, words_in
from treering.learn.facts.grammar import Grammar, Pattern, given_names
from treering.learn.facts.letters import lowered
from treering.learn.facts.subjects import Kind, Subject, Talk
from treering.learn.facts.times import When
from treering.learn.facts.values import denied_value, is_proper, values_of

# Their values are people and pets, of whom the next words may speak.
PEOPLE = frozenset({"reports_to", "partner", "relative", "pet", "owned_by"})
# Said with an "if", they hold all the same.
_SURE = frozenset({"rule", "phone", "email"})
_TIMELESS = frozenset({"name", "email", "phone", "born_on", "from"})
_AHEAD = frozenset({"deadline", "scheduled", "plans"})


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a clause says."""

    subject: Subject
    attribute: str
    value: str
    over: tuple[str, ...] = ()
    ended: bool = False
    type: str | None = None
    times: tuple[When, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a clause says, and the words that another clause may leave out: its subject, with the verb and without."""

    facts: tuple[Fact, ...]
    subject: str
    verb: str = ""
    between: str = ""
    """The words between subject and value."""
    pattern: Pattern | None = None


@dataclass(frozen=True, slots=True)
class Matcher:
    """`capitals` is False where the turn has none at all."""

    rules: Grammar
    talk: Talk
    at: datetime
    capitals: bool

    def read(self, clause: Clause, only: Pattern | None = None) -> Reading | None:
        """The reading of `clause`, by one pattern if only that may be; None if it says nothing sure."""
        if not clause.low:
            return None
        words = set(words_in(clause.low))
        turned = None if only else self._turned(clause, words)
        return (turned and self._read(turned, set(words_in(turned.low)))) or self._read(clause, words, only)

    def _turned(self, clause: Clause, words: Set[str]) -> Clause | None:
        """The clause in the plain order of words, where it is in another."""
        turns = self.rules.turns
        for word in words & turns.keys():
            for turn in turns[word]:
                if found := turn.expression.match(clause.low):
                    return clause.ordered(found, turn.to)
        return None

    def _read(self, clause: Clause, words: Set[str], only: Pattern | None = None) -> Reading | None:
        whole: Clause | None = None
        plain, over = self._over(clause) if self.rules.may_hold("over", words) else (clause, ())
        for pattern in (only,) if only else self._candidates(words):
            if pattern.attribute == "rule":
                whole = whole or clause.uncut(self.rules)
            target = (whole or plain) if pattern.attribute == "rule" else plain
            found = pattern.compiled.match(target.low)
            if found is None or not self._has_needed(pattern, plain, over):
                continue
            reading = self._reading(pattern, found, target, over)
            if reading is not None:
                return None if pattern.attribute not in _SURE and self.doubts(clause) else reading
        return None

    def doubts(self, clause: Clause) -> bool:
        """Whether `clause` says that it may not be so."""
        if not self.rules.may_hold("doubt", set(words_in(clause.low))):
            return False
        return self.rules.expression("doubt", r"(?<![\w-]){}(?![\w-])").search(clause.low) is not None

    def _candidates(self, words: Set[str]) -> list[Pattern]:
        by_word = self.rules.by_word
        found = {pattern.number: pattern for word in words & by_word.keys() for pattern in by_word[word]}
        return [found[number] for number in sorted(found)]

    def _over(self, clause: Clause) -> tuple[Clause, tuple[str, ...]]:
        """The clause without what it denies beside: "…, not MySQL"."""
        found = self.rules.expression("over", r"{}").search(clause.low)
        if found is None or not found.start():
            return clause, ()
        start, end = found.span("over")
        return clause.without(found.start(), end).trimmed(), (clause.said[start:end],)

    def _has_needed(self, pattern: Pattern, clause: Clause, over: tuple[str, ...]) -> bool:
        match pattern.needs:
            case "time":
                return bool(clause.times)
            case "past":
                return any(each.times[0] <= self.at for each in clause.times)
            case "future":
                return any(each.times[1] > self.at or each.again for each in clause.times)
            case "over":
                return bool(over)
            case _:
                return True

    def _reading(self, pattern: Pattern, found: re.Match[str], clause: Clause, over: tuple[str, ...]) -> Reading | None:
        groups = found.groupdict()
        named = clause.said[slice(*found.span("subject"))] if groups.get("subject") else ""
        subject = self.talk.subject(pattern.of, named, pattern.attribute, self.rules)
        if subject is None or (pattern.person and subject.kind not in (Kind.ME, Kind.PERSON)):
            return None
        if groups.get("over"):
            over = (*over, clause.said[slice(*found.span("over"))])
        facts = tuple(self._facts(pattern, found, clause, subject, over))
        if not facts:
            return None
        end = _value_start(found)
        between = clause.said[found.end("subject") : end] if named and found.start("subject") == 0 else ""
        if facts[0].attribute in PEOPLE:
            carried = facts[0].value
        else:
            carried = named or ("" if pattern.attribute == "rule" else clause.said.split()[0])
        return Reading(facts, carried, clause.said[:end], between, pattern)

    def _facts(
        self, pattern: Pattern, found: re.Match[str], clause: Clause, subject: Subject, over: tuple[str, ...]
    ) -> Iterator[Fact]:
        ahead = self._lies_ahead(pattern)
        times = tuple(
            each.coming(self.at) if ahead or each.bound in ("until", "before") else each for each in clause.times
        )
        denied = tuple(value for said in over if (value := denied_value(said, self.rules)))
        values = self._values(pattern, found, clause, times)
        if not values and ("value" in found.re.groupindex or pattern.value != "said"):
            return
        held = () if pattern.value == "time" or pattern.attribute in _TIMELESS else times
        along = {name: self._along(name, found, clause) for name in found.re.groupindex if name in ATTRIBUTES}
        if any(found[name] and not more for name, more in along.items()):
            return
        for value in values:
            yield Fact(subject, pattern.attribute, value, denied, pattern.ended, pattern.type, held)
        for attribute, more in along.items():
            yield from (Fact(subject, attribute, value, (), pattern.ended, None, times) for value in more)

    def _along(self, attribute: str, found: re.Match[str], clause: Clause) -> list[str]:
        said = clause.said[slice(*found.span(attribute))] if found[attribute] else ""
        return values_of(attribute, said, self.rules, capitals=self.capitals)

    def _lies_ahead(self, pattern: Pattern) -> bool:
        return pattern.coming or (pattern.attribute in _AHEAD and not pattern.ended)

    def _values(self, pattern: Pattern, found: re.Match[str], clause: Clause, times: tuple[When, ...]) -> list[str]:
        match pattern.value:
            case "time":
                # "From May to July" means July, "Thursday 14 May" that day.
                return [times[-1].day] if times else []
            case "date":
                return [_date(clause.times[0].said, self.rules)] if times else []
            case "me":
                return [self.talk.me]
            case "often":
                return [_often(clause.often, self.rules)] if clause.often else []
            case _:
                return self._said(pattern, found, clause)

    def _said(self, pattern: Pattern, found: re.Match[str], clause: Clause) -> list[str]:
        said = clause.said[slice(*found.span("value"))] if found.groupdict().get("value") else ""
        if not said or (pattern.proper and self.capitals and not is_proper(said)):
            return []
        if pattern.attribute == "rule" and lowered(said).split()[0] in given_names():
            # "Ada always brings cake" is no rule.
            return []
        return values_of(pattern.attribute, said, self.rules, capitals=self.capitals)


def _often(said: str, rules: Grammar) -> str:
    """With the time of day behind the day: "every Monday at 9:30"."""
    clock = rules.expression("clock", r"{}\s+(?=\w)").match(lowered(said))
    return f"{said[clock.end() :]} {said[: clock.end()].strip()}" if clock else said


def _date(said: str, rules: Grammar) -> str:
    before = rules.expression("before_time", r"{}").match(lowered(said))
    return said[before.end() :].strip() if before else said


def _value_start(found: re.Match[str]) -> int:
    """Where the first thing said begins; 0 where it is told by no group."""
    starts = [found.start(name) for name in found.re.groupindex if name not in ("subject", "over") and found[name]]
    return min(starts, default=0)
