"""Tool calls that wait for their result."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treering.observe.commands import Purpose, parse_command
from treering.observe.scratchpad.kept_text import kept_lines, kept_path, kept_text
from treering.observe.shell import MAX_CHARACTERS
from treering.observe.tools import ToolAction, ToolUse, tool_use

MAX_PENDING = 128
_MAX_PATHS = 20
MAX_TOOL = 80
_MAX_PATTERN = 200
_MAX_COMMAND = 2_000
_MAX_NORMAL = 300


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A tool call, cut to what its result needs. `purpose` is None unless it runs a command.

    In memory, the command is as it was given; it is searched for secrets when it is stored.
    """

    tool: str
    use: ToolUse
    normal: str = ""
    purpose: Purpose | None = None

    def state(self) -> list[Any]:
        use = self.use
        purpose = None if self.purpose is None else self.purpose.value
        command = kept_lines(use.command, _MAX_COMMAND) if use.command else ""
        return [
            *(self.tool, use.action.value, list(use.paths), use.pattern, command, use.outside),
            *(self.normal, purpose),
        ]

    @classmethod
    def from_state(cls, state: list[Any]) -> "PendingCall":
        tool, action, paths, pattern, command, outside, normal, purpose = state
        use = ToolUse(ToolAction(action), tuple(paths), pattern, command, outside)
        return cls(tool, use, normal, None if purpose is None else Purpose(purpose))


def pending_call(tool: str, arguments: Mapping[str, object], root: str) -> PendingCall:
    """The call, with texts that are safe to keep."""
    use = tool_use(tool, arguments, root)
    tool = kept_text(tool, MAX_TOOL)
    paths = tuple(path for each in use.paths[:_MAX_PATHS] if (path := kept_path(each)))
    pattern = kept_text(use.pattern, _MAX_PATTERN) if use.pattern else ""
    outside = kept_text(use.outside, 120) if use.outside else ""
    if not use.command:
        return PendingCall(tool, ToolUse(use.action, paths, pattern, "", outside))
    parsed = parse_command(use.command, root)
    use = ToolUse(use.action, paths, pattern, use.command[:MAX_CHARACTERS], outside)
    return PendingCall(tool, use, kept_text(parsed.normal, _MAX_NORMAL), parsed.purpose)
