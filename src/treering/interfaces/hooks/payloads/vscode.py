"""Hooks of agents in VS Code: those of Claude Code with some names in camel case, and no hook at the end of a session.

From its documentation: code.visualstudio.com/docs/copilot/customization/hooks.
"""

from __future__ import annotations

from treering.interfaces.hooks.payloads import claude_code
from treering.interfaces.hooks.payloads.reading import HookReader

NAME = "vscode"
READER = HookReader(NAME, claude_code.HOOKS, ends_sessions=False)
