"""Names recognised by their form in any language: addresses, handles, dates, identifiers, paths, tickets."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from treering.core.entities import EntityKind
from treering.core.language.dates import MONTHS, spanning_words
from treering.core.values import LABEL_BYTES
from treering.entities.extraction.mentions import EntityMention

REGEX = "regex"
_MONTH = "|".join(sorted((name for name in MONTHS if len(name) > 2), key=len, reverse=True))
_AFTER = ".,;:!?)]}'\"»”…"


@dataclass(frozen=True, slots=True)
class NameShape:
    """A form of names. `hint` occurs in every match and is cheap to search for."""

    kind: EntityKind
    confidence: float
    pattern: re.Pattern[str]
    hint: str = ""
    named: Callable[[str], str] = str


def _link(written: str) -> str:
    return written.rstrip(_AFTER)


def _date(written: str) -> str:
    """As 2026-05-08; ambiguous dates such as 5/8/2026 are kept as written."""
    days = spanning_words(written)
    return days[0] if len(days) == 1 else written


_SHAPES = (
    NameShape(EntityKind.URL, 0.99, re.compile(r"\b(?:https?|ftp|ssh|git)://[^\s<>\"'`|\\^{}]+"), "://", _link),
    NameShape(
        EntityKind.EMAIL, 0.99, re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,4}\b"), "@"
    ),
    NameShape(EntityKind.PERSON, 0.8, re.compile(r"(?<![\w@./])@[A-Za-z][\w-]{1,38}\b(?![@/])"), "@"),
    NameShape(EntityKind.OTHER, 0.9, re.compile(r"(?<![\w#&/])#[^\W\d]\w{1,60}\b"), "#"),
    NameShape(EntityKind.OTHER, 0.85, re.compile(r"(?<![\w-])[A-Z][A-Z0-9]{1,9}-\d{1,7}(?![\w-])"), "-"),
    NameShape(
        EntityKind.OTHER,
        0.85,
        re.compile(r"(?<![\w/.~:\\-])(?:\.{0,2}/)?(?:[\w.-]{1,60}/){1,12}[\w.-]{0,60}\.[A-Za-z]\w{0,7}\b(?![/@])"),
        "/",
    ),
    NameShape(EntityKind.OTHER, 0.8, re.compile(r"(?<![\w./-])_{0,2}[a-zA-Z][a-z0-9A-Z]*(?:_[a-zA-Z0-9]+)+\b"), "_"),
)
_CAMEL = NameShape(
    EntityKind.OTHER, 0.75, re.compile(r"(?<![\w./@#-])(?:[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,})\b")
)
_DIGITS = re.compile(r"\d{4}")
_DATE = NameShape(
    EntityKind.DATE,
    0.95,
    re.compile(
        r"(?<![\d.-])(?:[12]\d{3}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[./]\d{1,2}[./][12]\d{3}"
        rf"|\d{{1,2}}(?:st|nd|rd|th|er|\.)? (?:of |de |di )?(?:{_MONTH})\.?,? (?:del? )?[12]\d{{3}}"
        rf"|(?:{_MONTH})\.? \d{{1,2}}(?:st|nd|rd|th)?,? [12]\d{{3}})(?![\d-])",
        re.I,
    ),
    named=_date,
)


def shape_mentions(text: str) -> Iterator[EntityMention]:
    """All matches, which may overlap."""
    for shape in _SHAPES:
        if shape.hint in text:
            yield from _found(shape, text)
    yield from _found(_CAMEL, text)
    if _DIGITS.search(text):
        yield from _found(_DATE, text)


def _found(shape: NameShape, text: str) -> Iterator[EntityMention]:
    for match in shape.pattern.finditer(text):
        written = _link(match[0]) if shape.kind is EntityKind.URL else match[0]
        name = shape.named(written)
        if len(written) > 1 and len(name.encode()) <= LABEL_BYTES:
            end = match.start() + len(written)
            yield EntityMention(name, shape.kind, match.start(), end, shape.confidence, REGEX)
