"""The `treering` command, which writes a line into a file for each call that begins, so that tests can wait for it.

A test can also have every call fail, with words of its own.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from treering.interfaces.mcp.host import CallContext, Caller, MemoryHost
from treering.interfaces.start import main

BEGUN = "TEST_CALLS_BEGUN"
FAILS = "TEST_CALLS_FAIL"
ONLY_CLIENT = Caller()
original_call = MemoryHost.call


@contextmanager
def logged_call(host: MemoryHost, caller: Caller = ONLY_CLIENT) -> Iterator[CallContext]:
    with original_call(host, caller) as call:
        with Path(os.environ[BEGUN]).open("a") as file:
            file.write("begun\n")
        if why := os.environ.get(FAILS):
            raise ValueError(why)
        yield call


def serve_telling_calls() -> None:
    MemoryHost.call = logged_call  # type: ignore[method-assign, assignment]
    main()
