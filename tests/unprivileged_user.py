"""Runs as a user whom file permissions apply to, also if root runs the tests."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def as_unprivileged_user() -> Iterator[None]:
    """Give up the privileges of root until the block ends; other users keep theirs."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
