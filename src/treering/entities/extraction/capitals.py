"""People, organisations, projects and places by capital letters and neighbouring words."""

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
from treering.entities.extraction.mentions import EntityMention
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
_MAX_WORDS = 5  # more capitalised words in a row are a heading
_NEIGHBOUR_CHARACTERS = 40  # where the words before and after a run are searched


@dataclass(frozen=True, slots=True)
class _NeighbourWords:
    """Words of one language that occur neighbours names: rows of `names.toml`."""

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
    """Capitalised words that are not part of a name: plain words and titles."""
    bodies: frozenset[str]
    """Teams and groups."""
    endings: tuple[str, ...] = ()
    """Endings of common nouns, in a language that capitalises them."""


@dataclass(frozen=True, slots=True)
class _CapitalRun:
    """Capitalised words in a row, with the words before and after."""

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


def capitalised(text: str, language: str) -> Iterator[EntityMention]:
    """Mentions by capital letters, with the kind that the neighbouring words suggest."""
    if text.isupper():
        return
    neighbours = _neighbour_words(language if language in _LANGUAGES else "en")
    read = _CODE.sub(lambda code: " " * len(code[0]), text) if "`" in text else text
    for match in _RUN.finditer(read):
        for part in _parts(read, match.start(), match[0], neighbours):
            run = _without_fringe(part, neighbours)
            if run is not None:
                yield from _mention(read, run, *_classify(run, neighbours), neighbours)


def _parts(text: str, start: int, run: str, neighbours: _NeighbourWords) -> Iterator[_CapitalRun]:
    """Split at lower-case words that do not join names: "Ada told Bob", "Lyon in France", "l'équipe Atlas"."""
    words, at = list[str](), start
    for word in [*run.split(" "), ""]:
        if word and (_is_name(word) or _joins(words, fold(word), neighbours)):
            words.append(word)
        else:
            yield from _run_at(text, start, words)
            words, start = [], at + len(word) + 1
        at += len(word) + 1


def _joins(words: list[str], word: str, neighbours: _NeighbourWords) -> bool:
    """Whether a word joins two parts of a name: `of`, or `the` after it."""
    return word in neighbours.joined or (
        word in neighbours.between and bool(words) and fold(words[-1]) in neighbours.joined
    )


def _is_name(word: str) -> bool:
    bare = _ELIDED.sub("", word)
    return bare[:1].isupper() or (bare == word and word[:1].isupper())


def _run_at(text: str, start: int, words: list[str]) -> Iterator[_CapitalRun]:
    first = next((place for place, word in enumerate(words) if word[0].isupper()), len(words))
    last = max((place for place, word in enumerate(words, 1) if word[0].isupper()), default=0)
    if first >= last:
        return
    start += sum(len(word) + 1 for word in words[:first])
    run = " ".join(words[first:last])
    lead, end = text[max(0, start - _NEIGHBOUR_CHARACTERS) : start], start + len(run)
    before, after = _BEFORE.search(lead), _AFTER.match(text, end, end + _NEIGHBOUR_CHARACTERS)
    yield _CapitalRun(
        text=run,
        start=start,
        before=fold(before[1]) if before else "",
        after=fold(after[1]) if after else "",
        starts_sentence=lead.rstrip(" ")[-1:] in _STARTS or not lead.strip(),
    )


def _without_fringe(run: _CapitalRun, neighbours: _NeighbourWords) -> _CapitalRun | None:
    """Strip titles and words that are capitalised only at the start of a sentence."""
    words, start, dropped = run.words, run.start, run.before
    titled = run.before in neighbours.titles
    while words and (_bare(words[0]) in neighbours.fringe or not words[0][0].isupper()):
        dropped = _bare(words[0])
        titled = titled or dropped in neighbours.titles
        start += len(words.pop(0)) + 1
    while words and (_bare(words[-1]) in neighbours.plain or not words[-1][0].isupper()):
        words.pop()
    name = " ".join(words)
    if len(words) > _MAX_WORDS or len(name) < 2 or len(name.encode()) > LABEL_BYTES // 2:
        return None
    starts = run.starts_sentence and start == run.start
    return replace(run, text=name, start=start, before=dropped, starts_sentence=starts, titled=titled)


def _bare(word: str) -> str:
    return fold(_CONTRACTED.sub("", word) if "'" in word or "’" in word else word)


def _classify(run: _CapitalRun, neighbours: _NeighbourWords) -> tuple[EntityKind, float]:
    """Kind and confidence; a confidence of 0 if it is not a name."""
    words = {fold(word) for word in run.words}
    around = {run.before, run.after, *(words if not run.alone else ())}
    signs = (
        (run.titled, EntityKind.PERSON, 0.9),
        (not run.alone and bool(words & neighbours.company), EntityKind.ORGANISATION, 0.9),
        (bool(around & neighbours.bodies), EntityKind.ORGANISATION, 0.8),
        (bool(around & neighbours.projects), EntityKind.PROJECT, 0.8),
        (run.after in neighbours.spoken, EntityKind.PERSON, 0.75),
        (bool(neighbours.endings) and any(word.endswith(neighbours.endings) for word in words), EntityKind.OTHER, 0.0),
        (run.before in neighbours.at, EntityKind.ORGANISATION, 0.7),
        (run.before in neighbours.near, EntityKind.LOCATION, 0.65),
        (run.alone and run.before in neighbours.to, EntityKind.LOCATION, 0.6),
        (not run.alone, EntityKind.OTHER, 0.55),
        (run.text.isupper() and len(run.text) <= 6, EntityKind.OTHER, 0.45),
        (_OWN.search(run.text) is not None and not neighbours.endings, EntityKind.OTHER, 0.5),
        (run.starts_sentence or bool(neighbours.endings), EntityKind.OTHER, 0.0),
    )
    return next(((kind, sure) for holds, kind, sure in signs if holds), (EntityKind.OTHER, 0.5))


def _mention(
    text: str, run: _CapitalRun, kind: EntityKind, confidence: float, neighbours: _NeighbourWords
) -> Iterator[EntityMention]:
    name, start = _OWN.sub("", run.text), run.start
    if kind is EntityKind.PROJECT and not run.alone:
        first, _, rest = name.partition(" ")
        name, start = (rest, start + len(first) + 1) if fold(first) in neighbours.projects else (name, start)
    end = start + len(name)
    if kind is EntityKind.ORGANISATION and run.after in neighbours.teams:
        end = text.index(" ", end) + 1 + len(run.after) if text[end : end + 1] == " " else end
    elif kind is EntityKind.ORGANISATION and run.before in neighbours.teams and text[start - 1 : start] == " ":
        start -= 1 + len(run.before)
    if confidence and len(name) > 1:
        yield EntityMention(text[start:end], kind, start, end, confidence, REGEX)


@cache
def _neighbour_words(language: str) -> _NeighbourWords:
    data = tomllib.loads(files("treering.entities").joinpath("names.toml").read_text("utf-8"))
    own = {key: frozenset(words.split()) for key, words in data[language].items()}
    every = {key: frozenset(words.split()) for key, words in data["every"].items()}
    plain = frozenset(own.pop("plain") | every["plain"] | MONTHS.keys() | stop_words(language) | stop_words("en"))
    return _NeighbourWords(
        near=own.pop("in"),
        plain=plain,
        endings=tuple(sorted(own.pop("endings", ()))),
        company=every["company"],
        fringe=plain | own["titles"],
        bodies=own["teams"] | own["groups"],
        **own,
    )
