"""The sentence around a cue, and what it says about an abandoned approach."""

import re

_END = re.compile(r"(?<=[.!?…])\s+|\n+")
_AROUND = 600  # characters before and after a sentence that are searched for its neighbours
_REASON = re.compile(
    r"\b(?:because|since|due to|as it|weil|da es|wegen|parce que|car|puisque|en raison de|perché|poiché|siccome"
    r"|a causa di|porque|ya que|debido a)\b\s*(.{4,300})",
    re.IGNORECASE,
)
_TRIED = re.compile(
    r"\b(?:tried|attempted|versucht|probiert|essayé|tenté|provato|tentato|intenté|intentado|probado)\b", re.IGNORECASE
)
_ALTERNATIVE = re.compile(
    r"(?:\b(?:let me|let's|i'll|i will|we'll|we can|try(?:ing)?|switch(?:ing)? to|use|using|instead|rather"
    r"|stattdessen|ich (?:versuche|nehme|verwende)|versuchen wir|probiere|à la place|plutôt|je vais|essayons|utilisons"
    r"|invece|piuttosto|proviamo|userò|provo|en su lugar|en lugar|mejor|voy a|probemos|usemos|usaré)\b)",
    re.IGNORECASE,
)


def neighbours(text: str, sentence: str) -> tuple[str, str]:
    """The sentences before and after `sentence` in the same text; empty where there is none."""
    place = text.find(sentence[:80])
    if place < 0:
        return "", ""
    end = place + len(sentence)
    before = [part for part in _END.split(text[max(0, place - _AROUND) : place].strip()) if part.strip()]
    after = [part for part in _END.split(text[end : end + _AROUND].strip(" .!?\n")) if part.strip()]
    return (before[-1].strip() if before else ""), (after[0].strip() if after else "")


def approach_in(sentence: str) -> str:
    """The sentence if it says what was tried; else empty, because it may say anything."""
    return sentence if _TRIED.search(sentence) else ""


def reason_in(*sentences: str) -> str:
    """The clause after `because` or a word like it, in the first sentence that has one."""
    found = next((match for each in sentences if (match := _REASON.search(each))), None)
    return found[1].strip(" .") if found else ""


def alternative_in(*sentences: str) -> str:
    """The first sentence that names another way."""
    return next((each for each in sentences if _ALTERNATIVE.search(each)), "")
