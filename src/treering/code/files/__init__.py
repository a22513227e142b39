"""Discovery of a project's source files and extraction of their facts."""
