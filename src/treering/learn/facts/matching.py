"""Reads one clause: the first pattern that fits it, with a subject and a value that can be meant."""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from treering.core.statements import ATTRIBUTES
from treering.learn.facts.clauses import Clause, words_in
from treering.learn.facts.grammar import FROM_TIMES, Grammar, Pattern, given_names
from treering.learn.facts.letters import lowered
from treering.learn.facts.nouns import NOMINAL, ends_in_noun, is_nominal, tells_nouns
from treering.learn.facts.subjects import Kind, Subject, Talk
from treering.learn.facts.times import When
from treering.learn.facts.values import (
    Qualifier,
    denied_value,
    is_bearable,
    is_known,
    is_proper,
    listed_parts,
    qualifier,
    values_of,
)

# Their values are people and pets, of whom the next words may speak.
PEOPLE = frozenset({"reports_to", "partner", "relative", "pet", "owned_by"})
# Said with an "if", they hold all the same.
_SURE = frozenset({"rule", "phone", "email"})
_TIMELESS = frozenset({"name", "email", "phone", "born_on", "from", "rule"})
_AHEAD = frozenset({"deadline", "scheduled", "plans"})
# The times in them are part of them; those of a plan may stand before it, too.
_WITH_TIMES = frozenset({"rule", "plans"})
# What comes sooner is of no use later.
_SOON = timedelta(days=1)
# They last, and a range of times tells how long.
_LASTING = frozenset({"lives_in", "works_at", "role", "team", "studies", "uses", "runs_on", "owns"})


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
    past: bool = False
    """Whether the times tell how long it was so, not when it ended."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a clause says, and the words that another clause may leave out: its subject, with the verb and without."""

    facts: tuple[Fact, ...]
    subject: str
    verb: str = ""
    between: str = ""
    """The words between subject and value."""
    pattern: Pattern | None = None
    lead: str = ""
    """The words before the subject: "we host {the docs} …"."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """`capitals` is False where the turn has none at all, `orderly` where it does not begin with one."""

    rules: Grammar
    talk: Talk
    at: datetime
    capitals: bool
    orderly: bool = False

    def read(self, clause: Clause, only: Pattern | None = None) -> Reading | None:
        """The reading of `clause`, by one pattern if only that may be; None if it says nothing sure."""
        if not clause.low:
            return None
        words = set(words_in(clause.low))
        for turned in () if only else self._turned(clause, words):
            if found := self._read(turned, set(words_in(turned.low))):
                return found
        return self._read(clause, words, only)

    def _turned(self, clause: Clause, words: Set[str]) -> Iterator[Clause]:
        """The clause in each plain order of words that its own may stand for."""
        turns = self.rules.turns
        fitting = {turn.number: turn for word in words & turns.keys() for turn in turns[word]}
        for number in sorted(fitting):
            if fitting[number].opening and not clause.first:
                continue
            if found := fitting[number].expression.match(clause.low):
                yield clause.ordered(found, fitting[number].to)

    def _read(self, clause: Clause, words: Set[str], only: Pattern | None = None) -> Reading | None:
        whole: Clause | None = None
        plain, over = self._over(clause) if self.rules.may_hold("over", words) else (clause, ())
        for pattern in (only,) if only else self._candidates(words):
            if pattern.conditional and not self._has_needed(pattern, plain, over):
                continue
            target, found = plain, None
            if pattern.attribute in _WITH_TIMES:
                whole = whole or clause.uncut(self.rules)
                target, found = whole, pattern.compiled.match(whole.low)
            if found is None and pattern.attribute != "rule":
                target, found = plain, pattern.compiled.match(plain.low)
            if found is None:
                continue
            reading = self._reading(pattern, found, target, over)
            if reading is not None:
                return None if pattern.attribute not in _SURE and self._doubts(clause, words) else reading
        return None

    @property
    def _shows_nouns(self) -> bool:
        return self.orderly and tells_nouns(self.rules)

    def doubts(self, clause: Clause) -> bool:
        """Whether `clause` says that it may not be so."""
        return self._doubts(clause, set(words_in(clause.low)))

    def _doubts(self, clause: Clause, words: Set[str]) -> bool:
        if self.rules.accented_doubt.search(clause.said.lower()):
            return True
        if not self.rules.may_hold("doubt", words):
            return False
        return self.rules.expression("doubt", r"(?<![\w-]){}(?![\w-])").search(clause.low) is not None

    def _candidates(self, words: Set[str]) -> Iterator[Pattern]:
        places = frozenset[int]().union(*filter(None, map(self.rules.by_word.get, words)))
        return map(self.rules.patterns.__getitem__, sorted(places))

    def _over(self, clause: Clause) -> tuple[Clause, tuple[str, ...]]:
        """The clause without what it denies beside: "…, not MySQL"."""
        found = self.rules.expression("over", r"{}").search(clause.low)
        if found is None or not found.start():
            return clause, ()
        start, end = found.span("over")
        return clause.without(found.start(), end).trimmed(), (clause.said[start:end],)

    def _has_needed(self, pattern: Pattern, clause: Clause, over: tuple[str, ...]) -> bool:
        if not _may_say(pattern, clause):
            return False
        match pattern.needs:
            case "time" | "timeless":
                return bool(clause.times or (clause.often and pattern.needs == "timeless")) == (pattern.needs == "time")
            case "past" | "since":
                # Since last year, but not this week.
                place = 1 if pattern.needs == "since" else 0
                return any(each.times[place] <= self.at and not (each.lasts and each.vague) for each in clause.times)
            case "future":
                return any(each.times[1] - self.at > _SOON or each.again for each in clause.times)
            case "over":
                return bool(over)
            case _:
                return True

    def _reading(self, pattern: Pattern, found: re.Match[str], clause: Clause, over: tuple[str, ...]) -> Reading | None:
        groups = found.re.groupindex
        named = clause.said[slice(*found.span("subject"))] if "subject" in groups and found["subject"] else ""
        subject = self.talk.subject(pattern.of, named, pattern.attribute, self.rules)
        if subject is None or (pattern.person and subject.kind not in (Kind.ME, Kind.PERSON)):
            return None
        if self._shows_nouns and subject.name in named and not ends_in_noun(subject.name, self.rules):
            return None
        if "over" in groups and found["over"]:
            over = (*over, clause.said[slice(*found.span("over"))])
        facts = tuple(self._facts(pattern, found, clause, subject, over))
        if not facts:
            return None
        end = _value_start(found)
        between = clause.said[found.end("subject") : end] if named and found.start("subject") == 0 else ""
        if facts[0].attribute in PEOPLE:
            carried = facts[0].value
        else:
            silent = pattern.attribute == "rule" or self.rules.drops_subject
            carried = named or ("" if silent else clause.said.split()[0])
        lead = clause.said[: found.start("subject")] if named and found.start("subject") < end else ""
        return Reading(facts, carried, clause.said[:end], between, pattern, lead)

    def _facts(
        self, pattern: Pattern, found: re.Match[str], clause: Clause, subject: Subject, over: tuple[str, ...]
    ) -> Iterator[Fact]:
        times = self._times(pattern, clause)
        past = pattern.past or (pattern.attribute in _LASTING and any(_ended(each, self.at) for each in times))
        if past and any(each.bound == "since" for each in times) and not any(each.bound == "until" for each in times):
            # "I worked there since May" is no past.
            return
        denied = tuple(value for said in over if (value := denied_value(said, self.rules)))
        values = self._values(pattern, found, clause, times)
        if not values and ("value" in found.re.groupindex or pattern.value != "said"):
            return
        held = () if pattern.value == "time" or pattern.attribute in _TIMELESS else times
        along = {name: self._along(name, found, clause) for name in found.re.groupindex if name in ATTRIBUTES}
        if any(found[name] and not more for name, more in along.items()):
            return
        if pattern.capital and not all(is_proper(value) for name in along if name != "role" for value in along[name]):
            return
        ended = pattern.ended or past
        pairs = [(subject, value) for value in values]
        if pattern.attribute == "uses" and pattern.value == "said":
            pairs = self._used(subject, clause.said[slice(*found.span("value"))], values)
        for whose, value in pairs:
            yield Fact(whose, pattern.attribute, value, denied, ended, pattern.type, held, past)
        for attribute, more in along.items():
            yield from (Fact(subject, attribute, value, (), ended, None, times, past) for value in more)

    def _used(self, subject: Subject, said: str, values: list[str]) -> list[tuple[Subject, str]]:
        """Who uses which of the `values`, each version with what it is there for; one behind a list is for all."""
        parts = listed_parts(said, self.rules)
        told = [qualifier(part, self.rules) for part in parts]
        if not any(told) or (len(values) != len(parts) and not told[-1]):
            # What is no list of names begins with the name.
            return [_qualified(subject, value, told[0] if told else None) for value in values]
        if not any(told[:-1]):
            told = told[-1:] * len(parts)
        used: list[tuple[Subject, str]] = []
        name = ""
        for part, each in zip(parts, told, strict=True):
            for value in values_of("uses", part, self.rules, capitals=self.capitals):
                # "Python 3.11 for … and 3.12 for …"
                whole = f"{name} {value}" if name and value[0].isdigit() else value
                name = whole.rpartition(" ")[0]
                used.append(_qualified(subject, whole, each))
        return used

    def _times(self, pattern: Pattern, clause: Clause) -> tuple[When, ...]:
        """Those of the clause as the pattern means them: to come, in the past, the end of a range."""
        lasting = pattern.attribute in _LASTING
        times = (replace(each, bound="until") if each.closes and lasting else each for each in clause.times)
        if pattern.past:
            return tuple(each for each in times if not each.lasts)
        ahead = self._lies_ahead(pattern)
        begins = not pattern.ended and not self.rules.expression("done", r"(?<!\w){}(?!\w)").search(clause.low)
        meant: list[When] = []
        for each in reversed(tuple(times)):
            end = meant[-1] if meant and meant[-1].closes else None
            coming = each.coming(self.at)
            if end is not None:
                # A range begins with the last time of that name before its end.
                shifts = coming.times[0] < end.times[1]
            else:
                shifts = ahead or each.bound in ("until", "before") or (each.opens and begins)
            meant.append(coming if shifts else each)
        return tuple(reversed(meant))

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

    def _may_be_name(self, said: str) -> bool:
        """Whether it has what a name has; where nobody uses capitals, names are without an article."""
        if is_proper(said):
            return True
        if self.capitals:
            return "names" in self.rules.listed and is_known(said, self.rules)
        bare = self.rules.expression("articles", r"{}\s*").match(lowered(said)) is None
        return bare and is_known(said, self.rules)

    def _is_proper(self, pattern: Pattern, said: str) -> bool:
        """Whether `said` is a name as far as `pattern` asks for one."""
        if pattern.proper == "first" and self.capitals:
            article = self.rules.expression("articles", r"{}\s*").match(lowered(said))
            first = said[article.end() if article else 0 :].partition(" ")[0]
            return is_proper(first) or ("names" in self.rules.listed and is_known(first, self.rules))
        return not pattern.proper or self._may_be_name(said)

    def _said(self, pattern: Pattern, found: re.Match[str], clause: Clause) -> list[str]:
        said = clause.said[slice(*found.span("value"))] if "value" in found.re.groupindex and found["value"] else ""
        if not said or (pattern.capital and not _has_capital(said)) or not self._is_proper(pattern, said):
            return []
        if pattern.attribute == "rule" and lowered(said).split()[0] in given_names():
            # "Ada always brings cake" is no rule.
            return []
        values = values_of(pattern.attribute, said, self.rules, capitals=self.capitals)
        if pattern.given and not all(lowered(value).split()[0] in given_names() for value in values):
            return []
        if self._shows_nouns and pattern.attribute in NOMINAL:
            values = values if all(is_nominal(value, self.rules) for value in values) else []
        return values if not pattern.names or all(map(is_bearable, values)) else []


def _has_capital(said: str) -> bool:
    """Whether it has, or should have as a first name."""
    return is_proper(said) or lowered(said).split()[0] in given_names()


def _qualified(subject: Subject, value: str, told: Qualifier | None) -> tuple[Subject, str]:
    """We use Python "for the API": the API does. Else the value says it: "Node 20 in CI"."""
    if told is None or not any(map(str.isdigit, value)):
        return subject, value
    if told.names and subject.kind is Kind.WE:
        return Subject(told.noun, Kind.WE), value
    return subject, f"{value} {told.by} {told.noun}"


def _ended(time: When, at: datetime) -> bool:
    """Whether what held until then holds no longer."""
    return time.bound == "until" and not time.vague and time.until <= at


def _may_say(pattern: Pattern, clause: Clause) -> bool:
    """Whether `clause` has the times and the signs that `pattern` takes its value from."""
    if pattern.value in FROM_TIMES and not (clause.often if pattern.value == "often" else clause.times):
        return False
    return not pattern.signs or all(sign.search(clause.low) for sign in pattern.signs)


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
