"""Extraction of names from a text by rules and further readers."""

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
from treering.entities.extraction.mentions import EntityMention, NameReader, most_confident, without_overlaps
from treering.entities.extraction.shapes import REGEX, shape_mentions

_STATEMENT = "statement"
_MARK = "[redacted:"
_REDACTED = re.compile(r"\[redacted:[a-z0-9_]+\]")
# A value of more words is a description, not a name.
_MAX_WORDS = 5
_NOT_NAMES = frozenset({SPEAKER, PROJECT, "i", "we", "it", "agent", "assistant", "somebody"})
_UNNAMED = f"{SPEAKER}'s "
"""Prefix of subjects that belong to the speaker and have no name."""
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
"""Kinds of values by attribute; values of other attributes are descriptions."""
_PEOPLE = frozenset({"lives_in", "from", "born_on", "age", "works_at", "role", "reports_to", "partner", "relative"})
"""Attributes that only people have."""


class ExtractionStrategy(StrEnum):
    """`fast` uses rules alone; `accurate` all available readers."""

    FAST = "fast"
    ACCURATE = "accurate"


class RegexNames:
    """Rules for five languages: always available, reliable for addresses, less so for people."""

    name = REGEX

    def read(self, text: str, language: str) -> Iterable[EntityMention]:
        yield from shape_mentions(text)
        yield from capitalised(text, language)


FAST: tuple[NameReader, ...] = (RegexNames(),)


def extract(
    text: str,
    readers: Sequence[NameReader] = FAST,
    *,
    language: str | None = None,
    limit: int = 30,
    max_characters: int = 20_000,
) -> tuple[EntityMention, ...]:
    """The mentions in a text, in its order, without overlaps.

    The `limit` most confident ones of the first `max_characters` characters. Names without a letter or digit, secrets
    and redaction marks are left out.
    """
    read = text[:max_characters]
    if _MARK in read:
        read = _REDACTED.sub(lambda mark: " " * len(mark[0]), read)
    chosen_language = language_of(read) if language is None else language
    found = (mention for reader in readers for mention in reader.read(read, chosen_language))
    names = most_confident(without_overlaps(mention for mention in found if _is_name(mention.name)), limit)
    if not scan("\n".join(mention.name for mention in names)):
        return names
    return tuple(mention for mention in names if not scan(mention.name))


def statement_mentions(
    subject: str | None, attribute: str | None, value: str | None, text: str
) -> tuple[EntityMention, ...]:
    """Mentions of a statement: its subject, and its value if the attribute determines its kind."""
    found = []
    if subject and same_name(subject) not in _NOT_NAMES and not subject.startswith(_UNNAMED):
        kind = EntityKind.PERSON if attribute in _PEOPLE else EntityKind.OTHER
        found.append(_mention(subject, kind, text))
    if value and attribute is not None and attribute in _VALUES:
        found.append(_mention(value, _VALUES[attribute], text))
    return tuple(mention for mention in found if mention is not None)


def _mention(name: str, kind: EntityKind, text: str) -> EntityMention | None:
    plain = " ".join(name.split())
    if not _is_name(plain) or len(plain.split()) > _MAX_WORDS:
        return None
    start = max(0, text.casefold().find(plain.casefold()))
    return EntityMention(plain, kind, start, start + len(plain), 0.85, _STATEMENT)


def _is_name(name: str) -> bool:
    return (
        name.isprintable()
        and any(map(str.isalnum, same_name(name)))
        and len(name.encode("utf-8", "replace")) <= LABEL_BYTES
    )
