"""Cues in the words of a message: instruction, correction, error, small talk, task boundary, back-reference."""

from treering.conversation.cues.detection import MessageCues, cues_of

__all__ = ["MessageCues", "cues_of"]
