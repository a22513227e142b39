"""Cues in reasoning and prompts, with the files that they are about."""

import re

from treering.observe.cues import CueKind, CueMatch, cues_in
from treering.observe.scratchpad.activity import Activity
from treering.observe.scratchpad.entries import KeptCue
from treering.observe.scratchpad.kept_text import kept_text
from treering.observe.scratchpad.recent import Did, RecentHistory
from treering.observe.scratchpad.sentences import alternative_in, approach_in, neighbours, reason_in

DEAD_ENDS = frozenset({CueKind.ABANDONED_APPROACH, CueKind.ENVIRONMENT_UNAVAILABLE})
CUE_STEPS = 5  # a file edited this soon after a cue belongs to it
_MAX_READ = 8_000  # characters of one text
_MAX_FILES = 4
_MAX_KEY = 160
_WORD = re.compile(r"\w+")


def record_cues(activity: Activity, recent: RecentHistory, text: str, *, by_user: bool) -> tuple[KeptCue, ...]:
    """Keep the cues of a text; returns those that are new."""
    read = text if len(text) <= _MAX_READ else f"{text[: _MAX_READ // 2]}\n{text[-_MAX_READ // 2 :]}"
    matches = cues_in(read, by_user=by_user)
    return tuple(cue for match in matches[:8] if (cue := _keep(activity, recent, read, match, by_user)))


def record_edit_after_cue(activity: Activity, recent: RecentHistory, path: str) -> None:
    for key, step in recent.cues:
        cue = activity.cues.get(key)
        if cue and activity.step - step <= CUE_STEPS and path not in cue.files and len(cue.files) < _MAX_FILES:
            cue.files = (*cue.files, path)
            cue.last_step = activity.step


def _keep(activity: Activity, recent: RecentHistory, text: str, match: CueMatch, by_user: bool) -> KeptCue | None:
    sentence = kept_text(match.sentence)
    words = " ".join(_WORD.findall(sentence.lower()))[:_MAX_KEY]
    if not words:
        return None
    key = f"{match.kind.value}: {words}"
    cue: KeptCue = activity.entry("cues", key)
    cue.count += 1
    cue.last_step = activity.step
    if match.kind is not CueKind.EXPLICIT_RULE:
        recent.cues.append((key, activity.step))
    if not by_user:
        recent.note(activity.step, Did.CORRECTED, match.kind.value)
    if cue.count > 1:
        return None
    cue.kind, cue.sentence, cue.phrase = match.kind.value, sentence, kept_text(match.phrase, 80)
    cue.by_user, cue.first_step = by_user, activity.step
    if match.kind is not CueKind.EXPLICIT_RULE:
        cue.files = tuple(dict.fromkeys(each.path for each in reversed(recent.touches)))[:2]
    if match.kind in DEAD_ENDS:
        before, after = (kept_text(each) for each in neighbours(text, match.sentence))
        cue.approach = approach_in(before)
        cue.reason = reason_in(sentence, before, after)
        cue.alternative = alternative_in(after, sentence)
    return cue
