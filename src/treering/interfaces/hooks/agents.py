"""Agents and their hooks: which hooks are used, which may inject at which point, and how an answer is printed.

Follows Claude Code (binary of claude-agent-sdk 0.2.182), Codex 0.166 and Gemini CLI 0.61, whose payloads were captured,
and the documentation of Cursor (cursor.com/docs/hooks) and VS Code (hooks reference of 2026-07). In Cursor and VS Code,
the hook of a prompt cannot add context. The hook process imports this: standard library only, and little of it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

START, PROMPT, TOOL, STEP = "start", "prompt", "tool", "step"
"""Points of an agent's loop, as `core/injections.py: InjectionPoint` names them."""

SECONDS: "Mapping[str, float]" = {START: 0.5, PROMPT: 2.0, TOOL: 0.1, STEP: 0.05}
"""Time budget of an answer at each point."""

TIMEOUT_SECONDS = 10
"""Timeout for the configuration of the agent: far above the time that a hook process gives itself."""

MAX_CHARACTERS = 10_000
"""Length of an injected text; Claude Code writes a longer one into a file instead of the context."""

SESSION_FIELDS, MAX_SESSION = ("session_id", "sessionId", "conversation_id"), 200
"""Fields of a payload that may name the session, and the length of the name that is kept."""


class Hook:
    """A hook of an agent; `point` is None if it only records. A full spool drops `low_value` events first."""

    __slots__ = ("low_value", "name", "point")

    def __init__(self, name: str, point: str | None = None, *, low_value: bool = False) -> None:
        self.name, self.point, self.low_value = name, point, low_value


class Agent:
    """A coding agent: its hooks by name, the variables that name its project folder, and the form of its answers."""

    __slots__ = ("answer_field", "hooks", "name", "root_variables", "timeout_unit")

    def __init__(
        self,
        name: str,
        *hooks: Hook,
        root_variables: tuple[str, ...] = (),
        answer_field: str = "",
        timeout_unit: str = "s",
    ) -> None:
        self.name, self.root_variables, self.timeout_unit = name, root_variables, timeout_unit
        self.hooks: Mapping[str, Hook] = {each.name: each for each in hooks}
        self.answer_field = answer_field
        """Name of the field with the text; empty for the form of Claude Code, which the other agents share."""


AGENTS: "Mapping[str, Agent]" = {
    agent.name: agent
    for agent in (
        Agent(
            "claude",
            Hook("SessionStart", START),
            Hook("UserPromptSubmit", PROMPT),
            Hook("PostToolUse", TOOL),
            Hook("PostToolUseFailure", TOOL),
            Hook("PostToolBatch", STEP, low_value=True),
            Hook("PreCompact"),
            Hook("SubagentStop"),
            Hook("Stop"),
            Hook("StopFailure"),
            Hook("SessionEnd"),
            root_variables=("CLAUDE_PROJECT_DIR",),
        ),
        Agent(
            "codex",
            Hook("SessionStart", START),
            Hook("UserPromptSubmit", PROMPT),
            Hook("PostToolUse", TOOL),
            Hook("PreCompact"),
            Hook("SubagentStop"),
            Hook("Stop"),
            Hook("SessionEnd"),
        ),
        Agent(
            "gemini",
            Hook("SessionStart", START),
            Hook("BeforeAgent", PROMPT),
            Hook("AfterTool", TOOL),
            Hook("AfterAgent"),
            Hook("PreCompress"),
            Hook("SessionEnd"),
            root_variables=("GEMINI_PROJECT_DIR",),
            timeout_unit="ms",
        ),
        Agent(
            "cursor",
            Hook("sessionStart", START),
            Hook("beforeSubmitPrompt"),
            Hook("postToolUse", TOOL),
            Hook("postToolUseFailure"),
            Hook("afterAgentResponse"),
            Hook("preCompact"),
            Hook("stop"),
            Hook("sessionEnd"),
            root_variables=("CURSOR_PROJECT_DIR",),
            answer_field="additional_context",
        ),
        Agent(
            "vscode",
            Hook("SessionStart", START),
            Hook("UserPromptSubmit"),
            Hook("PostToolUse", TOOL),
            Hook("PreCompact"),
            Hook("SubagentStop"),
            Hook("Stop"),
        ),
    )
}
"""The hooks that Treering installs. Other hooks, and hooks before a tool, only cost the agent time."""

