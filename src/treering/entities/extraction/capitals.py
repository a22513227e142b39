"""People, organisations, projects and places by how they are written: capitals, and the words beside them."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from treering.core.entities import EntityKind
from treering.core.language.dates import MONTHS
from treering.core.language.folding import fold
from treering.core.language.stems import stop_words
from treering.core.values import LABEL_BYTES
from treering.entities.extraction.mentions import Mention
from treering.entities.extraction.shapes import REGEX

_LANGUAGES = ("en", "fr", "it", "de", "es")
# Latin, Greek and Cyrillic; scripts beyond have no capitals.
_UPPER = "".join(filter(str.isupper, map(chr, range(0x2000))))
_WORD = rf"[{_UPPER}]\w*(?:['’-]\w+)*(?:\.[a-z]{{2,3}}\b)?"
_RUN = re.compile(rf"(?<![\w@#/.\\-]){_WORD}(?: {_WORD}|(?: (?:&|[a-z]{{1,5}})){{1,2}} {_WORD})*")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.S)
_BEFORE = re.compile(r"([^\W\d_]+)[.]?\s*$")
_AFTER = re.compile(r"(?:['’]s\b)?\s+([^\W\d_]+)")
_OWN = re.compile(r"['’](?:s\b|$)")
_CONTRACTED = re.compile(r"['’](?:m|ll|ve|d|re|t|s)?$")
_ELIDED = re.compile(r"^\w{1,2}['’](?=\w)")
_STARTS = frozenset('.!?:;\n\r\t•*>|"“„«(–—-…')
_MOST_WORDS = 5
"""More capitalised words in a row are a heading."""
_MOST_READ = 40
"""Characters around a run in which the word before and the word after it are looked for."""


@dataclass(frozen=True, slots=True)
class _Beside:
    """What one language puts beside names: a row each of `names.toml`."""

    titles: frozenset[str]
    spoken: frozenset[str]
    at: frozenset[str]
    near: frozenset[str]
    to: frozenset[str]
    teams: frozenset[str]
    groups: frozenset[str]
    projects: frozenset[str]
    joined: frozenset[str]
    between: frozenset[str]
    plain: frozenset[str]
    company: frozenset[str]
    fringe: frozenset[str]
    """What is no part of a name although it has a capital: plain words and titles."""
    bodies: frozenset[str]
    """Teams and groups."""
    endings: tuple[str, ...] = ()
    """Of common nouns, in a language that writes them with a capital, too."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Capitalised words in a row, the word before them and the one after."""

    text: str
    start: int
    before: str
    after: str
    starts_sentence: bool
    titled: bool = False

    @property
    def words(self) -> list[str]:
        return self.text.split(" ")

    @property
    def alone(self) -> bool:
        return " " not in self.text


def capitalised(text: str, language: str) -> Iterator[Mention]:
    """Names that capitals give away, and what the words around them say they are."""
    if text.isupper():
        return
    beside = _beside(language if language in _LANGUAGES else "en")
    read = _CODE.sub(lambda code: " " * len(code[0]), text) if "`" in text else text
    for match in _RUN.finditer(read):
        for part in _parts(read, match.start(), match[0], beside):
            run = _without_fringe(part, beside)
            if run is not None:
                yield from _mention(read, run, *_judged(run, beside), beside)


def _parts(text: str, start: int, run: str, beside: _Beside) -> Iterator[_Run]:
    """Cut where a small word does not hold names together: "Ada told Bob", "Lyon in France", "l'équipe Atlas"."""
    words, at = list[str](), start
    for word in [*run.split(" "), ""]:
        if word and (_is_name(word) or _holds_together(words, fold(word), beside)):
            words.append(word)
        else:
            yield from _placed(text, start, words)
            words, start = [], at + len(word) + 1
        at += len(word) + 1


def _holds_together(words: list[str], word: str, beside: _Beside) -> bool:
    """`of`, or `the` after it."""
    return word in beside.joined or (word in beside.between and bool(words) and fold(words[-1]) in beside.joined)


def _is_name(word: str) -> bool:
    bare = _ELIDED.sub("", word)
    return bare[:1].isupper() or (bare == word and word[:1].isupper())


