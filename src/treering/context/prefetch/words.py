"""Words of prompts, and what a prompt names: paths, file names, identifiers."""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from treering.core.language.stems import stemmer
from treering.core.language.terms import analyse, code_of, query_terms
from treering.core.past_sessions import SessionWords

MAX_CHARACTERS = 8_000  # of a prompt; pasted logs and plans name their subject at the beginning
_HEAD_SHARE = 0.75  # of a longer prompt; the remainder comes from its end, where the request may follow a pasted text
_MAX_SCANNED = 40_000  # characters of a prompt that are searched for paths

# Text that the agent's program adds to a prompt and that says nothing about the task.
_ADDED = re.compile(
    r"<(system-reminder|local-command-stdout|local-command-stderr|local-command-caveat|bash-stdout|bash-stderr|"
    r"environment_context|user_instructions)>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
_TAG = re.compile(r"</?[a-z][a-z_-]{2,30}(?:\s[^<>]{0,200})?>")
_CAVEAT = re.compile(r"\ACaveat: The messages below[^\n]*")
_URL = re.compile(r"\bhttps?://\S+")
_BETWEEN_PATHS = re.compile(r"[\s\"'`<>,;|=*]+")
_NAMED_PATH = re.compile(r"/?(?:[^/]+/)+[^/]+|[^/]*\w\.[A-Za-z]\w{0,9}|\.[a-z][\w-]+")
_LINE = re.compile(r"(?:(?::\d+)+(?:-\d+)?|#L\d+(?:-L?\d+)?)$")
_MAX_PATH = 300  # characters; a longer piece without a space is data
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{2,60}")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TEST_MARK = re.compile(r"^(?:test_|tests_|spec_)|[._-](?:tests?|spec|unittest|e2e|d)$|(?<=[a-z])(?:Tests?|Spec)$")
_WITHOUT_MEANING = frozenset({"test", "spec", "index", "main", "mod", "init", "lib", "src", "type", "page"})
"""Stems of words in file names that do not say what the file is about."""

_english = stemmer("en")


@dataclass(frozen=True, slots=True)
class PathName:
    """The words of a path; `subject` is the part of the name that a file shares with its test."""

    folder: str
    base: str
    stem: str
    subject: str
    own_words: frozenset[str]
    """Stems of the words of the file's own name."""
    words: frozenset[str]
    """Stems of the words of the whole path."""


@dataclass(frozen=True, slots=True)
class PromptReading:
    """A prompt as the ranking uses it."""

    codes: Mapping[int, int]
    """Code of each form of a word, and the number of the word."""
    forms: frozenset[str]
    """Every form of every word, to compare with the words of paths."""
    paths: frozenset[str]
    """Paths with a folder that the prompt names."""
    bases: frozenset[str]
    """File names that the prompt names, including those of `paths`."""
    identifiers: frozenset[str]
    words: int
    """Number of different words."""


def prompt_text(prompt: str) -> str:
    """The prompt without text that the agent's program added, shortened to `MAX_CHARACTERS`."""
    text = _TAG.sub(" ", _CAVEAT.sub(" ", _ADDED.sub(" ", prompt[:_MAX_SCANNED])))
    return _shortened(text.strip())


def session_words(prompts: Sequence[str]) -> SessionWords:
    """Words of a session's prompts, for storage beside the session; never raises."""
    text = _shortened("\n".join(prompt_text(prompt) for prompt in prompts[:50]))
    found = analyse(text.encode("utf-8", "replace").decode("utf-8"))
    codes = array("I", found.codes)
    if sys.byteorder == "big":
        codes.byteswap()
    return SessionWords(codes.tobytes(), found.counts, found.length)


@lru_cache(maxsize=1_024)
def cached_words(prompts: tuple[str, ...]) -> SessionWords:
    """`session_words`, for sessions that are stored without them."""
    return session_words(prompts)


def read_prompt(prompt: str) -> PromptReading:
    text = prompt_text(prompt).encode("utf-8", "replace").decode("utf-8")
    terms = query_terms(text)
    codes: dict[int, int] = {}
    for number, term in enumerate(terms):
        for form in term.forms:
            codes.setdefault(code_of(form), number)
    named = _named_paths(prompt[:_MAX_SCANNED])
    return PromptReading(
        codes=codes,
        forms=frozenset(form for term in terms for form in term.forms),
        paths=frozenset(path for path in named if "/" in path),
        bases=frozenset(path.rpartition("/")[2] for path in named),
        identifiers=frozenset(_IDENTIFIER.findall(text)),
        words=len(terms),
    )


def _named_paths(text: str) -> set[str]:
    pieces = _BETWEEN_PATHS.split(_URL.sub(" ", text).replace("\\", "/"))
    bare = (_LINE.sub("", piece.strip("()[]{}@:!?").rstrip("./")) for piece in pieces if len(piece) <= _MAX_PATH)
    return {piece.removeprefix("./") for piece in bare if _NAMED_PATH.fullmatch(piece)}


@lru_cache(maxsize=65_536)
def path_name(path: str) -> PathName:
    folder, _, base = path.rpartition("/")
    stem = base.rpartition(".")[0] or base
    subject = _TEST_MARK.sub("", _TEST_MARK.sub("", stem)) or stem
    words = _words(stem)
    own = words - _WITHOUT_MEANING or words
    return PathName(folder, base, stem, subject.lower(), own, own | _words(folder))


def is_inside(path: str) -> bool:
    """Whether a path is relative and stays below the root."""
    return bool(path) and path[0] not in "/~" and path[1:2] != ":" and "\0" not in path and ".." not in path.split("/")


@lru_cache(maxsize=16_384)
def _stem_of(word: str) -> str:
    return _english(word)


def _words(text: str) -> frozenset[str]:
    return frozenset(_stem_of(part.lower()) for part in _PART.findall(text) if len(part) > 1)


def _shortened(text: str) -> str:
    if len(text) <= MAX_CHARACTERS:
        return text
    head = int(MAX_CHARACTERS * _HEAD_SHARE)
    return f"{text[:head]}\n{text[head - MAX_CHARACTERS :]}"
