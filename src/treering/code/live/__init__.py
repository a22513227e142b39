"""The graph in memory, kept current with the store and the files, and the lookup of names in it."""
