"""Hooks of coding agents: the process that an agent starts, and the library side that observes and answers."""
