"""A short statement as its words, its values and how it says them: what two statements are compared by."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Self

from treering.core.language.dates import MONTHS
from treering.core.language.folding import fold
from treering.core.language.stems import language_of, stemmer, stop_words

LONGEST_STATEMENT = 300
"""Characters; a longer text explains, and no longer states one thing."""

_TOKEN = re.compile(r"[^\W_][\w./'’+#@-]*[^\W_]|[^\W_]|:(?=\s)|=")
_VALUE = re.compile(r"\d")
_OPPOSITES = (
    ("disabled", "enabled"),
    ("deactivated", "activated"),
    ("deaktiviert", "aktiviert"),
    ("disallowed", "allowed"),
    ("forbidden", "allowed"),
)
"""Words that deny what another one says."""
_ALWAYS = ("always", "toujours", "siempre", "sempre")
"""Words that a negation such as "never" takes the place of."""


@cache
def _listed(kind: str) -> frozenset[str]:
    lines = (Path(__file__).parent / "language" / "change_words.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines for name, *words in [line.split()] if name == kind for word in words)


@dataclass(frozen=True, slots=True)
class _Token:
    """A word of the text. `stem` is empty if it says nothing by itself."""

    said: str
    folded: str
    stem: str

    @property
    def is_value(self) -> bool:
        return _VALUE.search(self.said) is not None


@dataclass(frozen=True, slots=True)
class Wording:
    """What a statement says: `words` without values, words of change and negation; `values` in their order.

    `before` are the words in front of the last "is"; `said` is what follows it; `names` whether that is one name.
    `over` are the words that stand behind "from", "instead of" and the like.
    """

    words: frozenset[str]
    values: tuple[str, ...]
    labels: tuple[bool, ...]
    before: frozenset[str]
    said: frozenset[str]
    names: bool
    over: frozenset[str]
    changes: bool
    negated: bool

    @classmethod
    def of(cls, text: str) -> Self:
        tokens = list(_tokens(text))
        places = [place for place, each in enumerate(tokens) if each.folded in _listed("copula")]
        copula = places[-1] if places else -1
        behind = tokens[copula + 1 :] if places else []
        said = [each for each in behind if each.stem or each.is_value]
        runs = list(_runs(tokens))
        capitals = bool(said) and all(each.said[0].isupper() for each in said)
        return cls(
            words=_stems(tokens),
            values=tuple(" ".join(each.folded for each in tokens[slice(*run)]) for run in runs),
            labels=tuple(_is_label(tokens, run[0], copula) for run in runs),
            before=_stems(tokens[:copula]) if places else frozenset(),
            said=_stems(said),
            # German writes every noun with a capital.
            names=capitals and not any(each.is_value for each in said) and language_of(text) != "de",
            over=frozenset(_over(tokens)),
            changes=any(each.folded in _listed("change") for each in tokens),
            negated=any(each.folded in _listed("negation") for each in tokens),
        )

    @property
    def asserted(self) -> frozenset[str]:
        """The words without "always", each denying word replaced: "cache enabled" of "cache disabled"."""
        opposites = dict(_opposite_stems())
        return frozenset(opposites.get(word, word) for word in self.words) - _always_stems()

    @property
    def denies(self) -> bool:
        """Whether it denies what is `asserted`; "not disabled" does not."""
        return self.negated != any(denying in self.words for denying, _ in _opposite_stems())

    @property
    def keys(self) -> tuple[str, ...]:
        """What it is found by: two statements that may contradict each other share one of these."""
        about = (self.words, self.before) if self.before else (self.words,)
        return tuple(dict.fromkeys(_key(words) for words in about if words))

    @property
    def replaced_keys(self) -> tuple[str, ...]:
        """Keys of the statements that this one replaces by name: "spaces instead of tabs" of "tabs"."""
        if not self.changes or not self.over:
            return ()
        return tuple(_key(rest) for word in sorted(self.words) if (rest := self.words - {word}) & self.over)

    @property
    def opposed_keys(self) -> tuple[str, ...]:
        """Keys of the statements that say the opposite in another word: "always" and "never"."""
        pairs = [pair for one, other in _opposite_stems() for pair in ((one, other), (other, one))]
        found = [self.words - {mine} | {theirs} for mine, theirs in pairs if mine in self.words]
        always = _always_stems()
        if self.words & always:
            found.append(self.words - always)
        elif self.negated:
            found += [self.words | {word} for word in sorted(always)]
        return tuple(_key(words) for words in found if words)


def statement_keys(text: str) -> tuple[str, ...]:
    """The keys of a short text; none of a longer one."""
    return Wording.of(text).keys if len(text) <= LONGEST_STATEMENT else ()


def _tokens(text: str) -> Iterator[_Token]:
    """The language of a short text is a guess, so words mean the same in each of them."""
    stem, silent = stemmer("en"), _silent()
    for found in _TOKEN.finditer(text):
        folded = fold(found[0])
        word = folded.removesuffix("'s").removesuffix("’s")
        says = not (word in silent or folded in silent or _VALUE.search(word))
        yield _Token(found[0], folded, stem(word) if says else "")


@cache
def _opposite_stems() -> tuple[tuple[str, str], ...]:
    stem = stemmer("en")
    return tuple((stem(denying), stem(word)) for denying, word in _OPPOSITES)


@cache
def _always_stems() -> frozenset[str]:
    return frozenset(map(stemmer("en"), _ALWAYS))


@cache
def _silent() -> frozenset[str]:
    listed = (_listed(kind) for kind in ("change", "over", "negation", "copula", "empty"))
    return frozenset().union(*listed, *map(stop_words, ("en", "de", "es", "fr", "it")))


def _stems(tokens: list[_Token]) -> frozenset[str]:
    dated = {place for run in _runs(tokens) for place in range(*run)}
    return frozenset(each.stem for place, each in enumerate(tokens) if each.stem and place not in dated)


def _runs(tokens: list[_Token]) -> Iterator[tuple[int, int]]:
    """Where values stand: numbers, versions and dates; the name of a month beside a number belongs to it."""
    start = None
    for place, each in enumerate(tokens):
        beside = tokens[max(place - 1, 0) : place + 2]
        inside = each.is_value or (each.folded in MONTHS and any(other.is_value for other in beside))
        if inside and start is None:
            start = place
        elif not inside and start is not None:
            yield start, place
            start = None
    if start is not None:
        yield start, len(tokens)


def _is_label(tokens: list[_Token], start: int, copula: int) -> bool:
    """Whether a value says which thing is meant and not what is said of it: "ticket 12 is open"."""
    first = next((place for place, each in enumerate(tokens) if each.stem), start)
    joined = any(not each.stem and not each.is_value for each in tokens[first:start])
    # "…in room 12 runs Linux" goes on; "…after 3 attempts" and "…on 8080 in staging" do not.
    goes_on = copula < 0 and sum(bool(each.stem) for each in tokens[start:]) > 1
    return not joined or copula > start or goes_on


def _over(tokens: list[_Token]) -> Iterator[str]:
    for place, each in enumerate(tokens):
        if each.folded in _listed("over"):
            behind = dropwhile(lambda other: not other.stem, tokens[place + 1 :])
            yield from (other.stem for other in takewhile(lambda other: other.stem, behind))


def _key(words: frozenset[str]) -> str:
    return blake2b(" ".join(sorted(words)).encode(), digest_size=12).hexdigest()
