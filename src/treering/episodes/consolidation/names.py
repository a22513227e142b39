"""Id prefix of consolidated episodes, and the lock of consolidation."""

CONSOLIDATED = "consolidated-"
"""Prefix of the id of a consolidated episode."""
CLAIM = "consolidation of episodes"
"""Lock of a project: only one transaction at a time may consolidate or dissolve."""
