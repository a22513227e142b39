"""Which patterns apply to a task, and in which order they are worth reading."""
