"""Words of prompts, and what a prompt names: paths, file names, identifiers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from treering.core.language.stems import stemmer
from treering.core.language.terms import code_of, query_terms
from treering.core.past_sessions import SessionWords
from treering.core.prompt_words import MAX_SCANNED, prompt_text, session_words

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


class PathName(NamedTuple):
    """The words of a path."""

    base: str
    stem: str
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


@lru_cache(maxsize=1_024)
def cached_words(prompts: tuple[str, ...]) -> SessionWords:
    """`session_words`, for sessions that are stored without them."""
    return session_words(prompts)


@lru_cache(maxsize=8)
def read_prompt(prompt: str) -> PromptReading:
    text = prompt_text(prompt).encode("utf-8", "replace").decode("utf-8")
    terms = query_terms(text)
    codes: dict[int, int] = {}
    for number, term in enumerate(terms):
        for form in term.forms:
            codes.setdefault(code_of(form), number)
    named = _named_paths(prompt[:MAX_SCANNED])
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
    words = _words(stem)
    own = words - _WITHOUT_MEANING or words
    return PathName(base, stem, own, own | _folder_words(folder))


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


@lru_cache(maxsize=16_384)
def subject_of(path: str) -> str:
    """The part of a file's name that it shares with its test, in lower case."""
    base = path.rpartition("/")[2]
    stem = base.rpartition(".")[0] or base
    return (_TEST_MARK.sub("", _TEST_MARK.sub("", stem)) or stem).lower()


def is_inside(path: str) -> bool:
    """Whether a path is relative and stays below the root."""
    return bool(path) and path[0] not in "/~" and path[1:2] != ":" and "\0" not in path and ".." not in path.split("/")


@lru_cache(maxsize=16_384)
def _stem_of(word: str) -> str:
    return _english(word)


def _words(text: str) -> frozenset[str]:
    return frozenset(_stem_of(part.lower()) for part in _PART.findall(text) if len(part) > 1)


@lru_cache(maxsize=16_384)
def _folder_words(folder: str) -> frozenset[str]:
    parent, _, name = folder.rpartition("/")
    return _words(name) | _folder_words(parent) if parent else _words(name)
