"""Runs what the documentation shows, and compares what it says is printed."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
POSTGRES_EXAMPLE = "postgresql://treering:treering@localhost/treering"

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d"), "<date>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and its text."""

    language: str
    text: str


@dataclass
class Reader:
    """Somebody who follows a page from the top, in an empty folder, with an empty home and a tenant of their own."""

    folder: Path
    postgres_url: str
    exports: list[str] = field(default_factory=list)

    def follow(self, page: Path) -> None:
        """Do everything that the page shows; a mismatch is an assertion error that names the page."""
        blocks = blocks_of(page)
        assert blocks, f"{page} shows nothing"
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            expected = following.text if following and following.language == "text" else None
            if block.language == "python":
                self._python(page, block, expected)
            elif block.language == "sh":
                for command in block.text.splitlines():
                    self._command(page, command, expected=None)
            elif block.language == "console":
                for command, printed in console_steps(block.text):
                    self._command(page, command, expected=printed)
            else:
                assert block.language in ("text", "sql", "toml"), f"{page}: nobody runs {block.language!r} blocks"

    def _python(self, page: Path, block: Block, expected: str | None) -> None:
        done = self._run([sys.executable, "-W", "error", "-c", block.text.replace(POSTGRES_EXAMPLE, self.postgres_url)])
        assert done.returncode == 0, f"{page}:\n{block.text}\n{done.stderr}"
        if expected is not None:
            assert steady(done.stdout) == steady(expected), f"{page}:\n{block.text}"

    def _command(self, page: Path, command: str, expected: str | None) -> None:
        if command.startswith("export "):
            self.exports.append(command.replace(POSTGRES_EXAMPLE, self.postgres_url))
            return
        if command.startswith("pip install "):
            assert_installable(command)
            return
        if command.startswith("make "):
            run_make(command)
            return
        done = self._run(["bash", "-euo", "pipefail", "-c", "\n".join((*self.exports, command))])
        assert done.returncode == 0, f"{page}: {command}\n{done.stderr}"
        if expected is not None:
            assert steady(done.stdout) == steady(expected), f"{page}: {command}"

    def _run(self, command: list[str]) -> "subprocess.CompletedProcess[str]":
        environment = {
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder),
            "TREERING_DATA_DIR": str(self.folder / "data"),
            "TREERING_TENANT": self.folder.name,
            "TREERING_EMBEDDER": "bundled",
            "LANG": "C.UTF-8",
        }
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60, check=False
        )


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
    """The extras that a pip line names exist."""
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
