"""Which files of a project are code, and what each says by itself."""
