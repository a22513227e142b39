"""Repositories, read with the `git` command."""
