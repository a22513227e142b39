"""SIGKILL at any moment: what was acknowledged is there, what was not is there wholly or not at all."""

import random
import sqlite3
import time
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.integration.crew import Crew
from tests.integration.crew_members import open_and_say, open_place, write_groups
from tests.integration.written import assert_healthy, assert_whole
from tests.lengths import at_length

WRITERS = 4
SINGLE_KILLS = at_length(12, full=112)
KILLS_OF_ALL = at_length(2, full=10)
NEW_FILES = at_length(3, full=12)
KILLS_OF_CLIENTS = at_length(9, full=22)


class Writers:
    """Four writers; a killed one is replaced at once."""

    def __init__(self, crew: Crew, place: dict[str, Any]) -> None:
        self._crew = crew
        self._place = place
        self._names = (f"w{number}" for number in count())
        self._pids = [self._start() for _ in range(WRITERS)]
        self.killed = 0

    def kill_one(self, which: int) -> None:
        self._crew.kill(self._pids[which])
        self.killed += 1
        self._pids[which] = self._start()

    def kill_all(self) -> None:
        self.stop()
        self._pids = [self._start() for _ in range(WRITERS)]

    def stop(self) -> None:
        for pid in self._pids:
            self._crew.kill(pid)
            self.killed += 1

    def _start(self) -> int:
        return self._crew.start(write_groups, worker=next(self._names), **self._place)


def _assert_intact(path: Path) -> None:
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        connection.close()


def test_no_acknowledged_write_is_lost_however_often_they_are_killed(tmp_path: Path, crew: Crew) -> None:
    moments = random.Random(1)
    place: dict[str, Any] = {"place": str(tmp_path / "memory.db"), "tenant": "t", "blobs": str(tmp_path / "blobs")}
    writers = Writers(crew, place)
    for kill in range(SINGLE_KILLS + KILLS_OF_ALL):
        time.sleep(moments.uniform(0.002, 0.06))
        crew.hear(2 * kill)
        if kill % (SINGLE_KILLS // KILLS_OF_ALL) == 5:
            writers.kill_all()
        else:
            writers.kill_one(moments.randrange(WRITERS))
    writers.stop()
    killed = writers.killed + _kill_while_files_are_made(tmp_path, crew, moments)
    assert killed >= at_length(30, full=200)
    assert len(crew.told("stored")) > at_length(3, full=40)
    with open_place(**place) as memory:
        assert assert_whole(memory, crew) > at_length(20, full=240)
        assert_healthy(memory)
    _assert_intact(tmp_path / "memory.db")


def _kill_while_files_are_made(folder: Path, crew: Crew, moments: random.Random) -> int:
    """Four processes make the same new file at once and are killed; whoever comes next finishes their work."""
    killed = 0
    for number in range(NEW_FILES):
        place: dict[str, Any] = {
            "place": str(folder / f"new-{number}.db"),
            "tenant": "t",
            "blobs": str(folder / "blobs"),
        }
        pids = [crew.start(open_and_say, **place) for _ in range(WRITERS)]
        time.sleep(moments.uniform(0, 0.12))
        for pid in pids:
            crew.kill(pid)
            killed += 1
        with open_place(**place) as memory:
            memory.remember("made after all")
            assert_healthy(memory)
            assert [hit.text for hit in memory.search("made")] == ["made after all"]
    return killed


def test_no_acknowledged_write_is_lost_by_killed_clients_of_a_server(
    tmp_path: Path, crew: Crew, postgres_url: str
) -> None:
    moments = random.Random(2)
    place: dict[str, Any] = {"place": postgres_url, "tenant": f"t-{uuid4().hex[:12]}", "blobs": str(tmp_path / "blobs")}
    writers = Writers(crew, place)
    for kill in range(KILLS_OF_CLIENTS):
        time.sleep(moments.uniform(0.02, 0.1))
        crew.hear(3 * kill)
        if kill == KILLS_OF_CLIENTS // 2:
            writers.kill_all()
        else:
            writers.kill_one(moments.randrange(WRITERS))
    writers.stop()
    assert writers.killed == KILLS_OF_CLIENTS + 2 * WRITERS - 1
    assert len(crew.told("stored")) > KILLS_OF_CLIENTS // 3
    with open_place(**place) as memory:
        assert assert_whole(memory, crew) > at_length(20, full=60)
        assert_healthy(memory)
