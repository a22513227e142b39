"""Cuts a turn into the sentences that its author says in prose.

Code, logs, stack traces and what somebody else wrote (quotes, transcripts) are left out.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from treering.core.language.marks import speaker_of
from treering.core.statements import same_name
from treering.core.time_words.lexicon import fold

# Longer sentences are lists, data or prose without full stops; their clauses can't be told.
LONGEST = 600
# Lines of prose that an editor wrapped are about this long at least.
_WRAPPED = 60
# A quotation this long says something by itself; a shorter one is a name.
_QUOTED_WORDS = 4

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_NOT_PROSE = re.compile(
    r"""
    \s*+(?:>|\||\$\ |\#!|@@|diff\ |\+\+\+|---|===|</?\w|//|/\*|\*/|\.{3}\s|>>>)
    | \s*+\[?\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d | \s*+\[?\d\d:\d\d:\d\d
    | \s*+\[?(?:INFO|DEBUG|WARN|WARNING|ERROR|TRACE|FATAL|CRITICAL)\b
    | \s*+(?:Traceback\ |File\ "|Caused\ by:|at\ [\w$.<>]+\(|\w+(?:\.\w+)*(?:Error|Exception)\b)
    | \s*+(?:import\ \w|from\ \S+\ import|def\ \w+\(|class\ \w+[:({]|const\ |(?:let|var)\ \w+\ =|function\ |return\b)
    | \s*+(?:public|private|static|void|async|await|func|fn|SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|FROM|RUN)\ (?-i:\w)
    | (?:\t|\ {4,})(?!\s*(?:[-*+•]|\d+[.)])\s)
    | \s*+[\w.-]+\s?=\s?\S
    | \s*+[0-9a-f]{7,40}\ \w | \s*+\#\s*(?:TODO|FIXME|XXX|HACK)\b
    """,
    re.X,
)
_CODE_END = re.compile(r"(?:[{};]|=>|\)\s*:|\\)\s*$")
_BULLET = re.compile(r"^\s*(?:[-*+•–]|\d{1,2}[.)]|\[[ xX]\]|#{1,6})\s+(?:\[[ xX]\]\s+)?")
_MARKUP = re.compile(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|~~")
_QUOTED = re.compile(r"“[^“”\n]{1,400}”|«[^«»\n]{1,400}»|„[^„“”\n]{1,400}[“”]|(?<!\w)\"[^\"\n]{1,400}\"(?!\w)")
_END = re.compile(r"[.!?…]++[\"')\]»”]*+(?=\s|$)")
_DENYING = re.compile(r"[^\W\d_]+")
_LAST_WORD = re.compile(r"[\w.]+$")
_DAY_AND_MONTH = re.compile(r"\d{1,2}\.\d{1,2}")
_NEXT_WORD = re.compile(r"\s+(\w+)")


@cache
def _words(name: str) -> frozenset[str]:
    """A list of sentences.toml."""
    data = tomllib.loads((files(__package__) / "sentences.toml").read_text("utf-8"))
    return frozenset(data[name].split())


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` in one line, without its mark-up; `asks` where it ends in a question mark."""

    text: str
    asks: bool = False


def denies(low: str) -> bool:
    """Whether folded words may say that something is not so, or only an example."""
    return not _words("denials").isdisjoint(_DENYING.findall(low))


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of `text` in their order."""
    for line in _paragraphs(text):
        if line := _said(line):
            yield from _split(line)


def _paragraphs(text: str) -> Iterator[str]:
    """Lines of prose; one that an editor wrapped is joined with the next."""
    held = ""
    for line in _prose(text):
        goes_on = len(held) >= _WRAPPED and line[:1].islower() and held[-1] not in ".!?:;…"
        if goes_on:
            held = f"{held} {line.strip()}"
            continue
        if held:
            yield held
        held = _BULLET.sub("", line).strip()
    if held:
        yield held


def _prose(text: str) -> Iterator[str]:
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip() and not _NOT_PROSE.match(line) and not _CODE_END.search(line):
            yield line
        else:
            yield ""


def _said(line: str) -> str:
    """Without mark-up, long quotations and a label in front; '' for what another person says in a transcript."""
    line = _MARKUP.sub("", line) if "*" in line or "_" in line or "~~" in line else line
    line = _QUOTED.sub(_name_or_nothing, line)
    if speaker_of(line):
        label, _, rest = line.partition(":")
        if len(same_name(label).split()) < len(label.split()):
            # "Our stack: …" has an article, a speaker has none.
            return line
        if not _words("labels").isdisjoint(fold(label).lower().split()):
            return rest.strip()
        # "Port: 8080" is a statement, "Anna: we use npm" is Anna's.
        return "" if len(rest.split()) > _QUOTED_WORDS or len(label.split()) > 1 else line
    return line


def _name_or_nothing(quoted: re.Match[str]) -> str:
    inside = quoted[0][1:-1].strip()
    return inside if len(inside.split()) < _QUOTED_WORDS else "~"


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
        yield Sentence(text.rstrip(" .!…"), asks="?" in text[-3:] or "¿" in text)


def _is_abbreviation(line: str, end: re.Match[str]) -> bool:
    """Whether the full stop belongs to the word before it: "z.B.", "Dr.", an initial, "3. März", "1.6."."""
    word = _LAST_WORD.search(line, max(0, end.start() - 12), end.start())
    following = _NEXT_WORD.match(line, end.end())
    if word is None or following is None:
        return False
    last = word[0].lower()
    if _DAY_AND_MONTH.fullmatch(last):
        return following[1][:1].islower()
    if last.isdecimal():
        return len(last) <= 2 and fold(following[1]).lower() in _words("months")
    return last in _words("abbreviations") or (len(last) == 1 and last.isalpha() and word[0].isupper())
