"""Updates counts from the repository: all commits once, then new ones; a rewritten history is counted again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.code.history.counts import CoChange
    from treering.ports.commits import CommitHistory

Report = Callable[[int], object]
"""Called with the number of commits read."""


def ignore_report(_read: int) -> None:
    """Default report callback."""


@dataclass(frozen=True, slots=True)
class CountedHistory:
    """Commits counted so far, and a loader for the counts, which are needed only if there are new commits."""

    seen: Mapping[str, str]
    """The last counted commit of each branch."""
    counts: Callable[[], CoChange]
    """The caller owns the counts it loads; after a failed update they must be discarded."""


@dataclass(frozen=True, slots=True)
class HistoryUpdate:
    """Result of an update."""

    counts: CoChange
    seen: Mapping[str, str]
    commits: int
    recounted: bool
    """Whether everything was counted again: the first time, or because the history was rewritten."""


def count_new_commits(
    history: CommitHistory,
    counted: CountedHistory | None,
    fresh: Callable[[], CoChange],
    report: Report = ignore_report,
) -> HistoryUpdate | None:
    """Count new commits of the current branch; None if there are none. Nothing is changed if reading fails.

    Counted commits of other branches stay counted.
    """
    branch, head = history.head()
    seen = {} if counted is None else dict(counted.seen)
    last = seen.get(branch)
    if last == head:
        return None
    known = tuple(dict.fromkeys(seen.values()))
    recounted = counted is None or not known or (last is not None and not history.leads_to(last, head))
    counts = fresh() if recounted or counted is None else counted.counts()
    read = 0
    with history.commits(head, () if recounted else known) as commits:
        for commit in commits:
            counts.add(commit)
            read += 1
            report(read)
    return HistoryUpdate(counts, {**({} if recounted else seen), branch: head}, read, recounted)
