"""From a text to the names in it: by rules always, by a parser or a language model where there is one."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from treering.core.entities import EntityKind
from treering.core.language.stems import language_of
from treering.core.secrets import scan
from treering.core.statements import PROJECT, SPEAKER, same_name
from treering.core.values import LABEL_BYTES
from treering.entities.extraction.capitals import capitalised
from treering.entities.extraction.mentions import Mention, NameReader, surest, without_overlaps
from treering.entities.extraction.shapes import REGEX, shaped

_TOLD = "statement"
_MARK = "[redacted:"
_REDACTED = re.compile(r"\[redacted:[a-z0-9_]+\]")
# A value of more words is a description, not a name.
_MOST_WORDS = 5
_SUBJECTS_OF_NOBODY = frozenset({SPEAKER, PROJECT, "i", "we", "it", "agent", "assistant", "somebody"})
_NAMELESS = f"{SPEAKER}'s "
"""What belongs to whoever speaks, and has no name."""
_VALUES: Mapping[str, EntityKind] = MappingProxyType(
    {
        "name": EntityKind.PERSON,
        "lives_in": EntityKind.LOCATION,
        "from": EntityKind.LOCATION,
        "works_at": EntityKind.ORGANISATION,
        "team": EntityKind.ORGANISATION,
        "reports_to": EntityKind.PERSON,
        "email": EntityKind.EMAIL,
        "partner": EntityKind.PERSON,
        "uses": EntityKind.OTHER,
        "written_in": EntityKind.OTHER,
        "runs_on": EntityKind.OTHER,
        "deployed_to": EntityKind.OTHER,
        "owned_by": EntityKind.OTHER,
        "depends_on": EntityKind.OTHER,
        "named": EntityKind.OTHER,
    }
)
"""What the values of some attributes are; those of the others are descriptions."""
_PEOPLE = frozenset({"lives_in", "from", "born_on", "age", "works_at", "role", "reports_to", "partner", "relative"})
"""Attributes that only people have."""


class Strategy(StrEnum):
    """`fast` reads by rules alone; `accurate` asks whoever else is there."""

    FAST = "fast"
    ACCURATE = "accurate"


class RegexNames:
    """Rules, in five languages: always there, never at a loss, sure of addresses and unsure of people."""

    name = REGEX

    def read(self, text: str, language: str) -> Iterable[Mention]:
        yield from shaped(text)
        yield from capitalised(text, language)


FAST: tuple[NameReader, ...] = (RegexNames(),)


def extract(
    text: str,
    readers: Sequence[NameReader] = FAST,
    *,
    language: str | None = None,
    most: int = 30,
    longest: int = 20_000,
) -> tuple[Mention, ...]:
    """The names in a text, in its order, without overlaps: of those that overlap the surest, then the longest.

    At most `most`, the surest, from the first `longest` characters. A name without a letter or digit is none, nor is a
    secret, nor what stands for one.
    """
    read = text[:longest]
    if _MARK in read:
        read = _REDACTED.sub(lambda mark: " " * len(mark[0]), read)
    spoken = language_of(read) if language is None else language
    found = (mention for reader in readers for mention in reader.read(read, spoken))
    names = surest(without_overlaps(mention for mention in found if _is_name(mention.name)), most)
    if not scan("\n".join(mention.name for mention in names)):
        return names
    return tuple(mention for mention in names if not scan(mention.name))


def told(subject: str | None, attribute: str | None, value: str | None, text: str) -> tuple[Mention, ...]:
    """The names that a statement is about: its subject, and its value where its attribute says what that is."""
    found = []
    if subject and same_name(subject) not in _SUBJECTS_OF_NOBODY and not subject.startswith(_NAMELESS):
        kind = EntityKind.PERSON if attribute in _PEOPLE else EntityKind.OTHER
        found.append(_told(subject, kind, text))
    if value and attribute is not None and attribute in _VALUES:
        found.append(_told(value, _VALUES[attribute], text))
    return tuple(mention for mention in found if mention is not None)


def _told(name: str, kind: EntityKind, text: str) -> Mention | None:
    plain = " ".join(name.split())
    if not _is_name(plain) or len(plain.split()) > _MOST_WORDS:
        return None
    start = max(0, text.casefold().find(plain.casefold()))
    return Mention(plain, kind, start, start + len(plain), 0.85, _TOLD)


def _is_name(name: str) -> bool:
    return (
        name.isprintable()
        and any(map(str.isalnum, same_name(name)))
        and len(name.encode("utf-8", "replace")) <= LABEL_BYTES
    )
