"""Cues in an agent's text and in prompts: corrections, abandoned approaches, rules, a limited environment."""

from treering.observe.cues.detection import CueMatch, cues_in
from treering.observe.cues.kinds import CueKind

__all__ = ["CueKind", "CueMatch", "cues_in"]
