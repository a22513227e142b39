"""Keeps the counts with the repository: whole once, then what is new; a rewritten history is counted anew."""

from collections.abc import Callable
from dataclasses import dataclass, field

from treering.index.history.counts import CoChange
from treering.ports.commits import Commit, CommitHistory


@dataclass(frozen=True, slots=True)
class Followed:
    """What an update did."""

    commits: int
    anew: bool
    """Everything was counted again: for the first time, or because the history is no longer what was counted."""


@dataclass(slots=True)
class Follower:
    """Counts, and the last commit of each branch that is in them."""

    fresh: Callable[[], CoChange]
    counts: CoChange = field(init=False)
    seen: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.counts = self.fresh()

    def update(self, history: CommitHistory, report: Callable[[int], None] = lambda _: None) -> Followed:
        """Count what is new on the branch that is checked out; `report` is told how many commits were read.

        Where reading fails nothing is changed.
        """
        branch, head = history.head()
        last = self.seen.get(branch)
        if last == head:
            return Followed(0, anew=False)
        anew = not self.seen or (last is not None and not history.leads_to(last, head))
        new: list[Commit] = []
        with history.commits(head, () if anew else tuple(dict.fromkeys(self.seen.values()))) as commits:
            for commit in commits:
                new.append(commit)
                report(len(new))
        if anew:
            self.counts, self.seen = self.fresh(), {}
        self.counts.add_all(new)
        self.seen[branch] = head
        return Followed(len(new), anew)
