"""Removal of quotations from notes in logs, which outlive the record."""

from itertools import groupby

_ELLIPSIS = "…"
# Words in a row that make a quotation; fewer may coincide by chance.
_MIN_QUOTED_WORDS = 4


def without_quotation(note: str, text: str) -> str:
    """The note with an ellipsis for every run of words taken from the text."""
    text_words, words = _folded(text), note.split()
    run = min(_MIN_QUOTED_WORDS, len(text_words))
    known = {tuple(text_words[place : place + run]) for place in range(len(text_words) - run + 1)} if run else set()
    folded = _folded(note)
    quoted = [False] * len(words)
    for place in range(len(words) - run + 1):
        if tuple(folded[place : place + run]) in known:
            quoted[place : place + run] = [True] * run
    if not any(quoted):
        return note
    runs = groupby(zip(quoted, words, strict=True), key=lambda each: each[0])
    return " ".join(_ELLIPSIS if taken else " ".join(word for _, word in group) for taken, group in runs)


def _folded(text: str) -> list[str]:
    return [word.strip(".,;:!?\"'`()[]{}<>«»“”„‘’").casefold() for word in text.split()]
