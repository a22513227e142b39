"""The notation of the phrase files: plain words and a few symbols.

| written | means |
| --- | --- |
| `make sure` | these words in a row; case, accents, commas and quotes between them do not matter |
| `don't` | the apostrophe may be missing |
| `never\\|always use` | one of these words |
| `[please] keep` | a word that may be missing; not the first |
| `modif*`, `~error` | any ending, or none; any beginning, but not none |
| `_` | any one word |
| `..`, `...` | up to 3, up to 8 words, in the same sentence |
| `#` | a digit |
| `error:` | a colon must follow; likewise `,` `!` `(` and `]` |
| `^ stop` | first in its sentence, except for words of the list `leads` |
| `all done $` | a comma or the end of the sentence must follow |
| `{verb}` | one of the words of the list `words.verb` |

Expressions are bounded: a phrase reads at most a few dozen words of any text.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from treering.core.language.folding import fold
from treering.core.language.stems import stop_words

LANGUAGES = ("en", "fr", "it", "de", "es")
_GAP = r"[^\w.!?;:\n]{1,6}+"
_ANY_WORD = r"[^\s.!?;:,]++(?:[.:][^\s.!?;:,]++)*+"
_JUMPS = {"..": 3, "...": 8}
_CLAUSE_END = r"(?=[^\w,.!?;:\n]*+(?:[,.!?;:\n]|\Z))"
_MARKS = ",:!(]"
_LIST = re.compile(r"\{(\w+)\}")
_APOSTROPHE_END = re.compile(r"'(?=\*)")
_PIECE = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Phrase:
    """One parsed phrase; `text` is its source."""

    text: str
    expression: str
    """Begins with the first word, not with a lookbehind, so that `re` can search for a literal."""
    keys: frozenset[str]
    """A matching text contains one of these words; empty if the phrase has no whole word."""
    others: tuple[frozenset[str], ...]
    """A matching text also contains one of each of these sets."""
    inside: str
    """Characters that a matching text contains, if there are no `keys`."""
    first: bool
    """Whether it must begin its sentence."""
    whole: bool
    """Whether the match begins at a word boundary; if not, inside a word."""


def phrase(text: str, lists: Mapping[str, Iterable[str]]) -> Phrase:
    """Parse a phrase. Raises `ValueError` if it is not in the notation."""
    tokens = _tokens(text, lists)
    first = tokens[0] == "^"
    tokens = tokens[1:] if first else tokens
    if not tokens or tokens[0] in _JUMPS or tokens[0][0] in "[_$":
        raise ValueError(f"{text!r} must begin with a word, optionally preceded by `^`")
    whole = not tokens[0].startswith("~")
    keys, *others = _slots(tokens) or [frozenset()]
    inside = "" if keys else max(re.findall(r"[^\W\d]+", tokens[0]), key=len)
    lead = [tokens[0].removeprefix("~"), *tokens[1:]]
    return Phrase(text, _expression(lead), keys, tuple(others), inside, first, whole)


def within_sentence(phrases: Iterable[str], lists: Mapping[str, Iterable[str]]) -> str:
    """Any of the phrases as a regular expression for a single folded sentence; '' if there are none."""
    parsed = [_tokens(text, lists) for text in phrases]
    first = [_expression(tokens[1:]) for tokens in parsed if tokens[0] == "^"]
    others = [_expression(tokens) for tokens in parsed if tokens[0] != "^"]
    starts = ((r"\A\W*+", first), (r"(?<!\w)", others))
    return "|".join(f"{start}(?:{'|'.join(each)})" for start, each in starts if each)


def _tokens(text: str, lists: Mapping[str, Iterable[str]]) -> list[str]:
    spread = _LIST.sub(lambda found: "|".join(lists[found[1]]), text)
    return fold(spread).split()


def _expression(tokens: list[str]) -> str:
    """Words separated by gaps; an optional token includes its own gap."""
    parts: list[str] = []
    open_gap = False
    for token in tokens:
        if token == "$":
            parts.append(_CLAUSE_END)
        elif token in _JUMPS:
            parts.append(f"(?:{_GAP}{_ANY_WORD}){{0,{_JUMPS[token]}}}?")
        elif token.startswith("["):
            parts.append(f"(?:{_GAP}{_word(token[1:-1])})?")
        else:
            parts.append((_GAP if open_gap else "") + _word(token))
            open_gap = token[-1] not in "(]!"
            if not open_gap:
                parts.append(r"\W{0,3}")
    return "".join(parts)


def _word(token: str) -> str:
    if token == "_":
        return _ANY_WORD
    mark = token[-1] if token[-1] in _MARKS else ""
    choices = "|".join(_one(choice) for choice in (token[:-1] if mark else token).split("|"))
    return f"(?:{choices})" + (rf"\s?{re.escape(mark)}" if mark else r"(?!\w)")


def _one(word: str) -> str:
    escaped = re.escape(_APOSTROPHE_END.sub("\0", word)).replace(r"\~", "~").replace(r"\*", r"\w*+")
    escaped = escaped.replace(r"\#", r"\d").replace("'", "(?:'|[ ])?").replace(re.escape("\0"), "'[ ]?")
    return escaped.replace("~", r"\w{1,40}")


def _slots(tokens: list[str]) -> list[frozenset[str]]:
    """The alternatives of each required word, most selective (rare, long, few) first."""
    slots = [_choices(token) for token in tokens if token[0] not in "[$_^" and token not in _JUMPS]
    telling = [slot for slot in slots if slot]
    return sorted(telling, key=lambda slot: (not slot.isdisjoint(_common()), -min(map(len, slot)), len(slot)))


@cache
def _common() -> frozenset[str]:
    return frozenset().union(*map(stop_words, LANGUAGES))


def _choices(token: str) -> frozenset[str]:
    choices = token.rstrip(_MARKS).split("|")
    if any(sign in choice for choice in choices for sign in "*~#"):
        return frozenset()
    found: set[str] = set()
    for choice in choices:
        pieces = _PIECE.findall(choice)
        found |= {max(pieces, key=len), "".join(pieces)} if pieces else set()
    return frozenset(found)
