"""What a message is, seen from its words: instruction, correction, error, small talk, task boundary, reference back."""

from treering.conversation.cues.detection import Cues, cues_of

__all__ = ["Cues", "cues_of"]
