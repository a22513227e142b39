"""The seventeen signals: detectors that turn a scratchpad into notes."""

from treering.observe.scratchpad import Signal
from treering.observe.signals.note import Note
from treering.observe.signals.notes import notes_of
from treering.observe.signals.table import MIN_SCORE, SIGNALS, SignalSpec

__all__ = ["MIN_SCORE", "SIGNALS", "Note", "Signal", "SignalSpec", "notes_of"]
