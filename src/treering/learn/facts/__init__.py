"""Facts that users state outright, read from their words without a model, in five languages."""

from treering.learn.facts.reading import read_statements

__all__ = ["read_statements"]
