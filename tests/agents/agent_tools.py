"""The steps of a script as calls of each agent's own tools."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.agents.script import Edit, Fetch, Read, Run, Say, Step, ToolCall, Turn, UseMemory

StepTools = Mapping[type, Callable[[Any, Path], ToolCall]]
"""The tool call for a type of step in a project folder."""


def _patch(edit: Edit, _root: Path) -> ToolCall:
    """The whole lines of `old` and `new` in the format of `apply_patch`."""
    lines = [*(f"-{line}" for line in edit.old.splitlines()), *(f"+{line}" for line in edit.new.splitlines())]
    return ToolCall(
        "apply_patch", "\n".join(["*** Begin Patch", f"*** Update File: {edit.path}", "@@", *lines, "*** End Patch"])
    )


CLAUDE_TOOLS: StepTools = {
    Read: lambda step, root: ToolCall("Read", {"file_path": str(root / step.path)}),
    Edit: lambda step, root: ToolCall(
        "Edit", {"file_path": str(root / step.path), "old_string": step.old, "new_string": step.new}
    ),
    Run: lambda step, _root: ToolCall("Bash", {"command": step.command, "description": "Run a command"}),
    Fetch: lambda step, _root: ToolCall("WebFetch", {"url": step.page.url, "prompt": "What does the page say?"}),
    UseMemory: lambda step, _root: ToolCall(f"mcp__treering__{step.tool}", step.arguments),
}
# Codex has no tools that read files or pages (it searches the web on its vendor's side): its models use the shell.
CODEX_TOOLS: StepTools = {
    Read: lambda step, _root: ToolCall("exec_command", {"cmd": f"cat {step.path}"}),
    Edit: _patch,
    Run: lambda step, _root: ToolCall("exec_command", {"cmd": step.command}),
    Fetch: lambda step, _root: ToolCall("exec_command", {"cmd": step.page.command}),
    UseMemory: lambda step, _root: ToolCall(f"mcp__treering__{step.tool}", step.arguments),
}
GEMINI_TOOLS: StepTools = {
    Read: lambda step, root: ToolCall("read_file", {"file_path": str(root / step.path)}),
    Edit: lambda step, root: ToolCall(
        "replace",
        {
            "file_path": str(root / step.path),
            "instruction": "Replace the line",
            "old_string": step.old,
            "new_string": step.new,
        },
    ),
    Run: lambda step, _root: ToolCall("run_shell_command", {"command": step.command, "description": "Run a command"}),
    Fetch: lambda step, _root: ToolCall("web_fetch", {"prompt": f"What does {step.page.public_url} say?"}),
    UseMemory: lambda step, _root: ToolCall(f"mcp_treering_{step.tool}", step.arguments),
}


def turn_of(step: Step, tools: StepTools, root: Path) -> Turn:
    """The step as a turn of the agent with these tools."""
    return step if isinstance(step, Say) else tools[type(step)](step, root)
