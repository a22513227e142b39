"""Configuration files of coding agents, edited in place: every byte outside our own entry stays unchanged."""
