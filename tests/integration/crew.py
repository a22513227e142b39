"""Processes that a test starts, kills and listens to, forked from one process that has imported Treering."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from queue import Queue
from threading import Condition, Thread
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Self

import psutil

_ROOT = Path(__file__).parents[2]
_PATIENCE = 120


class ForkServer:
    """The process that forks the others; it and they end with this one, however this one ends."""

    def __init__(self) -> None:
        self.news: list[dict[str, Any]] = []
        self.changed = Condition()
        self._answers: Queue[int] = Queue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.fork_server"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def order(self, **order: Any) -> int:
        """The id of the process that was started or killed."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        return self._answers.get(timeout=_PATIENCE)

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(_PATIENCE)
        self._listener.join(_PATIENCE)
        self._process.stdout.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line)
            if "answer" in told:
                self._answers.put(told["answer"])
                continue
            with self.changed:
                self.news.append(told)
                self.changed.notify_all()


class Crew:
    """The processes of one test. `news` is what they told, in the order it was told."""

    def __init__(self, server: ForkServer) -> None:
        self._server = server
        self._members: set[int] = set()
        self.news = server.news = []

    def start(self, work: Callable[..., None], **options: Any) -> int:
        """Run a function of a module, with arguments that JSON can hold; the id of the process is returned."""
        pid = self._server.order(start=(work.__module__, work.__name__), options=options)
        self._members.add(pid)
        return pid

    def kill(self, pid: int) -> None:
        """SIGKILL, and not before the process is gone does this return."""
        self._members.remove(pid)
        self._server.order(kill=pid)

    def join(self, pid: int) -> None:
        """Wait for a member to end by itself; what it raised is raised here."""
        self.wait_until(lambda: pid in self.told("ended"))
        self.kill(pid)

    def await_end(self, pid: int) -> None:
        """Wait for a member to end in whatever way; it stays a zombie, as its parent does not ask how it ended."""
        process, deadline = psutil.Process(pid), monotonic() + _PATIENCE
        while process.status() != psutil.STATUS_ZOMBIE:
            assert monotonic() < deadline, self.news[-5:]
            sleep(0.005)

    def hear(self, news: int) -> None:
        """Wait until so much was told in all."""
        self.wait_until(lambda: len(self.news) >= news)

    def hear_of(self, since: int, **steps: int) -> None:
        """Wait until members told of each step so often after the first `since` news, or one of them ended."""

        def arrived() -> bool:
            told = [name for news in self.news[since:] for name in news]
            return "ended" in told or all(told.count(step) >= times for step, times in steps.items())

        self.wait_until(arrived)

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait for what the members tell; a busy machine only takes longer."""
        with self._server.changed:
            self._server.changed.wait_for(lambda: holds() or bool(self.told("failed")), _PATIENCE)
            assert holds(), f"{self.told('failed')} after {len(self.news)} news: {self.news[-5:]}"

    def told(self, what: str) -> list[Any]:
        """Everything told so far under one name."""
        return [news[what] for news in list(self.news) if what in news]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pid in tuple(self._members):
            self.kill(pid)
