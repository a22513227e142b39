"""Builds the stored graph from files. Every transaction leaves a consistent graph."""
