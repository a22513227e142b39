"""Co-change of files: counted from commits, ranked together with names and imports. Pure functions."""
