"""Default limits of answers."""

CAP = 500
"""Maximum number of listed dependents; their total is exact anyway."""
FLOW_DEPTH = 4
"""Data that passed through more functions is seldom still the same data."""
