"""Paths of a project's files as its manifests and imports write them."""

import posixpath


def joined(directory: str, relative: str) -> str:
    """A path seen from a directory of the project; the project itself is the empty path."""
    path = posixpath.normpath(posixpath.join(directory, relative))
    return "" if path == "." else path
