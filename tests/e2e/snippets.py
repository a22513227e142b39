"""Runs what the documentation shows, and compares what it says is printed."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from tests.e2e.in_process import Outcome, run_in_process
from tests.e2e.terminal import COMMAND
from treering.core import payloads
from treering.interfaces.start import main

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
INSTALLERS = ("pip install ", "pipx install ", "uv tool install ")
POSTGRES_EXAMPLE = "postgresql://treering:treering@localhost/treering"

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d(T[\d:.]+\+00:00)?"), "<date>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
)
_PIPE = re.compile(r""" \| (?=(?:[^"']|"[^"]*"|'[^']*')*$)""")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and its text."""

    language: str
    text: str


@dataclass
class Reader:
    """Follows a page from the top, in an empty folder, with an empty home and a tenant of its own.

    Python blocks and `treering` commands run in this process, each block with names of its own; the rest of a command
    line, as after a `|`, runs in bash.
    """

    folder: Path
    postgres_url: str
    exports: dict[str, str] = field(default_factory=dict)

    def follow(self, page: Path) -> None:
        """Do everything that the page shows; a mismatch is an assertion error that names the page."""
        blocks = blocks_of(page)
        assert blocks, f"{page} shows nothing"
        with patch.dict(payloads._TYPES):
            for block, following in zip(blocks, [*blocks[1:], None], strict=True):
                expected = following.text if following and following.language == "text" else None
                self._follow_block(page, block, expected)

    def _follow_block(self, page: Path, block: Block, expected: str | None) -> None:
        if block.language == "python":
            self._python(page, block, expected)
        elif block.language == "sh":
            for command in block.text.splitlines():
                self._command(page, command, expected=None)
        elif block.language == "console":
            for command, printed in console_steps(block.text):
                self._command(page, command, expected=printed)
        else:
            assert block.language in ("text", "sql", "toml"), f"{page}: {block.language!r} blocks cannot be run"

    def _python(self, page: Path, block: Block, expected: str | None) -> None:
        code = compile(block.text.replace(POSTGRES_EXAMPLE, self.postgres_url), str(page), "exec")
        done = self._run_in_process(lambda: exec(code, {"__name__": "__main__"}))
        check(done, expected, f"{page}:\n{block.text}")

    def _command(self, page: Path, command: str, expected: str | None) -> None:
        if command.startswith("export "):
            settings = command.removeprefix("export ").replace(POSTGRES_EXAMPLE, self.postgres_url)
            self.exports |= dict(setting.split("=", 1) for setting in shlex.split(settings))
        elif command.startswith(INSTALLERS):
            assert_installable(command)
        elif command.startswith("make "):
            run_make(command)
        else:
            done = Outcome(0, b"", b"")
            for stage in stages(command):
                done = self._stage(stage, done.stdout)
                check(done, None, f"{page}: {command}")
            check(done, expected, f"{page}: {command}")

    def _stage(self, stage: str, stdin: bytes) -> Outcome:
        if stage.startswith("treering "):
            _, *arguments = shlex.split(stage, comments=True)
            return self._run_in_process(main, arguments, stdin)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", stage],
            cwd=self.folder,
            env=self._variables(),
            input=stdin,
            capture_output=True,
            timeout=60,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def _run_in_process(
        self, function: Callable[[], object], arguments: Sequence[str] = (), stdin: bytes = b""
    ) -> Outcome:
        return run_in_process(
            function,
            folder=self.folder,
            environment=self._variables(),
            arguments=(COMMAND, *arguments),
            stdin=stdin,
        )

    def _variables(self) -> dict[str, str]:
        return {
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder),
            "TREERING_DATA_DIR": str(self.folder / "data"),
            "TREERING_TENANT": self.folder.name,
            "TREERING_EMBEDDER": "bundled",
            "LANG": "C.UTF-8",
            **self.exports,
        }


def check(done: Outcome, expected: str | None, shown: str) -> None:
    """It succeeded, without a complaint, and printed what is expected."""
    assert done.code == 0, f"{shown}\n{done.stderr.decode()}"
    if expected is not None:
        assert steady(done.stdout.decode()) == steady(expected), shown


def stages(command: str) -> list[str]:
    """The parts of a command line between `|`; what `treering` writes to a file goes there through `cat`."""
    if "treering " not in command:
        return [command]
    return _PIPE.split(re.sub(r"^(treering .*?) > (?=\S+$)", r"\1 | cat > ", command))


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order; indented ones belong to prose."""
    return [Block(language, text) for language, text in _FENCE.findall(page.read_text())]


def console_steps(text: str) -> Iterator[tuple[str, str]]:
    """Each `$ command` with the lines under it."""
    for step in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, printed = step.partition("\n")
        yield command, printed


def steady(printed: str) -> list[str]:
    """Lines without what differs from day to day."""
    for pattern, instead in _VARYING:
        printed = pattern.sub(instead, printed)
    return [line.rstrip() for line in printed.strip().splitlines()]


def assert_installable(command: str) -> None:
    """The extras that an install line names exist."""
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for named in re.findall(r"\[([\w,]+)\]", command):
        assert set(named.split(",")) <= set(extras), command


def run_make(command: str) -> None:
    """Every target exists; `make run` really runs, in the environment that is there already."""
    target = command.removeprefix("make ").strip()
    subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)
    if target == "run":
        reuse = ["--old-file=.venv/.run", f"BIN={BIN}"]
        done = subprocess.run(["make", *reuse, target], cwd=ROOT, check=True, capture_output=True, text=True)
        assert "Treering" in done.stdout
