"""Whether somebody who wrote is still there."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from treering.adapters.processes import has_ended, this_writer
from treering.ports.processes import WriterProcess


def test_a_writer_is_named_in_a_line() -> None:
    writer = this_writer("somebody")
    assert WriterProcess.parse(str(writer)) == writer
    assert writer.description.startswith(f"process {os.getpid()} on ")
    assert WriterProcess.parse(str(replace(writer, started=""))) == replace(writer, started="")


@pytest.mark.parametrize("text", ["", "test-1", "host pid begun name", "host:1:name", "a 1 b c d"])
def test_what_is_no_writers_name_is_nobodys(text: str) -> None:
    assert WriterProcess.parse(text) is None


def test_who_is_here_has_not_ended() -> None:
    assert not has_ended(this_writer("me"))


def test_a_process_that_was_waited_for_has_ended() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert has_ended(replace(this_writer("them"), pid=process.pid, started=""))


def test_a_process_of_another_machine_cannot_be_seen() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert not has_ended(WriterProcess("elsewhere", process.pid, "", "them"))


def test_a_process_that_nobody_waited_for_has_ended() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    try:
        assert has_ended(replace(this_writer("them"), pid=process.pid, started=""))
    finally:
        process.communicate()


def test_another_process_that_has_its_number_is_not_it() -> None:
    """Where the system says when a process began; elsewhere its lease has to run out."""
    assert has_ended(replace(this_writer("me"), started="1")) is Path("/proc/self/stat").exists()
