"""A process that opens a database, which may be new, and stores a record in it."""

import sys

import treering


def open_and_write() -> None:
    """Print the id of the record."""
    place, blobs, text = sys.argv[1:]
    with treering.open(place, tenant="t", project="p", blobs=blobs) as memory:
        print(memory.remember(text).id)
