"""Models that run in this process or on a server."""
