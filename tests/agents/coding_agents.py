"""Coding agents as people install them, run without a person and without a network."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from tests.agents.dialects import ANTHROPIC, GOOGLE, OPENAI
from tests.agents.script import Dialect
from tests.integration.node_clients import NODE

Command = list[str | Path]


@dataclass(frozen=True)
class CodingAgent:
    """One agent: how it is started with a prompt, and how it comes to ask the scripted model."""

    name: str
    """As `treering init` calls it."""
    dialect: Dialect
    tool: str
    """How it names a tool of ours to its model."""
    program: Callable[[], Path | None]
    command: Callable[[Path, str, str], Command]
    """Of the program, the model's address and the prompt."""
    variables: Callable[[str], Mapping[str, str]] = lambda _url: {}
    """Of the model's address."""
    at_home: Mapping[str, str] = field(default_factory=dict)
    """Files that somebody has who uses it."""

    def __str__(self) -> str:
        return self.name


def _bundled_claude() -> Path | None:
    sdk = find_spec("claude_agent_sdk")
    program = Path(sdk.origin).parent / "_bundled" / "claude" if sdk and sdk.origin else None
    return program if program and program.exists() else None


def _from_npm(name: str) -> Path | None:
    program = Path(sys.prefix) / "agents" / "node_modules" / ".bin" / name
    return program if program.exists() else None


def _codex(program: Path, url: str, prompt: str) -> Command:
    provider = f'model_providers.scripted={{name="scripted",base_url="{url}/v1",wire_api="responses"}}'
    chosen = ["-c", provider, "-c", 'model_provider="scripted"', "--model", "scripted"]
    return [NODE, program, "exec", *chosen, "--dangerously-bypass-approvals-and-sandbox", prompt]


AGENTS = (
    CodingAgent(
        name="claude",
        dialect=ANTHROPIC,
        tool="mcp__treering__{}",
        program=_bundled_claude,
        command=lambda program, _url, prompt: [
            *(program, "--print", prompt),
            *("--permission-mode", "dontAsk", "--allowedTools", "mcp__treering"),
        ],
        variables=lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "scripted",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    ),
    CodingAgent(
        name="codex",
        dialect=OPENAI,
        tool="mcp__treering__{}",
        program=lambda: _from_npm("codex"),
        command=_codex,
    ),
    CodingAgent(
        name="gemini",
        dialect=GOOGLE,
        tool="mcp_treering_{}",
        program=lambda: _from_npm("gemini"),
        command=lambda program, _url, prompt: [
            *(NODE, program, "--prompt", prompt),
            *("--approval-mode", "yolo", "--model", "gemini-2.5-pro"),
        ],
        variables=lambda url: {
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_API_KEY": "scripted",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        at_home={".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'},
    ),
)


def environment(home: Path) -> dict[str, str]:
    """A person's variables with nothing of ours in them, and no way out: a proxy that nobody is behind."""
    closed = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost"}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "TREERING_EMBEDDER": "bundled", **closed}
