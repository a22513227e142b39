"""Sharing the C library's heaps does no harm, with or without such a call."""

import ctypes
import subprocess
import sys

import pytest

from treering.interfaces.servers.http.allocator import share_arenas

MANY_THREADS = """
from concurrent.futures import ThreadPoolExecutor
from treering.interfaces.servers.http.allocator import share_arenas
share_arenas()
share_arenas()
with ThreadPoolExecutor(16) as threads:
    print(sum(threads.map(lambda size: len(bytearray(size)), range(0, 200_000, 1_000))))
"""


def test_threads_have_what_they_ask_for() -> None:
    done = subprocess.run([sys.executable, "-c", MANY_THREADS], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) == sum(range(0, 200_000, 1_000))


@pytest.mark.parametrize("missing", [AttributeError, OSError, TypeError])
def test_nothing_happens_where_there_is_no_such_call(monkeypatch: pytest.MonkeyPatch, missing: type[Exception]) -> None:
    def none_here(_name: None) -> None:
        raise missing

    monkeypatch.setattr(ctypes, "CDLL", none_here)
    share_arenas()
