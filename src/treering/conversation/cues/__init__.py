"""What a message is, seen from its words: instruction, correction, error, small talk, task boundary, reference back."""

from treering.conversation.cues.detection import MessageCues, cues_of

__all__ = ["MessageCues", "cues_of"]
