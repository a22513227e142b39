"""Coding agents as their vendors publish them, run without a terminal and without a network."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from tests.agents.agent_tools import CLAUDE_TOOLS, CODEX_TOOLS, GEMINI_TOOLS, StepTools
from tests.agents.dialects import ANTHROPIC, GOOGLE, OPENAI
from tests.agents.script import Dialect
from tests.integration.node_clients import NODE

Command = list[str | Path]


@dataclass(frozen=True)
class CodingAgent:
    """One agent: how to start it with a prompt, and how to connect it to the scripted model."""

    name: str
    """Its name in `treering init`."""
    dialect: Dialect
    tools: StepTools
    program: Callable[[], Path | None]
    command: Callable[[Path, str, str], Command]
    """Command line from the program, the model's address and the prompt."""
    variables: Callable[[str], Mapping[str, str]] = lambda _url: {}
    """Environment variables from the model's address."""
    home_files: Mapping[str, str] = field(default_factory=dict)
    """Configuration files of a user who has signed in."""

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
    """Codex runs hooks that the user has trusted in its terminal interface; the last option does without that."""
    provider = f'model_providers.scripted={{name="scripted",base_url="{url}/v1",wire_api="responses"}}'
    model = ["-c", provider, "-c", 'model_provider="scripted"', "--model", "gpt-5.5"]
    approved = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
    return [NODE, program, "exec", *model, *approved, prompt]


AGENTS = (
    CodingAgent(
        name="claude",
        dialect=ANTHROPIC,
        tools=CLAUDE_TOOLS,
        program=_bundled_claude,
        command=lambda program, _url, prompt: [
            *(program, "--print", prompt),
            *(
                "--permission-mode",
                "dontAsk",
                "--allowedTools",
                "mcp__treering,mcp__plugin_treering_treering,Read,Edit,Bash,WebFetch",
            ),
        ],
        variables=lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "scripted",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        # Without a network, the vendor cannot be asked whether a page may be fetched.
        home_files={".claude/settings.json": '{"skipWebFetchPreflight": true}\n'},
    ),
    CodingAgent(
        name="codex",
        dialect=OPENAI,
        tools=CODEX_TOOLS,
        program=lambda: _from_npm("codex"),
        command=_codex,
    ),
    CodingAgent(
        name="gemini",
        dialect=GOOGLE,
        tools=GEMINI_TOOLS,
        program=lambda: _from_npm("gemini"),
        command=lambda program, _url, prompt: [
            *(NODE, program, "--prompt", prompt),
            *("--approval-mode", "yolo", "--model", "gemini-2.5-pro"),
        ],
        variables=lambda url: {
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_API_KEY": "scripted",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        },
        home_files={
            ".gemini/settings.json": """{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false}
}
"""
        },
    ),
)


def environment(home: Path) -> dict[str, str]:
    """A user's variables without any of Treering's. A proxy that does not exist keeps programs off the network."""
    closed = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost"}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "TREERING_EMBEDDER": "bundled", **closed}
