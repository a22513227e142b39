"""Whether two statements say the same, exclude each other, or have nothing to do with each other."""

import re
from collections.abc import Mapping
from enum import Enum, auto
from functools import cache
from importlib.resources import files

from treering.core.language.terms import analyse
from treering.core.payloads import Stated
from treering.core.records import Knowledge
from treering.core.statements import ATTRIBUTES, PROJECT, Statement, fact_key, same_name
from treering.learn.facts.reading import read_statements

_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")
# Ways to say what a project works with: whoever says the one means the other.
_WORKS_WITH = frozenset({"uses", "decided", "is", "default", "named", "runs_on", "has", "prefers"})


_EXCLUSIVE = frozenset(name for name, attribute in ATTRIBUTES.items() if attribute.exclusive) - _WORKS_WITH
_TOLD_FREELY = frozenset({"rule", "decided", "plans", "did"})
# A longer text that a person taught is an explanation, not a statement.
_ONE_STATEMENT = 300
_VERSIONED = frozenset({"uses", "version", "runs_on", "written_in", "depends_on"})
_VERSION = re.compile(r"v?\d[\w.]*|v|version")
OPPOSITES: Mapping[str, str] = {"likes": "dislikes", "dislikes": "likes"}
"""What cannot be said of one subject and one value at once."""
_NEVER_ALWAYS: Mapping[str, bool] = {
    **dict.fromkeys(("always", "toujours", "sempre", "immer", "siempre"), True),
    **dict.fromkeys(("never", "jamais", "mai", "nie", "niemals", "nunca"), False),
}


class Relation(Enum):
    SAME = auto()
    EXCLUDES = auto()
    UNRELATED = auto()


def relation(new: Statement, known: Knowledge, *, likeness: float, alike: float) -> Relation:
    """How a statement stands to a record that stands. `likeness` is the cosine of their texts, 0 where unknown.

    A record is only excluded where subject and attribute agree and the values cannot hold together: whatever differs
    in subject or attribute stays as it is.
    """
    said = stated(known)
    if said is None:
        return Relation.SAME if _same_words(new, known, alike) else Relation.UNRELATED
    if fact_key(new.subject, new.attribute) == fact_key(said.subject or "", said.attribute or ""):
        return _about_the_same(new, said, known, alike)
    if not _same_value(new.value, said.value or ""):
        return Relation.UNRELATED
    if _is_opposite(new, said):
        return Relation.EXCLUDES
    return Relation.SAME if _same_said_otherwise(new, said, known, likeness, alike) else Relation.UNRELATED


def stated(known: Knowledge) -> Stated | None:
    """What a record says, taken apart: as it was learned, or as its words read; None where they read as nothing."""
    said = known.payload
    if isinstance(said, Stated) and None not in (said.subject, said.attribute, said.value):
        return said
    if len(known.content) > _ONE_STATEMENT:
        return None
    read = read_statements(known.content, at=known.created_at, language=known.language)
    if len(read) != 1:
        return None
    return Stated(subject=read[0].subject, attribute=read[0].attribute, value=read[0].value, negated=read[0].ended)


def _about_the_same(new: Statement, said: Stated, known: Knowledge, alike: float) -> Relation:
    """Of two statements with one subject and one attribute."""
    value = said.value or ""
    if _is_over(new, said) or _is_turned_round(new.value, value):
        return Relation.EXCLUDES
    same = Relation.SAME if _same_value(new.value, value) else None
    if new.attribute in _VERSIONED:
        same = same or _by_version(new.value, value)
    if same is Relation.SAME:
        return same if new.ended == said.negated else Relation.EXCLUDES
    if new.attribute in _TOLD_FREELY and new.ended == said.negated and _same_told(new.value, value):
        return Relation.SAME
    both_hold = not new.ended and not said.negated
    if both_hold and (same is Relation.EXCLUDES or new.exclusive):
        return Relation.EXCLUDES
    return Relation.SAME if new.ended == said.negated and _same_words(new, known, alike) else Relation.UNRELATED


def _is_over(new: Statement, said: Stated) -> bool:
    """Whether the statement itself says that this value no longer holds."""
    known = said.value or ""
    return not said.negated and any(_same_value(gone, known) or _is_version_of(known, gone) for gone in new.over)


