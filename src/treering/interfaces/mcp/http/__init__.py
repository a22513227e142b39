"""The HTTP transport: addresses, authentication, limits and shutdown."""
