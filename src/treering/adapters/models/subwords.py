"""Tokens of a short text, exactly as the `tokenizers` package makes them, but loaded in a fraction of its time.

The bundled model has byte-pair tokens. Its rules list every way to join two tokens into a third one, in an order that
follows from the ids of the tokens, so that the vocabulary is enough. No token continues after a space: each word can be
split on its own, and common words are remembered. `tests/unit/test_subwords.py` proves both on the rules themselves.
"""

from __future__ import annotations

import json
import re
from heapq import heapify, heappop, heappush

from treering.core.language.memo import Memo

MAX_CHARACTERS = 1_000
"""Longer texts are left to the `tokenizers` package, which splits them faster."""
_SPACE = "▁"  # what the model has in place of a space, and before the first word
_WORD = re.compile(f"{_SPACE}*[^{_SPACE}]+|{_SPACE}+")
_SPECIAL = re.compile("<unk>|</?s>")

_Join = tuple[bool, int, int, int, str]
"""Two adjacent tokens that form another one: the key of their order, the place of the first, and their text."""


class Subwords:
    """The vocabulary in the rules of a tokenizer. Thread-safe."""

    def __init__(self, rules: bytes) -> None:
        start = rules.index(b"{", rules.index(b'"vocab"'))
        end = rules.rindex(b"}", start, rules.index(b'"merges"', start)) + 1
        self._ids: dict[str, int] = json.loads(rules[start:end])
        self._known_words = Memo(self._tokens_of_word)

    def tokens(self, text: str) -> list[int] | None:
        """Ids of the tokens of a text; None if it is long or contains a special token."""
        if len(text) > MAX_CHARACTERS or _SPECIAL.search(text):
            return None
        words = _WORD.findall(_SPACE + text.replace(" ", _SPACE)) if text else ()
        return [token for word in words for token in self._known_words[word]]

    def _tokens_of_word(self, word: str) -> tuple[int, ...]:
        """Join adjacent tokens, the most common first, until none can be joined."""
        texts = [text for letter in word for text in self._texts_of_letter(letter)]
        count = len(texts)
        before, after = list(range(-1, count - 1)), list(range(1, count + 1))
        joins = [join for place in range(count - 1) if (join := self._join(texts, place, place + 1)) is not None]
        heapify(joins)
        while joins:
            *_, place, joined = heappop(joins)
            following = after[place]
            if not texts[place] or following == count or texts[place] + texts[following] != joined:
                continue
            texts[place], texts[following] = joined, ""
            after[place] = after[following]
            if after[place] < count:
                before[after[place]] = place
            for left in (before[place], place):
                if left >= 0 and after[left] < count and (join := self._join(texts, left, after[left])) is not None:
                    heappush(joins, join)
        return tuple(self._ids[text] for text in texts if text)

    def _texts_of_letter(self, letter: str) -> tuple[str, ...]:
        """The letter, or a token for each of its bytes if it is not in the vocabulary."""
        return (letter,) if letter in self._ids else tuple(f"<0x{byte:02X}>" for byte in letter.encode())

    def _join(self, texts: list[str], place: int, following: int) -> _Join | None:
        joined = texts[place] + texts[following]
        token = self._ids.get(joined)
        if token is None:
            return None
        # Runs of spaces have low ids, but are joined last.
        return not joined.strip(_SPACE), token, self._ids[texts[place]], place, joined
