"""Signals of what was said: corrections, rules of the user, abandoned approaches."""

from collections.abc import Iterator

from treering.observe.cues import CueKind
from treering.observe.scratchpad import Activity
from treering.observe.signals.note import SignalFinding

_WEIGHTS = {
    CueKind.EXPLICIT_RULE: 5.0,
    CueKind.USER_CORRECTION: 4.0,
    CueKind.ABANDONED_APPROACH: 3.0,
    CueKind.ENVIRONMENT_UNAVAILABLE: 3.0,
    CueKind.SELF_CORRECTION: 2.0,
}
_DEAD_ENDS = frozenset({CueKind.ABANDONED_APPROACH, CueKind.ENVIRONMENT_UNAVAILABLE})


def self_correction(activity: Activity) -> Iterator[SignalFinding]:
    """Sentences with a cue, each once. Those about a failed approach have `dead_end`, with what is said around them."""
    strongest = dict[str, float]()
    for cue in activity.cues.values():
        strongest[cue.sentence] = max(strongest.get(cue.sentence, 0.0), _WEIGHTS[CueKind(cue.kind)])
    for key, cue in activity.cues.items():
        kind = CueKind(cue.kind)
        if _WEIGHTS[kind] < strongest[cue.sentence]:
            continue
        data: dict[str, object] = {
            "cue": cue.kind,
            "sentence": cue.sentence,
            "phrase": cue.phrase,
            "by_user": cue.by_user,
            "count": cue.count,
        }
        if kind in _DEAD_ENDS:
            found = {"approach": cue.approach, "reason": cue.reason, "alternative": cue.alternative}
            data |= {"dead_end": True, **{name: text for name, text in found.items() if text}}
        yield SignalFinding(key, data, cue.files, cue.last_step, _WEIGHTS[kind] + min(cue.count, 5) / 10)
