"""A terminal with the `treering` command, for tests: every call is a real process."""

import json
import os
import pty
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COMMAND = str(Path(sys.executable).parent / "treering")


@dataclass
class Terminal:
    """Runs commands in one folder, on one database."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def run(
        self, *arguments: str | bytes, stdin: bytes = b"", **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [COMMAND, *arguments],
            cwd=self.folder,
            env=self.variables(environment),
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

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

    def answered(self, answer: str, *arguments: str) -> tuple[int, str]:
        """The exit code, and what a person at a terminal sees who types one answer."""
        line, end = pty.openpty()
        process = subprocess.Popen(
            [COMMAND, *arguments],
            cwd=self.folder,
            env=self.variables({"NO_COLOR": "1"}),
            stdin=end,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        os.close(end)
        os.write(line, answer.encode())
        seen = process.communicate(timeout=60)[0].decode()
        os.close(line)
        return process.returncode, seen

    def variables(self, more: dict[str, str]) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TREERING_")}
        home = {"HOME": str(self.folder), "TREERING_DATA_DIR": str(self.folder / "data"), "COLUMNS": "100"}
        # Not the Ollama that may run on this machine.
        return kept | home | {"TREERING_EMBEDDER": "bundled"} | self.environment | more
