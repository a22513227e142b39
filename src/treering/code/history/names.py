"""Relations between files by name: `test_x.py` belongs to `x.py`, `index.ts` to its folder."""

import re
from dataclasses import dataclass
from functools import lru_cache

_WRAPPED = re.compile(r"^(?:tests?_|spec_|_+)|(?:[._-](?:tests?|spec|unittest|d|test-d|type))$")
_TEST = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|testing|t)/"
    r"|(?:^|/)(?:test_|conftest)"
    r"|(?:[._-](?:test|tests|spec|test-d))\.[a-z]+$"
    r"|(?:^|/)tests?\.[a-z]+$"
)
_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])|[a-z]+|\d+")
_GENERIC_WORDS = frozenset({"test", "tests", "src", "lib", "spec", "init", "index", "mod", "packages", "crates"})
_NAMED_BY_FOLDER = frozenset({"", "__init__", "index", "mod", "lib", "main", "types", "doc", "common", "test", "tests"})
_GENERIC_FOLDERS = frozenset({"src", "test", "tests", "__tests__", "lib"})


@dataclass(frozen=True, slots=True)
class Name:
    folder: str
    subject: str
    """The part that a file and its test share; the folder's name if the file's own is generic."""
    is_test: bool
    words: frozenset[str]
    """Words of the whole path."""
    own_words: frozenset[str]
    """Words of the file's own name."""


@lru_cache(maxsize=65_536)
def name_of(path: str) -> Name:
    folder, _, base = path.rpartition("/")
    bare = base.rpartition(".")[0] or base
    return Name(
        folder=folder,
        subject=_subject(folder, bare),
        is_test=_TEST.search(path.lower()) is not None,
        words=_words(path.removesuffix(base) + bare),
        own_words=_words(bare),
    )


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard similarity of two sets of words; 0 if one is empty."""
    return len(one & other) / len(one | other) if one and other else 0.0


def _subject(folder: str, bare: str) -> str:
    before = ""
    while bare != before and bare not in _NAMED_BY_FOLDER:
        before, bare = bare, _WRAPPED.sub("", bare)
    if bare.lower() not in _NAMED_BY_FOLDER:
        return bare.lower()
    specific = [part for part in folder.split("/") if part and part not in _GENERIC_FOLDERS]
    return specific[-1].lower() if specific else bare.lower()


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text)) - _GENERIC_WORDS
