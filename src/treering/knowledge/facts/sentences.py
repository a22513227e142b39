"""Splits a turn into the prose sentences of its author.

Code, logs, headings, lists, tables and text by others (quotes, transcripts, pasted text) are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from treering.core.language.text_features import speaker_of
from treering.knowledge.facts.letters import lowered

# Longer sentences are data, or prose without full stops that cannot be split into clauses.
MAX_SENTENCE = 500
# Minimum length of a line that an editor wrapped.
_MIN_WRAPPED = 60
# A quotation of more words is a statement; a shorter one is a name.
_MAX_NAME_WORDS = 3

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_NOT_PROSE = re.compile(
    r"""
    \s*+(?:>|\||\$\ |\#|@@|diff\ |\+\+\+|---|===|</?\w|//|/\*|\*/|\.{3}\s|>>>|%|[{}])
    | \s*+(?:[-*+•–]|\d{1,2}[.)]|\[[ xX]\])\s
    | \s*+\*\*[^*]+\*\*:?\s*$ | [A-Z][A-Z\d _-]+:?\s*$
    | \s*+\[?\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d | \s*+\[?\d\d:\d\d:\d\d
    | \s*+\[?(?:INFO|DEBUG|WARN|WARNING|ERROR|TRACE|FATAL|CRITICAL|FAILED|PASSED)\b
    | \s*+(?:Traceback\ |File\ "|Caused\ by:|at\ [\w$.<>]+\(|\w+(?:\.\w+)*(?:Error|Exception)\b)
    | \s*+(?:import\ \w|from\ \S+\ import|def\ \w+\(|class\ \w+[:({]|const\ |(?:let|var)\ \w+\ =|function\ |return\b)
    | \s*+(?:public|private|static|void|async|await|func|fn|SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|FROM|RUN)\ \w
    | (?:\t|\ {4,})\S
    | \s*+[\w.-]+\s?=\s?\S | \s*+[\w.-]+:\ *$ | \s*+[a-z_]+:\ \S+\s*$
    | \s*+[0-9a-f]{7,40}\ \w
    """,
    re.X,
)
_CODE_END = re.compile(r"(?:[{};]|=>|\)\s*:|\\)\s*$")
_MARKUP = re.compile(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|~~|`")
_QUOTED = re.compile(
    r"“[^“”\n]{1,400}”|«[^«»\n]{1,400}»|„[^„“”\n]{1,400}[“”]|(?<!\w)\"[^\"\n]{1,400}\"(?!\w)|(?<!\w)'[^'\n]{12,400}'(?!\w)"
)
_END = re.compile(r"[.!?…]++[\"')\]»”]*+(?=\s|$)|,(?= ¿)")
_LAST_WORD = re.compile(r"[\w.]+$")
_NEXT_WORD = re.compile(r"\s+(\w+)")
_DAY_AND_MONTH = re.compile(r"\d{1,2}\.\d{1,2}")
# A full stop after these does not end a sentence.
_ABBREVIATION = re.compile(
    r"approx|art|bsp|bzw|c\.-a-d|ca|cfr|co|corp|d\.h|dott|dr|e\.g|ecc|eg|ej|etc|evtl|geb|ggf|i\.e|ie|inc|ing|inkl|ltd|max"
    r"|min|mlle|mme|mr|mrs|ms|no|nr|p\.ej|pag|prof|sig|sr|sra|srta|st|str|tel|u\.a|ud|usw|vs|z\.b|p\.s"
)
_MONTHS = re.compile(r"jan|feb|m[aä]r|apr|mai|jun|jul|aug|sep|okt|nov|dez", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` on one line without mark-up; `asks` is set for a question."""

    text: str
    asks: bool = False


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of `text` in order."""
    for line in _paragraphs(text):
        if own_text := _own_text(line):
            yield from _split(own_text)


def _paragraphs(text: str) -> Iterator[str]:
    """Lines of prose, with wrapped lines joined. Text after a line that ends with a colon is a quotation."""
    pending, quoted = "", False
    for line in _prose(text):
        if pending and len(pending) >= _MIN_WRAPPED and line[:1].islower() and pending[-1] not in ".!?:;…":
            pending = f"{pending} {line.strip()}"
            continue
        if pending and not quoted:
            yield pending
        quoted = (quoted and bool(line)) or pending.endswith(":")
        pending = line.strip()
    if pending and not quoted:
        yield pending


def _prose(text: str) -> Iterator[str]:
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip() and not _NOT_PROSE.match(line) and not _CODE_END.search(line):
            yield line
        else:
            yield ":" if line.rstrip().endswith(":") else ""


def _own_text(line: str) -> str:
    """The line without mark-up, with `~` for long quotations; empty for a transcript line of another person."""
    line = _QUOTED.sub(_name_or_mark, _MARKUP.sub("", line))
    return "" if _is_by_another(line) else " ".join(line.split())


def _is_by_another(line: str) -> bool:
    """Whether the line is from a transcript: "Anna: we use npm". A label ("Update: …") is not a speaker."""
    speaker = speaker_of(line)
    return bool(speaker) and _labels().isdisjoint(lowered(speaker).split())


@cache
def _labels() -> frozenset[str]:
    return frozenset(files(__package__).joinpath("labels.txt").read_text("utf-8").split())


def _name_or_mark(quoted: re.Match[str]) -> str:
    inside = quoted[0][1:-1].strip()
    if not quoted.string[: quoted.start()].strip():
        return "~"
    return inside if len(inside.split()) <= _MAX_NAME_WORDS else "~"


def _split(line: str) -> Iterator[Sentence]:
    start = 0
    for end in _END.finditer(line):
        if end[0][0] == "." and _is_abbreviation(line, end):
            continue
        yield from _sentence(line[start : end.end()])
        start = end.end()
    yield from _sentence(line[start:])


def _sentence(text: str) -> Iterator[Sentence]:
    text = text.strip()
    if text and len(text) <= MAX_SENTENCE:
        yield Sentence(text.strip(" .,!…¡"), asks="?" in text[-3:] or "¿" in text)


def _is_abbreviation(line: str, end: re.Match[str]) -> bool:
    """Whether the full stop belongs to the word before it: "z.B.", "Dr.", an initial, "3. März", "1.6."."""
    word = _LAST_WORD.search(line, max(0, end.start() - 12), end.start())
    following = _NEXT_WORD.match(line, end.end())
    if word is None or following is None:
        return False
    last = lowered(word[0])
    if _DAY_AND_MONTH.fullmatch(last):
        return following[1][:1].islower()
    if last.isdecimal():
        return len(last) <= 2 and _MONTHS.match(following[1]) is not None
    return _ABBREVIATION.fullmatch(last) is not None or (len(last) == 1 and last.isalpha() and word[0].isupper())
