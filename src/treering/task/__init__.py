"""Working memory: the state of one task while it runs."""