def _same_told(one: str, other: str) -> bool:
    """Free text that differs in nothing but words that say nothing."""
    return _numbers(one) == _numbers(other) and _but_for_empty(_words(one), _words(other))


def _is_opposite(new: Statement, said: Stated) -> bool:
    same_subject = same_name(new.subject) == same_name(said.subject or "")
    return same_subject and OPPOSITES.get(new.attribute) == said.attribute


def _is_turned_round(one: str, other: str) -> bool:
    """ "Always squash" and "never squash"."""
    mine, theirs = (same_name(value).split(" ", 1) for value in (one, other))
    polarity = _NEVER_ALWAYS.get(mine[0]), _NEVER_ALWAYS.get(theirs[0])
    return None not in polarity and polarity[0] != polarity[1] and mine[1:] == theirs[1:]


def _is_version_of(specific: str, general: str) -> bool:
    """ "Postgres 16" of "Postgres"."""
    return bool(_numbers(specific)) and not _numbers(general) and _unnumbered(specific) == same_name(general)


def _by_version(new: str, known: str) -> Relation | None:
    """Another version of the same thing takes the place of the one before; the thing without one adds nothing."""
    if _unnumbered(new) != _unnumbered(known) or not _unnumbered(new) or not (_numbers(new) or _numbers(known)):
        return None
    if _numbers(new) == _numbers(known) or not _numbers(new):
        return Relation.SAME
    return Relation.EXCLUDES


def _unnumbered(value: str) -> str:
    return " ".join(word for word in same_name(value).split() if not _VERSION.fullmatch(word))


def _same_value(one: str, other: str) -> bool:
    mine, theirs = same_name(one), same_name(other)
    if mine == theirs:
        return True
    return _numbers(one) == _numbers(other) and _words(one) == _words(other) != frozenset()


def _same_said_otherwise(new: Statement, said: Stated, known: Knowledge, likeness: float, alike: float) -> bool:
    """The same value of another attribute: "we use pnpm", "our package manager is pnpm"."""
    if new.ended != said.negated:
        return False
    subjects = {same_name(new.subject), same_name(said.subject or "")}
    if new.attribute == said.attribute and _same_but_for_a_word(*subjects):
        return True
    if _contains(new.text, known.content):
        return True
    if {new.attribute, said.attribute} & _EXCLUSIVE or (len(subjects) > 1 and PROJECT not in subjects):
        return False
    if {new.attribute, said.attribute} <= _WORKS_WITH and (len(subjects) == 1 or likeness >= alike):
        return True
    return len(subjects) == 1 and _overlap(new.text, known.content) >= alike


def _contains(one: str, other: str) -> bool:
    """ "Staging runs on…" and "the staging environment runs on…": they differ in nothing that says anything."""
    return _numbers(one) == _numbers(other) and _but_for_empty(_words(one), _words(other))


def _same_but_for_a_word(*subjects: str) -> bool:
    """ "Staging" and "staging environment"; not "API" and "API docs"."""
    one, other = (frozenset(subject.split()) for subject in (subjects * 2)[:2])
    return bool(one & other) and (one ^ other) <= _empty_words()


def _but_for_empty(one: frozenset[int], other: frozenset[int]) -> bool:
    return len(one & other) > 1 and (one ^ other) <= _empty_codes()


@cache
def _empty_words() -> frozenset[str]:
    return frozenset(files("treering.learn.facts").joinpath("empty_words.txt").read_text("utf-8").split())


@cache
def _empty_codes() -> frozenset[int]:
    return frozenset(code for word in _empty_words() for code in analyse(word).codes)


def _same_words(new: Statement, known: Knowledge, alike: float) -> bool:
    """The same words but for a few, none of which is a number or a no."""
    if _numbers(new.text) != _numbers(known.content):
        return False
    return _overlap(new.text, known.content) >= alike and _words(new.value) <= _words(known.content)


def _overlap(one: str, other: str) -> float:
    """The Jaccard index of their words."""
    mine, theirs = _words(one), _words(other)
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 0.0


def _words(text: str) -> frozenset[int]:
    return frozenset(analyse(text).codes)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))
