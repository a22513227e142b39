"""`treering demo --serve` in a terminal: says where the panel is, serves it until Ctrl-C, and leaves nothing behind."""

import os
import pty
import re
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

COMMAND = [sys.executable, "-c", "from treering.interfaces.start import main; main()", "demo", "--serve"]
_ADDRESS = re.compile(rb"http://127\.0\.0\.1:\d+")
_SECONDS = 90.0


def test_the_demo_is_served_until_ctrl_c(tmp_path: Path) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(COMMAND[0], COMMAND, {**os.environ, "TMPDIR": str(tmp_path)})
    url = _announced(terminal)
    assert httpx.get(f"{url}/healthz", timeout=30).status_code == 200
    os.write(terminal, b"\x03")
    assert os.waitstatus_to_exitcode(_ended(pid, terminal)) == 0
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/healthz", timeout=5)


def _announced(terminal: int) -> str:
    """The address that the command prints."""
    printed, until = b"", time.monotonic() + _SECONDS
    while (found := _ADDRESS.search(printed)) is None:
        assert time.monotonic() < until, printed
        printed += os.read(terminal, 65_536)
    return found[0].decode()


def _ended(pid: int, terminal: int) -> int:
    """The status of the process; what it prints is read, because it waits for that otherwise."""
    with suppress(OSError):  # the terminal is closed
        while os.read(terminal, 65_536):
            pass
    os.close(terminal)
    return os.waitpid(pid, 0)[1]
