"""Search for locations in the code by words and by meaning."""
