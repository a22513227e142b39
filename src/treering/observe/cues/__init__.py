"""Cues in an agent's text and in prompts: corrections, abandoned approaches, rules, a limited environment."""

from treering.observe.cues.detection import CueKind, CueMatch, cues_in

__all__ = ["CueKind", "CueMatch", "cues_in"]
