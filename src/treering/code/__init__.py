"""A repository becomes a graph: what is defined where, and what a change will reach."""
