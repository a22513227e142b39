"""Which files change together: counted from commits, ranked with names and imports, all of it pure."""
