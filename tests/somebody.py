"""Somebody who may not read everything, as root may."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def as_somebody() -> Iterator[None]:
    """Where root runs the tests, somebody else looks."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
