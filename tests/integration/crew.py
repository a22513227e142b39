"""Processes that a test starts, kills and listens to. They are forked from one process that has imported Treering."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import Queue
from types import TracebackType
from typing import Any, Self

_MEMBERS = Path(__file__).with_name("crew_members.py")
_PATIENCE = 120


class Crew:
    """Starts members by the name of their work; what they tell is in `news`, in the order it was told."""

    def __init__(self) -> None:
        self.news: list[dict[str, Any]] = []
        self._answers: Queue[dict[str, Any]] = Queue()
        self._process = subprocess.Popen(
            [sys.executable, _MEMBERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def start(self, work: str, **options: Any) -> int:
        return int(self._ask(start=work, options=options)["pid"])

    def kill(self, pid: int) -> None:
        """SIGKILL, and not before the process is gone does this return."""
        self._ask(kill=pid)

    def join(self, pid: int) -> None:
        """Wait for a member to end by itself; what it raised is raised here."""
        status = self._ask(join=pid)["status"]
        assert status == 0, self.told("failed")

    def hear(self, news: int) -> None:
        """Wait until so much was told in all; a busy machine only takes longer."""
        deadline = time.monotonic() + _PATIENCE
        while len(self.news) < news:
            assert time.monotonic() < deadline, f"heard {len(self.news)} of {news}: {self.told('failed')}"
            time.sleep(0.002)

    def told(self, what: str) -> list[Any]:
        """Everything told so far under one name."""
        return [news[what] for news in list(self.news) if what in news]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(_PATIENCE)
        self._listener.join(_PATIENCE)
        self._process.stdout.close()

    def _ask(self, **question: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        return self._answers.get(timeout=_PATIENCE)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line)
            if "answer" in told:
                self._answers.put(told["answer"])
            else:
                self.news.append(told)
