"""The agents whose hooks are understood, by their name in the hook command."""

from __future__ import annotations

from collections.abc import Mapping

from treering.interfaces.hooks.payloads import claude_code, codex, cursor, gemini_cli, vscode
from treering.interfaces.hooks.payloads.reading import HookReader

READERS: Mapping[str, HookReader] = {
    "claude": claude_code.READER,
    "codex": codex.READER,
    "gemini": gemini_cli.READER,
    "cursor": cursor.READER,
    "vscode": vscode.READER,
}
