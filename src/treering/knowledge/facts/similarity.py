"""Whether a statement and a record say the same, exclude each other, or have nothing to do with each other."""

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
# A longer text that a person taught is an explanation, not a statement.
_ONE_STATEMENT = 300
_ALIKE = 0.8
"""Texts of one subject and attribute that share so much of their words say the same."""


class Relation(Enum):
    SAME = auto()
    EXCLUDES = auto()
    UNRELATED = auto()


def relation(new: Statement, known: Knowledge) -> Relation:
    """How a statement relates to a record that holds.

    A record is excluded only under the same subject and attribute: by a statement that names its value as over, or by
    another value of an attribute that has one value at a time, said by the same speaker or as a change.
    """
    said = stated(known)
    if said is None or said.value is None:
        return Relation.SAME if _same_words(new.text, known.content) else Relation.UNRELATED
    if fact_key(new.subject, new.attribute) != fact_key(said.subject or "", said.attribute or ""):
        return Relation.UNRELATED
    if _same_value(new.value, said.value):
        return Relation.SAME if new.ended == said.negated else Relation.EXCLUDES
    if not said.negated and _is_replaced(new, known.content, said):
        return Relation.EXCLUDES
    alike = not new.exclusive and new.ended == said.negated and _same_words(new.value, said.value)
    return Relation.SAME if alike else Relation.UNRELATED


def _is_replaced(new: Statement, text: str, said: Stated) -> bool:
    """Whether a statement takes the place of another value, which a record with this text gives."""
    value = said.value or ""
    named = (new.value, *new.over) if new.ended else new.over
    by_key = new.exclusive and not new.ended and (new.changes or new.speaker == said.speaker)
    by_key = by_key and (new.changes or is_worded_to_replace(new.attribute, (new.text, new.value), (text, value)))
    return by_key or any(_is_of(over, value) for over in named)


def is_worded_to_replace(attribute: str, new: tuple[str, str], old: tuple[str, str]) -> bool:
    """Whether a text with a value of an exclusive attribute is worded so that it replaces the one of another text."""
    if Wording.of(new[0]).changes:
        return True
    mine, theirs = _around(*new), _around(*old)
    match ATTRIBUTES[attribute].replaced:
        case "change":
            return False
        case "same_words":
            return mine is not None and mine == theirs
        case _:
            # Behind the value, days and small words qualify nothing: "in Lyon since 2020".
            return mine is None or theirs is None or Wording.of(mine[1]).words == Wording.of(theirs[1]).words


def _around(text: str, value: str) -> tuple[str, str] | None:
    """The words before and behind the value; None if the text does not have it."""
    before, found, behind = fold(text).rpartition(fold(value))
    return (" ".join(_WORD.findall(before)), " ".join(_WORD.findall(behind))) if found else None


def stated(known: Knowledge) -> Stated | None:
    """Subject, attribute and value of a record: as learned, or as the wordings read its text; None if they do not."""
    said = known.payload
    if isinstance(said, Stated) and None not in (said.subject, said.attribute, said.value):
        return said
    if len(known.content) > _ONE_STATEMENT:
        return None
    read = read_statements(known.content, language=known.language)
    if len(read) != 1:
        return None
    return Stated(subject=read[0].subject, attribute=read[0].attribute, value=read[0].value, negated=read[0].ended)


def formers(known: Knowledge) -> tuple[str, ...]:
    """Values that the wordings read as replaced by the text of a record: "npm" of "pnpm replaced npm"."""
    read = () if len(known.content) > _ONE_STATEMENT else read_statements(known.content, language=known.language)
    return read[0].over if len(read) == 1 else ()


def states_change(known: Knowledge) -> bool:
    """Whether the wordings read the text of a record as a change: "I was promoted to director"."""
    if len(known.content) > _ONE_STATEMENT:
        return False
    return any(each.changes for each in read_statements(known.content, language=known.language))


def _same_value(one: str, other: str) -> bool:
    """The same name or words; with the same numbers, one may say more: "3. August", "3. August fertig"."""
    if same_name(one) == same_name(other):
        return True
    mine, theirs, numbers = _words(one), _words(other), _numbers(one)
    if numbers != _numbers(other):
        return False
    return mine == theirs or (bool(numbers) and (mine <= theirs or theirs <= mine))


def _is_of(name: str, value: str) -> bool:
    """Whether a value is this name, alone or with what it is for: "Redis" of "Redis for sessions"."""
    mine, theirs = same_name(name), same_name(value)
    return bool(mine) and (theirs == mine or theirs.startswith(f"{mine} "))


def _same_words(one: str, other: str) -> bool:
    """The same words but for a few, none of which is a number."""
    mine, theirs = _words(one), _words(other)
    if _numbers(one) != _numbers(other) or not mine | theirs:
        return False
    return len(mine & theirs) / len(mine | theirs) >= _ALIKE


def _words(text: str) -> frozenset[int]:
    return frozenset(analyse(text).codes)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))
