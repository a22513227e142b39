"""Keeps the counts with the repository: whole once, then what is new; a rewritten history is counted anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.code.history.counts import CoChange
    from treering.ports.commits import CommitHistory

Report = Callable[[int], object]
"""Is told how many commits were read."""


def nobody(_read: int) -> None:
    """Told by who does not ask."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Up to where commits are counted, and how to get at the counts: nobody loads them to hear that nothing is new."""

    seen: Mapping[str, str]
    """The last commit of each branch."""
    counts: Callable[[], CoChange]
    """Whoever adds to them owns them: after a failure they are used no more."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What an update came to."""

    counts: CoChange
    seen: Mapping[str, str]
    commits: int
    anew: bool
    """Everything was counted again: for the first time, or because the history is no longer what was counted."""


def follow(
    history: CommitHistory, standing: Standing | None, fresh: Callable[[], CoChange], report: Report = nobody
) -> Followed | None:
    """Count what is new on the branch that is checked out; None where nothing is. Where reading fails, nothing is done.

    Commits of other branches that were counted stay so.
    """
    branch, head = history.head()
    seen = {} if standing is None else dict(standing.seen)
    last = seen.get(branch)
    if last == head:
        return None
    known = tuple(dict.fromkeys(seen.values()))
    anew = standing is None or not known or (last is not None and not history.leads_to(last, head))
    counts = fresh() if anew or standing is None else standing.counts()
    read = 0
    with history.commits(head, () if anew else known) as commits:
        for commit in commits:
            counts.add(commit)
            read += 1
            report(read)
    return Followed(counts, {**({} if anew else seen), branch: head}, read, anew)
