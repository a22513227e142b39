"""Failures of tool calls: their fingerprints, what a colleague would quote of them, and how they were resolved."""

from treering.observe.errors.detection import Failure, failure_of
from treering.observe.errors.resolution import changes_of, other_form, other_path, resolution_of, ways_of

__all__ = ["Failure", "changes_of", "failure_of", "other_form", "other_path", "resolution_of", "ways_of"]
