"""Patterns of what works: mined from episodes, validated by evidence, refined where they fail."""
