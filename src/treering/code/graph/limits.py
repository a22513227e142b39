"""How much of an answer is given unless more is asked for."""

CAP = 500
"""More than so many dependents nobody reads; their number is exact all the same."""
FLOW_DEPTH = 4
"""Data that has passed through more hands than these is seldom the same data."""
