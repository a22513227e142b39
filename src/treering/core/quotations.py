"""Notes about a record, for logs that outlive it: they may speak of it, but not repeat it."""

from itertools import groupby

_ELLIPSIS = "…"
# So many words in a row are a quotation; fewer are words that two people happen to use.
_RUN = 4


def without_quotation(note: str, text: str) -> str:
    """The note, with an ellipsis for every run of words that it takes from the text."""
    said, words = _folded(text), note.split()
    run = min(_RUN, len(said))
    known = {tuple(said[place : place + run]) for place in range(len(said) - run + 1)} if run else set()
    folded = _folded(note)
    quoted = [False] * len(words)
    for place in range(len(words) - run + 1):
        if tuple(folded[place : place + run]) in known:
            quoted[place : place + run] = [True] * run
    if not any(quoted):
        return note
    runs = groupby(zip(quoted, words, strict=True), key=lambda each: each[0])
    return " ".join(_ELLIPSIS if taken else " ".join(word for _, word in kept) for taken, kept in runs)


def _folded(text: str) -> list[str]:
    return [word.strip(".,;:!?\"'`()[]{}<>«»“”„‘’").casefold() for word in text.split()]
