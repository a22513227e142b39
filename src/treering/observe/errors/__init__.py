"""Failures of tool calls: their fingerprints, what a colleague would quote of them, and how they were resolved."""

from treering.observe.errors.detection import Failure, failure_of
from treering.observe.errors.resolution import resolution_of

__all__ = ["Failure", "failure_of", "resolution_of"]
