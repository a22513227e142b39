"""Models that run in this process or answer over HTTP."""
