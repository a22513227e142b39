"""Facts that users state outright, read from their words without a model, in five languages."""

from treering.knowledge.facts.rules import read_statements

__all__ = ["read_statements"]