def _placed(text: str, start: int, words: list[str]) -> Iterator[_Run]:
    first = next((place for place, word in enumerate(words) if word[0].isupper()), len(words))
    last = max((place for place, word in enumerate(words, 1) if word[0].isupper()), default=0)
    if first >= last:
        return
    start += sum(len(word) + 1 for word in words[:first])
    run = " ".join(words[first:last])
    lead, end = text[max(0, start - _MOST_READ) : start], start + len(run)
    before, after = _BEFORE.search(lead), _AFTER.match(text, end, end + _MOST_READ)
    yield _Run(
        text=run,
        start=start,
        before=fold(before[1]) if before else "",
        after=fold(after[1]) if after else "",
        starts_sentence=lead.rstrip(" ")[-1:] in _STARTS or not lead.strip(),
    )


def _without_fringe(run: _Run, beside: _Beside) -> _Run | None:
    """Without titles, nor words that have their capital from the beginning of a sentence."""
    words, start, dropped = run.words, run.start, run.before
    titled = run.before in beside.titles
    while words and (_bare(words[0]) in beside.fringe or not words[0][0].isupper()):
        dropped = _bare(words[0])
        titled = titled or dropped in beside.titles
        start += len(words.pop(0)) + 1
    while words and (_bare(words[-1]) in beside.plain or not words[-1][0].isupper()):
        words.pop()
    kept = " ".join(words)
    if len(words) > _MOST_WORDS or len(kept) < 2 or len(kept.encode()) > LABEL_BYTES // 2:
        return None
    starts = run.starts_sentence and start == run.start
    return replace(run, text=kept, start=start, before=dropped, starts_sentence=starts, titled=titled)


def _bare(word: str) -> str:
    return fold(_CONTRACTED.sub("", word) if "'" in word or "’" in word else word)


def _judged(run: _Run, beside: _Beside) -> tuple[EntityKind, float]:
    """What it is and how sure; a confidence of 0 where it is no name."""
    words = {fold(word) for word in run.words}
    around = {run.before, run.after, *(words if not run.alone else ())}
    signs = (
        (run.titled, EntityKind.PERSON, 0.9),
        (not run.alone and bool(words & beside.company), EntityKind.ORGANISATION, 0.9),
        (bool(around & beside.bodies), EntityKind.ORGANISATION, 0.8),
        (bool(around & beside.projects), EntityKind.PROJECT, 0.8),
        (run.after in beside.spoken, EntityKind.PERSON, 0.75),
        (bool(beside.endings) and any(word.endswith(beside.endings) for word in words), EntityKind.OTHER, 0.0),
        (run.before in beside.at, EntityKind.ORGANISATION, 0.7),
        (run.before in beside.near, EntityKind.LOCATION, 0.65),
        (run.alone and run.before in beside.to, EntityKind.LOCATION, 0.6),
        (not run.alone, EntityKind.OTHER, 0.55),
        (run.text.isupper() and len(run.text) <= 6, EntityKind.OTHER, 0.45),
        (_OWN.search(run.text) is not None and not beside.endings, EntityKind.OTHER, 0.5),
        (run.starts_sentence or bool(beside.endings), EntityKind.OTHER, 0.0),
    )
    return next(((kind, sure) for holds, kind, sure in signs if holds), (EntityKind.OTHER, 0.5))


def _mention(text: str, run: _Run, kind: EntityKind, confidence: float, beside: _Beside) -> Iterator[Mention]:
    name, start = _OWN.sub("", run.text), run.start
    if kind is EntityKind.PROJECT and not run.alone:
        first, _, rest = name.partition(" ")
        name, start = (rest, start + len(first) + 1) if fold(first) in beside.projects else (name, start)
    end = start + len(name)
    if kind is EntityKind.ORGANISATION and run.after in beside.teams:
        end = text.index(" ", end) + 1 + len(run.after) if text[end : end + 1] == " " else end
    elif kind is EntityKind.ORGANISATION and run.before in beside.teams and text[start - 1 : start] == " ":
        start -= 1 + len(run.before)
    if confidence and len(name) > 1:
        yield Mention(text[start:end], kind, start, end, confidence, REGEX)


@cache
def _beside(language: str) -> _Beside:
    data = tomllib.loads(files("treering.entities").joinpath("names.toml").read_text("utf-8"))
    own = {key: frozenset(words.split()) for key, words in data[language].items()}
    every = {key: frozenset(words.split()) for key, words in data["every"].items()}
    plain = frozenset(own.pop("plain") | every["plain"] | MONTHS.keys() | stop_words(language) | stop_words("en"))
    return _Beside(
        near=own.pop("in"),
        plain=plain,
        endings=tuple(sorted(own.pop("endings", ()))),
        company=every["company"],
        fringe=plain | own["titles"],
        bodies=own["teams"] | own["groups"],
        **own,
    )
