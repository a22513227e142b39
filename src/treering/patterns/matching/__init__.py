"""Matching: which patterns apply to a task, best first."""
