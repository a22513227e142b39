"""Signals of searches and listings."""

import re
from collections.abc import Iterator

from treering.observe.scratchpad import Activity
from treering.observe.signals.note import SignalFinding

REPEATED = 3
_MIN_EMPTY = 2
_MIN_RESULTS = 5
_MANY_RESULTS = 30
_TELLING = re.compile(r"[^\W\d_]{3}")


def repeated_grep(activity: Activity) -> Iterator[SignalFinding]:
    """Patterns searched three times, or twice in vain: where the answer is was hard to find."""
    for pattern, use in activity.searches.items():
        if (use.count >= REPEATED or use.empty >= _MIN_EMPTY) and _TELLING.search(pattern):
            data = {"pattern": pattern, "count": use.count, "empty": use.empty, "answers": list(use.answers)}
            yield SignalFinding(pattern, data, use.answers, use.last_step, use.count + 2 * bool(use.answers))


def glob_ignore(activity: Activity) -> Iterator[SignalFinding]:
    """Listings whose results were never used."""
    for pattern, use in activity.listings.items():
        enough = use.ignored > 1 or use.results >= _MANY_RESULTS
        if use.ignored and not use.used and use.results >= _MIN_RESULTS and enough:
            data = {"pattern": pattern, "count": use.count, "ignored": use.ignored, "results": use.results}
            yield SignalFinding(pattern, data, (), use.last_step, use.ignored * use.results)
