"""Words, values and wording of a short statement, for comparing statements."""

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
from treering.core.language.memo import Memo
from treering.core.language.stems import language_of, stemmer, stop_words

MAX_STATEMENT = 300
"""Characters; a longer text is not a single statement."""

_TOKEN = re.compile(r"[^\W_][\w./'’+#@-]*[^\W_]|[^\W_]|:(?=\s)|=")
_VALUE = re.compile(r"\d")
_OPPOSITES = (
    ("disabled", "enabled"),
    ("deactivated", "activated"),
    ("deaktiviert", "aktiviert"),
    ("disallowed", "allowed"),
    ("forbidden", "allowed"),
)
"""Words and their opposites."""
_ALWAYS = ("always", "toujours", "siempre", "sempre")
"""Words that a negation such as "never" replaces."""


@cache
def _listed(kind: str) -> frozenset[str]:
    lines = (Path(__file__).parent / "language" / "change_words.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines for name, *words in [line.split()] if name == kind for word in words)


@dataclass(frozen=True, slots=True)
class _WordToken:
    """A word of the text. `stem` is empty for words without content."""

    text: str
    folded: str
    stem: str
    is_value: bool


@dataclass(frozen=True, slots=True)
class Wording:
    """Content of a statement: `words` without values, change words and negations; `values` in order.

    `before` are the words before the last "is" and `after` those that follow it; `names` says whether `after` is a
    name. `over` are the words after "from", "instead of" and the like. `labels` says which values identify the subject.
    """

    words: frozenset[str]
    values: tuple[str, ...]
    labels: tuple[bool, ...]
    before: frozenset[str]
    after: frozenset[str]
    names: bool
    over: frozenset[str]
    changes: bool
    negated: bool

    @classmethod
    def of(cls, text: str) -> Self:
        tokens = _tokens(text)
        copula = _last_copula(tokens)
        following = tokens[copula + 1 :] if copula >= 0 else []
        after = [each for each in following if each.stem or each.is_value]
        runs = list(_runs(tokens))
        capitals = bool(after) and all(each.text[0].isupper() for each in after)
        return cls(
            words=_stems(tokens),
            values=tuple(" ".join(each.folded for each in tokens[slice(*run)]) for run in runs),
            labels=tuple(_is_label(tokens, run[0], copula) for run in runs),
            before=_stems(tokens[:copula]) if copula >= 0 else frozenset(),
            after=_stems(after),
            # German capitalises every noun.
            names=capitals and not any(each.is_value for each in after) and language_of(text) != "de",
            over=frozenset(_over(tokens)),
            changes=any(each.folded in _listed("change") for each in tokens),
            negated=any(each.folded in _listed("negation") for each in tokens),
        )

    @property
    def asserted(self) -> frozenset[str]:
        """The words without "always" and with opposites replaced: "cache enabled" for "cache disabled"."""
        opposites = dict(_opposite_stems())
        return frozenset(opposites.get(word, word) for word in self.words) - _always_stems()

    @property
    def denies(self) -> bool:
        """Whether the statement negates `asserted`; "not disabled" does not."""
        return self.negated != any(denying in self.words for denying, _ in _opposite_stems())

    @property
    def keys(self) -> tuple[str, ...]:
        """Search keys: statements that may contradict each other share one of them."""
        return _keys(self.words, self.before)

    @property
    def replaced_keys(self) -> tuple[str, ...]:
        """Keys of the statements that this one replaces by name: "tabs" for "spaces instead of tabs"."""
        if not self.changes or not self.over:
            return ()
        return tuple(_key(rest) for word in sorted(self.words) if (rest := self.words - {word}) & self.over)

    @property
    def opposed_keys(self) -> tuple[str, ...]:
        """Keys of statements with the opposite word, such as "always" and "never"."""
        pairs = [pair for one, other in _opposite_stems() for pair in ((one, other), (other, one))]
        found = [self.words - {mine} | {theirs} for mine, theirs in pairs if mine in self.words]
        always = _always_stems()
        if self.words & always:
            found.append(self.words - always)
        elif self.negated:
            found += [self.words | {word} for word in sorted(always)]
        return tuple(_key(words) for words in found if words)


def statement_keys(text: str) -> tuple[str, ...]:
    """The `keys` of a short text; none for a longer one."""
    if len(text) > MAX_STATEMENT:
        return ()
    tokens = _tokens(text)
    copula = _last_copula(tokens)
    return _keys(_stems(tokens), _stems(tokens[:copula]) if copula >= 0 else frozenset())


def _keys(words: frozenset[str], before: frozenset[str]) -> tuple[str, ...]:
    about = (words, before) if before else (words,)
    return tuple(dict.fromkeys(_key(each) for each in about if each))


def _tokens(text: str) -> list[_WordToken]:
    return [_TOKENS[found] for found in _TOKEN.findall(text)]


def _token(text: str) -> _WordToken:
    """Word lists of all languages apply, because the language of a short text is uncertain."""
    empty_words, folded = _empty_words(), fold(text)
    word = folded.removesuffix("'s").removesuffix("’s")
    says = not (word in empty_words or folded in empty_words or _VALUE.search(word))
    return _WordToken(text, folded, stemmer("en")(word) if says else "", _VALUE.search(text) is not None)


_TOKENS = Memo(_token)


def _last_copula(tokens: list[_WordToken]) -> int:
    """Position of the last "is"; −1 if there is none."""
    copulas = _listed("copula")
    return next((at for at in range(len(tokens) - 1, -1, -1) if tokens[at].folded in copulas), -1)


@cache
def _opposite_stems() -> tuple[tuple[str, str], ...]:
    stem = stemmer("en")
    return tuple((stem(denying), stem(word)) for denying, word in _OPPOSITES)


@cache
def _always_stems() -> frozenset[str]:
    return frozenset(map(stemmer("en"), _ALWAYS))


@cache
def _empty_words() -> frozenset[str]:
    listed = (_listed(kind) for kind in ("change", "over", "negation", "copula", "empty"))
    return frozenset().union(*listed, *map(stop_words, ("en", "de", "es", "fr", "it")))


def _stems(tokens: list[_WordToken]) -> frozenset[str]:
    dated = {position for run in _runs(tokens) for position in range(*run)}
    return frozenset(each.stem for position, each in enumerate(tokens) if each.stem and position not in dated)


def _runs(tokens: list[_WordToken]) -> Iterator[tuple[int, int]]:
    """Start and end of each value: numbers, versions and dates, including the month next to a number."""
    if not any(each.is_value for each in tokens):
        return
    start = None
    for position, each in enumerate(tokens):
        beside = tokens[max(position - 1, 0) : position + 2]
        inside = each.is_value or (each.folded in MONTHS and any(other.is_value for other in beside))
        if inside and start is None:
            start = position
        elif not inside and start is not None:
            yield start, position
            start = None
    if start is not None:
        yield start, len(tokens)


def _is_label(tokens: list[_WordToken], start: int, copula: int) -> bool:
    """Whether a value identifies the subject rather than describing it: "ticket 12 is open"."""
    first = next((position for position, each in enumerate(tokens) if each.stem), start)
    joined = any(not each.stem and not each.is_value for each in tokens[first:start])
    # "…in room 12 runs Linux" continues; "…after 3 attempts" and "…on 8080 in staging" do not.
    continues = copula < 0 and sum(bool(each.stem) for each in tokens[start:]) > 1
    return not joined or copula > start or continues


def _over(tokens: list[_WordToken]) -> Iterator[str]:
    for position, each in enumerate(tokens):
        if each.folded in _listed("over"):
            following = dropwhile(lambda other: not other.stem, tokens[position + 1 :])
            yield from (other.stem for other in takewhile(lambda other: other.stem, following))


def _key(words: frozenset[str]) -> str:
    return blake2b(" ".join(sorted(words)).encode(), digest_size=12).hexdigest()
