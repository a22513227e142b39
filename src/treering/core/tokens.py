"""Estimate of the tokens of a text without a tokenizer, which is rarely too low."""

import math
import re
from bisect import bisect
from collections.abc import Callable, Mapping

CountTokens = Callable[[str], int]
"""Counts the tokens of a text."""

_RUNS = "|".join(re.escape(sign) + "{4,}" for sign in "-=_*#.~+/─═━")
# Approximates the pre-tokenization of common tokenizers. The most frequent kind comes first.
_KINDS: Mapping[str, str] = {
    "word": r"\x20?[A-Z]?[a-z]+",
    "capitals": r"\x20?[A-Z]+(?![a-z])",
    "digits": r"[0-9]{1,3}",
    "rule": rf"\x20?(?=[-=_*#.~+/─═━]{{4}})(?:{_RUNS})",
    "marks": r"\x20?[!-/:-@\[-`{-~]+",
    "wide": r"[^\x00-\x7f]+",
    "line": r"[\r\n]+",
    "space": r"[^\S\r\n]+?(?=\x20?[!-~])|[^\S\r\n]+",
    "control": r".",
}
_PIECES = re.compile("|".join(_KINDS.values()), re.DOTALL)  # without groups `findall` returns the pieces themselves
_KIND = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()), re.DOTALL)

# Tokens of a piece: a base cost, and a cost for each character after the first.
_COSTS: Mapping[str, tuple[float, float]] = {
    "capitals": (1.25, 0.41),
    "digits": (1.28, 0.0),
    "rule": (1.0, 0.1),
    "marks": (0.72, 0.33),
    "line": (0.2, 0.9),
    "space": (0.65, 0.02),
    "control": (1.0, 0.0),
}

# Vocabularies are mostly English: words of these letter pairs are single tokens, and any other pair is a likely
# boundary between tokens.
_LETTERS = """
    ac ad al am an ar as at be ca ce ch co ct de di do ea ec ed ee el em en er es et fo ge ha he hi ho ia ic ie il
    im in io is it ke la le li ll lo ly ma me mo na nc nd ne ng ni no ns nt of ol om on oo or ot ou ow pa pe po
    pr ra re ri ro rs rt se sh si so st ta te th ti to tr un ur us ut ve wa we wi yo
"""
_SMOOTH = frozenset(_LETTERS.split())
_WORD, _LONG, _BOUNDARY, _SHORT = 0.67, 0.08, 0.53, 3
"""Cost of a word, of each letter after the third, of each boundary; letters without extra cost."""

# Cost of a character, from this code point on.
_BLOCKS: tuple[tuple[int, float], ...] = (
    (0x80, 1.3),  # signs of Latin-1
    (0xC0, 0.85),  # é, ß
    (0x100, 1.15),  # ł, ğ
    (0x250, 2.0),
    (0x370, 0.95),  # Greek
    (0x400, 3.0),  # і, ї: what Russian does not use
    (0x410, 0.45),  # Cyrillic
    (0x450, 3.0),
    (0x530, 2.0),  # Armenian, Hebrew
    (0x600, 0.75),  # Arabic, Persian
    (0x700, 3.0),
    (0x900, 1.15),  # Devanagari
    (0x980, 1.4),  # Bengali
    (0xA00, 2.2),  # Gujarati and neighbours
    (0xB80, 1.5),  # Tamil
    (0xC00, 2.0),  # Telugu, Malayalam
    (0xE00, 1.0),  # Thai
    (0xE80, 2.15),  # Lao
    (0xF00, 3.0),
    (0x2000, 1.0),  # dashes and quotation marks
    (0x2070, 1.9),  # arrows, boxes, signs
    (0x3000, 1.0),  # 。、
    (0x3040, 0.9),  # Kana
    (0x3100, 1.5),  # Han
    (0xA000, 3.0),
    (0xAC00, 1.15),  # Hangul
    (0xD7B0, 3.0),
    (0xFF00, 1.2),  # full width
    (0x10000, 3.15),  # emoji
)
_STARTS = tuple(start for start, _ in _BLOCKS)

_MAX_KEPT_PIECES, _MAX_KEPT_CHARACTERS = 8_192, 24
"""Pieces whose cost is kept. Nearly all words are shorter; a text in Chinese is a single long piece."""

_MARGIN = 0.45
"""Safety margin per square root of the bytes: short texts deviate more from the average."""


def estimate_tokens(text: str) -> int:
    """Estimated number of tokens of `text`, rarely below that of a tokenizer. Deterministic.

    Fitted to 23,250 pieces of text in 35 languages, code, JSON, logs, base64 and emoji, and measured on as many other
    pieces of the same sources (7 to 3,000 characters), against the larger count of `o200k_base` and `cl100k_base`:
    too low for 0.30 % of them, at worst by 15 %; too high by 22 % on average, and by 15 % in sum for texts above 200
    tokens. On ten sources it had not seen, mostly English and code: too low for 0.20 %, at worst by 6 %; too high by
    32 % on average and 24 % in sum. Against `o200k_base` alone it is too high by 64 %, because that vocabulary is
    efficient for non-Latin scripts. Use the real tokenizer where the exact number matters.
    """
    cost = sum(map(_costs.__getitem__, _PIECES.findall(text)))
    return math.ceil(cost + _MARGIN * math.sqrt(len(text.encode("utf-8", "surrogatepass"))))


def _cost_of(text: str) -> float:
    """Tokens of a piece. Its text decides its kind, wherever it occurs."""
    found = _KIND.match(text)
    kind = (found and found.lastgroup) or "control"
    if kind == "word":
        return _word(text.lstrip().lower())
    if kind == "wide":
        return sum(_BLOCKS[bisect(_STARTS, ord(character)) - 1][1] for character in text)
    first, more = _COSTS[kind]
    return first + more * (len(text.lstrip(" ") or text) - 1)


def _word(word: str) -> float:
    seams = sum(word[place : place + 2] not in _SMOOTH for place in range(len(word) - 1))
    return _WORD + _LONG * max(0, len(word) - _SHORT) + _BOUNDARY * seams


class _PieceCosts(dict[str, float]):
    """Tokens of pieces, those of short pieces kept: most words of a text occurred before."""

    def __missing__(self, piece: str) -> float:
        cost = _cost_of(piece)
        if len(piece) <= _MAX_KEPT_CHARACTERS:
            if len(self) >= _MAX_KEPT_PIECES:
                self.clear()
            self[piece] = cost
        return cost


_costs = _PieceCosts()
