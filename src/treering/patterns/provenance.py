"""Metadata keys that record where a pattern came from; only the code that mines, imports or merges writes them."""

MINED = "mined"
