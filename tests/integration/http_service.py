"""`treering mcp --http` as somebody runs it: a process of its own on a free port, with the token that it made."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.terminal import COMMAND, Terminal


@dataclass(frozen=True)
class HttpService:
    url: str
    token: str
    process: subprocess.Popen[str]
    stderr: Path


@contextmanager
def http_service(project: Path, *options: str, **environment: str) -> Iterator[HttpService]:
    """Serve the memory of the project in this folder, which is the user's home too, until the block ends."""
    serving = [COMMAND, "mcp", "--http", "--port", "0", "--json", *options]
    variables = Terminal(project).variables(environment)
    heard = project / "mcp.stderr"
    with (
        heard.open("w") as stderr,
        subprocess.Popen(
            serving, cwd=project, env=variables, stdout=subprocess.PIPE, stderr=stderr, text=True
        ) as process,
    ):
        try:
            assert process.stdout
            first = process.stdout.readline()
            assert first, heard.read_text()
            told = json.loads(first)
            token = Path(told["token_file"]).read_text().strip() if told["token_file"] else ""
            yield HttpService(told["url"], token, process, heard)
        finally:
            if process.poll() is None:
                process.terminate()
                assert process.wait(10) == 0