_READING_TOOLS = (
    *("Read", "Grep", "Glob", "LS", "NotebookRead", "read_file", "read_many_files", "glob", "grep_search"),
    *("list_directory", "search_file_content", "readFile", "listDir", "fileSearch", "textSearch"),
)


_PREFIXES = ("", "treering:", "treering-", "mcp__treering__", "prompts:", "prompts:treering-")
_MEMORY_COMMANDS = frozenset(f"/{prefix}memory" for prefix in _PREFIXES)
_TURNED_OFF = frozenset(("", "all", "injection", "injections"))  # words after `/memory off`
_COMMAND_TAGS = ("<command-name>", "</command-name>", "<command-args>", "</command-args>")
_HOOK_CONTEXT = "<hook_context>", "</hook_context>"


class HookEvent:
    """One event of an agent's hook."""

    __slots__ = ("agent", "hook", "payload", "session")

    def __init__(self, agent: Agent, payload: "dict[str, Any]") -> None:
        self.agent, self.payload = agent, payload
        self.hook = named(payload, "hook_event_name", "hookEventName")[:100]
        # As the spool stores it: half of a surrogate pair cannot be written.
        self.session = named(payload, *SESSION_FIELDS)[:MAX_SESSION].encode("utf-8", "replace").decode()

    @property
    def point(self) -> str | None:
        known = self.agent.hooks.get(self.hook)
        return None if known is None else known.point

    @property
    def kept(self) -> "dict[str, Any]":
        """The payload without the results of a batch of tools: each tool has its own event."""
        calls = self.payload.get("tool_calls")
        if self.hook != "PostToolBatch" or not isinstance(calls, list):
            return self.payload
        known = (each for each in calls if isinstance(each, dict))
        kept = [{name: value for name, value in each.items() if name != "tool_response"} for each in known]
        return {**self.payload, "tool_calls": kept}

    @property
    def is_command(self) -> bool:
        """Whether the prompt is `/memory off`, `on` or `status`, which is carried out and answered during a pause."""
        return bool(memory_command(named(self.payload, "prompt")))

    def output(self, text: str) -> "dict[str, Any]":
        """What the hook prints to give the agent this text."""
        if self.agent.answer_field:
            return {self.agent.answer_field: text}
        return {"hookSpecificOutput": {"hookEventName": self.hook, "additionalContext": text}}


def memory_command(prompt: str) -> str:
    """What a prompt asks of memory: off, on or status; empty if it is another prompt.

    In every form that `user_commands.user_command` understands, without the time that its imports take.
    """
    if prompt.startswith(_HOOK_CONTEXT[0]):
        prompt = prompt.rpartition(_HOOK_CONTEXT[1])[2]
    prompt = prompt[:200].lower()
    for tag in _COMMAND_TAGS:
        prompt = prompt.replace(tag, " ")
    command, word, what, *_ = (*prompt.split(), "", "", "")
    word = word or "status"
    if command not in _MEMORY_COMMANDS or (word == "off" and what not in _TURNED_OFF):
        return ""
    return word if word in ("off", "on", "status") else ""


def is_low_value(event: HookEvent) -> bool:
    """Whether a full spool drops the event first: reads, batches, and hooks that Treering does not install."""
    known = event.agent.hooks.get(event.hook)
    return known is None or known.low_value or event.payload.get("tool_name") in _READING_TOOLS


def named(payload: "Mapping[str, Any]", *names: str) -> str:
    """The first of these fields that holds a text; empty if none does."""
    found = (payload.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), "")


def folder_of(agent: Agent, payload: "Mapping[str, Any]", env: "Mapping[str, str]") -> str:
    """The folder of the session: as the agent's own variable names it, else the payload; empty if neither does.

    The variable comes first because an agent may change into another repository, while its session stays the same.
    """
    roots = payload.get("workspace_roots")
    listed = [each for each in roots if isinstance(each, str)] if isinstance(roots, list) else []
    candidates = (*(env.get(each, "") for each in agent.root_variables), *listed[:1], named(payload, "cwd"))
    return next((each for each in candidates if each.startswith("/") and "\0" not in each), "")
