"""A terminal with the `treering` command, for tests.

A command runs in this process, through the function that the installed script calls. Some thirty commands of the
suite need a process: those that are sent a signal, control a screen, lose a stream, run beside each other, or depend
on how the interpreter starts. They use `start_process`, which forks, or `run_shell`, in test_cli_processes.py and in
the tests of `--watch`.
"""

import json
import os
import pty
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tests.e2e.in_process import run_in_process
from tests.forked_process import ForkedProcess, launcher_command
from treering.interfaces.start import main

COMMAND = str(Path(sys.executable).parent / "treering")
END_OF_INPUT = "\x04"


@dataclass
class Terminal:
    """Runs commands in one folder, on one database."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def run(
        self, *arguments: str | bytes, stdin: bytes | IO[bytes] = b"", **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        done = run_in_process(
            main,
            folder=self.folder,
            environment=self.variables(environment),
            arguments=(COMMAND, *arguments),
            stdin=stdin,
        )
        return subprocess.CompletedProcess(arguments, done.code, done.stdout.decode(), done.stderr.decode())

    def ok(self, *arguments: str, stdin: bytes = b"") -> str:
        """What a command prints that must succeed, and must not complain."""
        done = self.run(*arguments, stdin=stdin)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    def json(self, *arguments: str, stdin: bytes = b"") -> Any:
        return json.loads(self.ok(*arguments, "--json", stdin=stdin))

    def refused(self, *arguments: str | bytes, code: int = 1) -> str:
        """The one line that a command says on stderr when it must fail."""
        done = self.run(*arguments)
        assert done.returncode == code, done
        assert done.stdout == ""
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1
        return done.stderr.removeprefix("error: ").strip()

    def answered(self, answer: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a command whose stdin is a terminal, on which an answer was typed."""
        keyboard, end = pty.openpty()
        with open(keyboard, "wb", buffering=0) as keys, open(end, "rb", buffering=0) as stdin:
            keys.write(f"{answer}{END_OF_INPUT}".encode())
            return self.run(*arguments, stdin=stdin, NO_COLOR="1")

    def start_process(self, *arguments: str, **options: Any) -> ForkedProcess:
        """The command in a process; `options` replace the pipes."""
        place: dict[str, Any] = {"cwd": self.folder, "env": self.variables({}), "stdin": subprocess.DEVNULL}
        return ForkedProcess(arguments, **place | options)

    def run_shell(self, script: str, *, forked: bool = False) -> "subprocess.CompletedProcess[bytes]":
        """A script of bash, in which `treering` is the command, in a new interpreter unless it is to be forked."""
        path = f"{Path(COMMAND).parent}{os.pathsep}{os.environ['PATH']}"
        if forked:
            script = f'treering() {{ {shlex.join(launcher_command())} "$@"; }}; export -f treering; {script}'
        return subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.variables({"PATH": path}),
            capture_output=True,
            timeout=240,
        )

    def variables(self, more: dict[str, str]) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TREERING_")}
        home = {"HOME": str(self.folder), "TREERING_DATA_DIR": str(self.folder / "data"), "COLUMNS": "100"}
        # Not the Ollama that may run on this machine.
        return kept | home | {"TREERING_EMBEDDER": "bundled"} | self.environment | more
