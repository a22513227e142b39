"""Outside content: what it was used for, and which results bring it without saying so."""

import re

from treering.observe.scratchpad.activity import Activity
from treering.observe.scratchpad.recent import RecentHistory

SOURCE_STEPS = 10  # a file edited this soon after outside content may use it
UNSEEN_CALL = "unknown: result of a call that was not seen"
SUBAGENT = "subagent"
_MAX_FILES = 5
_ADDRESS = re.compile(r"https?://(?!localhost\b|127\.|0\.0\.0\.0|\[::1)", re.IGNORECASE)
_READ = 200_000


def record_source(activity: Activity, recent: RecentHistory, label: str) -> None:
    source = activity.entry("sources", label)
    source.count += 1
    source.first_step = source.first_step or activity.step
    source.last_step = activity.step
    recent.sources.append((label, activity.step))


def record_edit_after_source(activity: Activity, recent: RecentHistory, path: str) -> None:
    for label, step in recent.sources:
        source = activity.sources.get(label)
        if source and activity.step - step <= SOURCE_STEPS and path not in source.files[: _MAX_FILES - 1]:
            source.files = (*source.files[: _MAX_FILES - 1], path)
            source.last_step = activity.step


def cites_outside(text: str) -> bool:
    """Whether a subagent's report names an address outside this machine, so that it probably read there."""
    return _ADDRESS.search(text[:_READ]) is not None
