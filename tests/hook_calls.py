"""Calls of the hook process in tests: inside the test process, and as a process of its own."""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treering.hook_process import read_memory
from treering.interfaces.hooks.command import hook_command
from treering.interfaces.hooks.process import HookProcess, main
from treering.location.hook_files import LOG, TARGET, hook_folder, write_json
from treering.location.hook_spool import DRAIN, FolderLock, drained_files

START = {"hook_event_name": "SessionStart", "source": "startup"}
PROMPT = {"hook_event_name": "UserPromptSubmit"}
TOOL = {"hook_event_name": "PostToolUse", "tool_name": "Edit"}
FULL_SESSION = "session-0"  # in the group that is given everything, for the project `p`


@dataclass
class HookedRepository:
    """A repository, a data folder, and the environment of its hooks."""

    folder: Path
    agent: str = "claude"
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.root = Path(os.path.realpath(self.folder)) / "repo sitory"
        (self.root / ".git").mkdir(parents=True, exist_ok=True)
        self.data = self.folder / "data"
        self.env = {"TREERING_DATA_DIR": str(self.data), "HOME": str(self.folder), **self.env}
        self.hooks = hook_folder(str(self.data), str(self.root))

    def payload(self, event: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
        return {"session_id": FULL_SESSION, "cwd": str(self.root), **event, **fields}

    def call(self, event: Mapping[str, Any], **fields: Any) -> str:
        """The text that the hook printed for the agent; empty for none."""
        return self.text(self.print_raw(json.dumps(self.payload(event, **fields)).encode()))

    def text(self, printed: bytes) -> str:
        if not printed:
            return ""
        output = json.loads(printed)
        if self.agent == "cursor":
            return str(output["additional_context"])
        return str(output["hookSpecificOutput"]["additionalContext"])

    def print_raw(self, stdin: bytes) -> bytes:
        """What the hook prints for these bytes, run inside this process."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as printed:
            given.write(stdin)
            given.seek(0)
            main(HookProcess([self.agent], self.env, read_memory), given.fileno(), printed.fileno())
            printed.seek(0)
            return printed.read()

    def run(self, stdin: bytes, **options: Any) -> subprocess.CompletedProcess[bytes]:
        """The hook as a process."""
        options.setdefault("timeout", 60)
        command = hook_command(self.agent)
        return subprocess.run(command, input=stdin, env=self.env, capture_output=True, check=False, **options)

    def point_at(self, file: Path | str, **fields: Any) -> None:
        """Write target.json, as a drainer does."""
        known = {"tenant": "local", "project": "p", "principal": "local"}
        write_json(self.hooks, TARGET, {"file": str(file), **known, **fields})

    def spooled(self) -> list[dict[str, Any]]:
        """Every line that waits, which is drained."""
        found = list[dict[str, Any]]()
        with FolderLock(self.hooks, DRAIN) as held:
            assert held
            for file in drained_files(self.hooks):
                found += file.lines()
                file.remove()
        return found

    def log(self) -> list[str]:
        path = Path(self.hooks, LOG)
        return path.read_text().splitlines() if path.exists() else []
