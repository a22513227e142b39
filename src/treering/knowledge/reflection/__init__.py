"""Reflection: a weekly summary of what was learned, what changed, what keeps failing and what was corrected."""
