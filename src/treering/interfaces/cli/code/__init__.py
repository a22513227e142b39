"""The code graph at the command line."""
