"""Early notices, for use in the session that they come from."""

from dataclasses import dataclass

from treering.observe.scratchpad.activity import Activity
from treering.observe.scratchpad.signal_names import Signal

PRIORITIES = {
    Signal.SELF_CORRECTION: 0.9,
    Signal.REPEATED_GREP: 0.8,
    Signal.ERROR_RETRY: 0.75,
    Signal.CONFIG_TOUCH: 0.7,
}
REPEATED_SEARCHES = 3
DISTINCT_ERRORS = 2
FILES_EDITED_WITH_CONFIG = 2


@dataclass(frozen=True, slots=True)
class Alert:
    """Something worth a search in memory now. `taint` names the source of outside content that came before it."""

    signal: Signal
    priority: float
    text: str
    files: tuple[str, ...]
    step: int
    taint: str | None


def search_alert(activity: Activity, pattern: str) -> tuple[str, tuple[str, ...]] | None:
    use = activity.searches.get(pattern)
    if use is None or use.count < REPEATED_SEARCHES:
        return None
    return f"searched {use.count} times for {pattern}", ()


def error_alert(activity: Activity) -> tuple[str, tuple[str, ...]] | None:
    last = [each for each in activity.errors.values() if not each.minor][-DISTINCT_ERRORS:]
    if len(last) < DISTINCT_ERRORS:
        return None
    return "; ".join(error.summary for error in last), last[-1].files


def config_alert(activity: Activity) -> tuple[str, tuple[str, ...]] | None:
    if not activity.configs or activity.edited_files < FILES_EDITED_WITH_CONFIG:
        return None
    path, use = next(reversed(activity.configs.items()))
    return f"{path} edited together with other files", (path, *use.paired)[:4]
