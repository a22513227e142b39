"""Commands for the code graph."""
