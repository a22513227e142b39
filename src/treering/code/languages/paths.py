"""Project paths as manifests and imports write them."""

import posixpath


def joined(directory: str, relative: str) -> str:
    """Join a relative path to a directory of the project; the root is the empty path."""
    path = posixpath.normpath(posixpath.join(directory, relative))
    return "" if path == "." else path
