"""Writers and drainers of the spool at the same time, some of them killed: no line is lost, torn or delivered twice."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from treering.location.hook_files import SPOOL, ensure_private_folder
from treering.location.hook_spool import DRAIN, FolderLock, drained_files

WRITER = """
import os, sys
from treering.location.hook_spool import append_line, event_line
folder, name = sys.argv[1:]
out = os.open(f"{folder}/written.{name}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
for number in range(100_000):
    id = f"{name}-{number}"
    if append_line(folder, event_line("claude", "Stop", {"text": "x" * (number % 7 * 3_000)}, id, 0.0)):
        os.write(out, f"{id}\\n".encode())
"""
DRAINER = """
import os, sys, time
from treering.location.hook_spool import DRAIN, FolderLock, drained_files
folder, name = sys.argv[1:]
out = os.open(f"{folder}/drained.{name}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
while True:
    with FolderLock(folder, DRAIN) as held:
        for file in drained_files(folder) if held else ():
            for line in file.lines():
                os.write(out, f"{line['id']}\\n".encode())
            os.fsync(out)
            file.remove()
    time.sleep(0.001)
"""


def ids(folder: str, kind: str) -> list[str]:
    """Complete lines of the files that the processes wrote beside the spool."""
    texts = [each.read_text() for each in sorted(Path(folder).glob(f"{kind}.*"))]
    return [line for text in texts for line in text.split("\n")[:-1]]


def drain(folder: str) -> list[str]:
    found = list[str]()
    with FolderLock(folder, DRAIN) as held:
        assert held
        for file in drained_files(folder):
            found += [line["id"] for line in file.lines()]
            file.remove()
    return found


class Crew:
    """Processes that write or drain; each one that is killed is replaced."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.running = list[tuple[str, subprocess.Popen[bytes]]]()
        self.started = 0

    def start(self, program: str) -> None:
        self.started += 1
        command = [sys.executable, "-c", program, self.folder, str(self.started)]
        self.running.append((program, subprocess.Popen(command)))

    def kill(self, number: int) -> str:
        program, process = self.running.pop(number)
        process.send_signal(signal.SIGKILL)
        process.wait()
        return program

    def kill_all(self) -> None:
        while self.running:
            self.kill(0)


def test_nothing_is_lost_or_doubled_while_a_drainer_renames(tmp_path: Path) -> None:
    folder = str(tmp_path / "hooks")
    ensure_private_folder(folder)
    crew = Crew(folder)
    try:
        for _ in range(3):
            crew.start(WRITER)
        drained, end = list[str](), time.monotonic() + 3
        while time.monotonic() < end or not drained:
            drained += drain(folder)
    finally:
        crew.kill_all()
    drained += drain(folder)
    written = ids(folder, "written")
    assert len(drained) == len(set(drained))
    # A writer may be killed between the spool and its own record of it.
    assert set(written) <= set(drained)
    assert len(drained) - len(written) <= crew.started
    for name in {each.partition("-")[0] for each in drained}:
        numbers = [int(each.partition("-")[2]) for each in drained if each.startswith(f"{name}-")]
        assert numbers == sorted(numbers), "the lines of a process are out of order"


def test_nothing_is_lost_when_writers_and_drainers_are_killed(tmp_path: Path) -> None:
    folder = str(tmp_path / "hooks")
    ensure_private_folder(folder)
    crew, chance = Crew(folder), random.Random(22)
    try:
        for program in (WRITER, WRITER, DRAINER, DRAINER):
            crew.start(program)
        for _ in range(12):
            time.sleep(chance.uniform(0.05, 0.4))
            crew.start(crew.kill(chance.randrange(len(crew.running))))
    finally:
        crew.kill_all()
    drained = [*ids(folder, "drained"), *drain(folder)]
    written = set(ids(folder, "written"))
    assert written
    # Delivered again only if a drainer was killed before it removed the file.
    assert written <= set(drained)
    assert len(set(drained) - written) <= crew.started
    assert not os.path.exists(Path(folder, SPOOL))
    assert not list(Path(folder).glob("*.draining"))
