"""HTTP servers: addresses, authentication, limits, worker processes and shutdown."""
