"""Cuts a turn into the sentences that its author says in prose.

Code, logs, headings, lists, tables and what somebody else wrote (quotes, transcripts, pasted text) are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from treering.core.language.text_features import speaker_of
from treering.knowledge.facts.letters import lowered

# Longer sentences are data, or prose without full stops whose clauses can't be told.
LONGEST = 500
# Lines of prose that an editor wrapped are about this long at least.
_WRAPPED = 60
# A longer quotation says something by itself; a shorter one is a name.
_QUOTED_WORDS = 3

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
# A full stop behind these ends no sentence.
_ABBREVIATION = re.compile(
    r"approx|art|bsp|bzw|c\.-a-d|ca|cfr|co|corp|d\.h|dott|dr|e\.g|ecc|eg|ej|etc|evtl|geb|ggf|i\.e|ie|inc|ing|inkl|ltd|max"
    r"|min|mlle|mme|mr|mrs|ms|no|nr|p\.ej|pag|prof|sig|sr|sra|srta|st|str|tel|u\.a|ud|usw|vs|z\.b|p\.s"
)
_MONTHS = re.compile(r"jan|feb|m[aä]r|apr|mai|jun|jul|aug|sep|okt|nov|dez", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` in one line, without its mark-up; `asks` where it ends in a question mark."""

    text: str
    asks: bool = False


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of `text` in their order."""
    for line in _paragraphs(text):
        if said := _said(line):
            yield from _split(said)


def _paragraphs(text: str) -> Iterator[str]:
    """Lines of prose; one that an editor wrapped is joined with the next. What a colon announces is quoted."""
    held, quoted = "", False
    for line in _prose(text):
        if held and len(held) >= _WRAPPED and line[:1].islower() and held[-1] not in ".!?:;…":
            held = f"{held} {line.strip()}"
            continue
        if held and not quoted:
            yield held
        quoted = (quoted and bool(line)) or held.endswith(":")
        held = line.strip()
    if held and not quoted:
        yield held


def _prose(text: str) -> Iterator[str]:
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip() and not _NOT_PROSE.match(line) and not _CODE_END.search(line):
            yield line
        else:
            yield ":" if line.rstrip().endswith(":") else ""


def _said(line: str) -> str:
    """Without mark-up; long quotations leave a mark. '' for what another person says in a transcript."""
    line = _QUOTED.sub(_name_or_mark, _MARKUP.sub("", line))
    return "" if _is_another(line) else " ".join(line.split())


def _is_another(line: str) -> bool:
    """Whether the line is a transcript's: "Anna: we use npm". A label ("Update: …") names no speaker."""
    speaker = speaker_of(line)
    return bool(speaker) and _labels().isdisjoint(lowered(speaker).split())


@cache
def _labels() -> frozenset[str]:
    return frozenset(files(__package__).joinpath("labels.txt").read_text("utf-8").split())


def _name_or_mark(quoted: re.Match[str]) -> str:
    inside = quoted[0][1:-1].strip()
    if not quoted.string[: quoted.start()].strip():
        return "~"
    return inside if len(inside.split()) <= _QUOTED_WORDS else "~"


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
    if text and len(text) <= LONGEST:
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
