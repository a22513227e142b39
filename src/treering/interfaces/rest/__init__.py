"""The REST API: every verb of the library over HTTP, live events, metrics and the panel's files."""
