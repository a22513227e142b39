"""A `treering serve` of its own process on a sample project, for browser tests."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

from tests.panel.sample_data import PROJECT

SCRATCH = "harbour"
"""A project that tests change; the sample project stays as it is."""
_COMMAND = (sys.executable, "-c", "from treering.interfaces.start import main; main()")
_START_SECONDS = 90.0


class PanelServer:
    """A server that can be stopped and started again on the same port."""

    def __init__(self, folder: Path, **variables: str) -> None:
        """`variables` are added to the environment of the server."""
        self._folder = folder
        self._variables = variables
        self._process: subprocess.Popen[str] | None = None
        self._port = 0
        self.link = ""
        self.start()

    def start(self) -> None:
        fixed = {"TREERING_DATA_DIR": str(self._folder), "TREERING_BACKGROUND": "off"}
        environment = {**os.environ, **fixed, **self._variables}
        options = ("--db", str(self._folder / "memory.db"), "--project", PROJECT, "--port", str(self._port), "--json")
        self._process = subprocess.Popen(
            [*_COMMAND, "serve", *options],
            env=environment,
            cwd=self._folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        announced = json.loads(self._process.stdout.readline())
        self.url, self.link = str(announced["url"]), str(announced["link"])
        self._port = int(self.url.rpartition(":")[2])
        self.token = Path(announced["token_file"]).read_text().strip()
        self._wait()

    def stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def request(self, method: str, path: str, body: Any = None, *, project: str = PROJECT) -> Any:
        """The JSON answer of a request below the project."""
        url = f"{self.url}/api/v1/projects/{project}/{path}"
        answer = httpx.request(method, url, json=body, headers=self.headers, timeout=60)
        answer.raise_for_status()
        return answer.json()

    def create(self, project: str) -> None:
        httpx.put(f"{self.url}/api/v1/projects/{project}", headers=self.headers, timeout=60).raise_for_status()

    def remember(self, text: str, **fields: Any) -> dict[str, Any]:
        """Store a record in the scratch project."""
        stored: dict[str, Any] = self.request("POST", "records", {"text": text, **fields}, project=SCRATCH)
        return stored

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def _wait(self) -> None:
        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                if httpx.get(f"{self.url}/healthz").status_code == 200:
                    return
            except httpx.TransportError:
                assert time.monotonic() < until, "the server does not answer"
            time.sleep(0.1)
