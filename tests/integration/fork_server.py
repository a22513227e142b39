"""Forks a process for every function that it is told to run. Started by `crew.py`, and ends when its stdin does."""

import importlib
import json
import os
import signal
import sys
import traceback
from typing import Any

from tests.process_server import import_everything
from treering.adapters.sql import sqlite

_create_database = sqlite._create_for_this_user_only


def tell(**news: Any) -> None:
    """One line, short enough to be written whole."""
    os.write(sys.stdout.fileno(), (json.dumps(news) + "\n").encode())


def _start(module: str, function: str, options: dict[str, Any]) -> int:
    work = getattr(importlib.import_module(module), function)
    if pid := os.fork():
        return pid
    # Modules of tests import `tests.conftest`, which has databases copied and not synced; members do as users do.
    os.environ.pop("TREERING_TEST_SYNCHRONOUS", None)
    sqlite._create_for_this_user_only = _create_database
    try:
        work(**options)
        tell(ended=os.getpid())
    except BaseException:  # noqa: BLE001 - the test shows it
        tell(failed=traceback.format_exc()[-3_000:])
    finally:
        os._exit(0)  # not into the loop of the parent


def main() -> None:
    import_everything()
    members: set[int] = set()
    for line in sys.stdin:
        order = json.loads(line)
        if "start" in order:
            module, function = order["start"]
            pid = _start(module, function, order["options"])
            members.add(pid)
        else:
            pid = order["kill"]
            _kill(pid)
            members.remove(pid)
        tell(answer=pid)
    for pid in members:
        _kill(pid)


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
