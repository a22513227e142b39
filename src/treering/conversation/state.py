"""Small changes to what is kept of a window, and small questions about it."""

from collections.abc import Iterable, Sequence

from treering.core.contexts import RemovedRun, WindowRules
from treering.core.errors import InvalidInput


def checked(rules: WindowRules) -> WindowRules:
    """Rules that can be followed."""
    if rules.max_tokens > rules.limit:
        raise InvalidInput(
            f"max_tokens is {rules.max_tokens:,}, but {rules.model} takes {rules.limit:,}; ask for fewer"
        )
    return rules


def without(ids: Sequence[str], id: str) -> tuple[str, ...]:
    return tuple(each for each in ids if each != id)


def seqs_out(removed: Iterable[RemovedRun], seqs: Sequence[int]) -> set[int]:
    """Which of the places left, by one walk over both; `seqs` are in order, and so are the runs."""
    out, runs = set[int](), iter(sorted(removed, key=lambda run: run.first))
    run = next(runs, None)
    for seq in seqs:
        while run is not None and run.last < seq:
            run = next(runs, None)
        if run is None:
            break
        if run.first <= seq:
            out.add(seq)
    return out
