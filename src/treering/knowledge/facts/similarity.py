"""Comparison of a statement with a record: same, mutually exclusive, or unrelated."""

import re
from enum import Enum, auto

from treering.core.language.folding import fold
from treering.core.language.terms import analyse
from treering.core.payloads import Stated
from treering.core.records import Knowledge
from treering.core.statements import ATTRIBUTES, Statement, fact_key, same_name
from treering.core.wording import Wording
from treering.knowledge.facts.rules import read_statements

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")
# A longer text is an explanation, not a statement.
_MAX_STATEMENT = 300
_MIN_SHARED = 0.8
"""Share of common words from which two texts on one subject and attribute are the same."""


class FactRelation(Enum):
    SAME = auto()
    EXCLUDES = auto()
    UNRELATED = auto()


def relation_to(new: Statement, record: Knowledge) -> FactRelation:
    """How a statement relates to a current record.

    A record is excluded only under the same subject and attribute: by a statement that its value has ended, or by
    another value of an exclusive attribute from the same speaker or with change wording.
    """
    parts = stated_parts(record)
    if parts is None or parts.value is None:
        return FactRelation.SAME if _same_words(new.text, record.content) else FactRelation.UNRELATED
    if fact_key(new.subject, new.attribute) != fact_key(parts.subject or "", parts.attribute or ""):
        return FactRelation.UNRELATED
    if _same_value(new.value, parts.value):
        return FactRelation.SAME if new.ended == parts.negated else FactRelation.EXCLUDES
    if not parts.negated and _is_replaced(new, record.content, parts):
        return FactRelation.EXCLUDES
    same = not new.exclusive and new.ended == parts.negated and _same_words(new.value, parts.value)
    return FactRelation.SAME if same else FactRelation.UNRELATED


def _is_replaced(new: Statement, text: str, parts: Stated) -> bool:
    """Whether a statement replaces the value of a record with this text."""
    value = parts.value or ""
    named = (new.value, *new.over) if new.ended else new.over
    by_key = new.exclusive and not new.ended and (new.changes or new.speaker == parts.speaker)
    by_key = by_key and (new.changes or is_worded_to_replace(new.attribute, (new.text, new.value), (text, value)))
    return by_key or any(_names_value(over, value) for over in named)


def is_worded_to_replace(attribute: str, new: tuple[str, str], old: tuple[str, str]) -> bool:
    """Whether the wording of a text with a value of an exclusive attribute replaces the value of another text."""
    if Wording.of(new[0]).changes:
        return True
    mine, theirs = _around(*new), _around(*old)
    match ATTRIBUTES[attribute].replaced:
        case "change":
            return False
        case "same_words":
            return mine is not None and mine == theirs
        case _:
            # After the value, dates and short words do not qualify it: "in Lyon since 2020".
            return mine is None or theirs is None or Wording.of(mine[1]).words == Wording.of(theirs[1]).words


def _around(text: str, value: str) -> tuple[str, str] | None:
    """The words before and after the value; None if the text does not contain it."""
    before, found, behind = fold(text).rpartition(fold(value))
    return (" ".join(_WORD.findall(before)), " ".join(_WORD.findall(behind))) if found else None


def stated_parts(record: Knowledge) -> Stated | None:
    """Subject, attribute and value of a record: as learned, else parsed from its text; None if it cannot be parsed."""
    parts = record.payload
    if isinstance(parts, Stated) and None not in (parts.subject, parts.attribute, parts.value):
        return parts
    if len(record.content) > _MAX_STATEMENT:
        return None
    read = read_statements(record.content, language=record.language)
    if len(read) != 1:
        return None
    return Stated(subject=read[0].subject, attribute=read[0].attribute, value=read[0].value, negated=read[0].ended)


def replaced_values(record: Knowledge) -> tuple[str, ...]:
    """Values that the text of a record names as replaced: "npm" in "pnpm replaced npm"."""
    read = () if len(record.content) > _MAX_STATEMENT else read_statements(record.content, language=record.language)
    return read[0].over if len(read) == 1 else ()


def states_change(record: Knowledge) -> bool:
    """Whether the text of a record announces a change: "I was promoted to director"."""
    if len(record.content) > _MAX_STATEMENT:
        return False
    return any(each.changes for each in read_statements(record.content, language=record.language))


def _same_value(one: str, other: str) -> bool:
    """Whether names or words are equal; with equal numbers, one may say more: "3. August", "3. August fertig"."""
    if same_name(one) == same_name(other):
        return True
    mine, theirs, numbers = _words(one), _words(other), _numbers(one)
    if numbers != _numbers(other):
        return False
    return mine == theirs or (bool(numbers) and (mine <= theirs or theirs <= mine))


def _names_value(name: str, value: str) -> bool:
    """Whether a value is this name, alone or with its purpose: "Redis" in "Redis for sessions"."""
    mine, theirs = same_name(name), same_name(value)
    return bool(mine) and (theirs == mine or theirs.startswith(f"{mine} "))


def _same_words(one: str, other: str) -> bool:
    """Whether most words are equal, and all numbers."""
    mine, theirs = _words(one), _words(other)
    if _numbers(one) != _numbers(other) or not mine | theirs:
        return False
    return len(mine & theirs) / len(mine | theirs) >= _MIN_SHARED


def _words(text: str) -> frozenset[int]:
    return frozenset(analyse(text).codes)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))
