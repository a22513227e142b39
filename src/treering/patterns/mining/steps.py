"""Names of steps, so that the same work has the same name for every agent and file.

A command is named by its head ("Bash: git commit"), work on a file by its type ("Edit: *.py"), everything else by its
action ("write failing test") if that is a few words that say more than the tool, else by its tool. The rules know no
particular agent: a tool whose input has a command runs commands, whatever its name.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from treering.core.episodes import TraceEntry
from treering.core.values import fitting
from treering.patterns.mining.commands import command_head

FAILED = " ✗"
"""Suffix of the name of a failed step, which is followed by other steps."""
_SEPARATOR = ": "
_UNNAMED = "step"
# A name is a tool, a detail and perhaps `FAILED`: two parts and the separators fit into a label.
_MAX_LENGTH, _MAX_BYTES = 80, 120
_ACTION_WORDS = 4
# Only this much of the arguments is read: file name or command come before the written text.
_MAX_INPUT = 20_000

_COMMAND_FIELDS = ("command", "cmd", "commands", "shell_command", "command_line", "script", "bash")
_PATH_FIELDS = (
    "file_path",
    "filepath",
    "path",
    "file",
    "filename",
    "file_name",
    "target_file",
    "notebook_path",
    "relative_path",
    "relative_workspace_path",
    "absolute_path",
    "uri",
)
_SHELL_TOOLS = re.compile(
    r"(?i)(?:^|[_.\s-])(?:bash|shell|sh|zsh|terminal|console|powershell|cmd|exec|command)(?:$|[_.\s-])"
)
_FIELD = re.compile(r'(?<!\\)"(?P<name>[A-Za-z_]{2,30})"\s*:\s*(?=["\[])')
_SUFFIX = re.compile(r"[^\s/\\]\.(?P<suffix>[A-Za-z][A-Za-z0-9_+-]{0,9})$")
_BARE_NAMES = frozenset(
    {"makefile", "dockerfile", "rakefile", "gemfile", "procfile", "justfile", "jenkinsfile", "vagrantfile"}
)
_ONE_PATH = re.compile(r"[^\s\"'{}\[\]<>|;]{1,300}")
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_STOP_WORDS = frozenset(
    {
        "a",
        "the",
        "it",
        "this",
        "with",
        "run",
        "ran",
        "use",
        "used",
        "call",
        "called",
        "do",
        "did",
        "done",
        "tool",
        "step",
    }
)
"""Words that occur in the description of any step."""
_PLACEHOLDER = re.compile(r"<[a-z]+>")
_DECODER = json.JSONDecoder(strict=False)


def step_of(entry: TraceEntry) -> str:
    """The most specific name of a step; `coarser` gives the next wider one."""
    tool = _clean(entry.tool or "")
    detail = _detail(tool, entry.input)
    if tool and detail:
        return f"{tool}{_SEPARATOR}{detail}"
    if tool and not _says_more(entry.action, tool):
        return tool
    return detail or _action(entry.action)


def tool_name(tool: str) -> str:
    """The name of a tool as used in steps."""
    return _clean(tool)


def coarser(step: str) -> str | None:
    """The next wider name: "Bash: git commit", "Bash: git", "Bash", None."""
    tool, between, detail = step.removesuffix(FAILED).partition(_SEPARATOR)
    if not between:
        return None
    wider = detail.rpartition(" ")[0]
    return f"{tool}{_SEPARATOR}{wider}" if wider else tool


def levels_of(step: str) -> tuple[str, ...]:
    """The step and all its wider names, most specific first."""
    found, wider = [step], coarser(step)
    while wider:
        found.append(wider)
        wider = coarser(wider)
    return tuple(found)


def _detail(tool: str, given: str) -> str:
    text = given.strip()
    if not text:
        return ""
    if text[0] not in "{[":
        return _plain_detail(tool, text)
    fields = dict(_fields(text[:_MAX_INPUT]))
    for name in _COMMAND_FIELDS:
        if name in fields and (head := command_head(_command(fields[name]))):
            return _shorten(" ".join(head))
    for name in _PATH_FIELDS:
        if isinstance(fields.get(name), str) and (kind := file_kind(fields[name])):
            return kind
    return ""


def _plain_detail(tool: str, text: str) -> str:
    """Detail of an input that is not JSON: a command if the tool runs commands, else perhaps a path."""
    if _SHELL_TOOLS.search(tool):
        return _shorten(" ".join(command_head(text)))
    return file_kind(text) if _ONE_PATH.fullmatch(text) else ""


def _fields(text: str) -> Iterator[tuple[str, Any]]:
    """Strings and lists of a JSON object, which may be truncated; the first value of a name wins."""
    seen, place = set[str](), 0
    while found := _FIELD.search(text, place):
        try:
            value, place = _DECODER.raw_decode(text, found.end())
        except ValueError:
            value, place = text[found.end() + 1 :], len(text)
        name = found["name"].casefold()
        if name not in seen:
            seen.add(name)
            yield name, value


def _command(value: Any) -> str:
    """The command from a string or a list of words."""
    if isinstance(value, str):
        return value
    words = [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
    return " ".join(word if re.fullmatch(r"[\w./=:@%+,-]+", word) else _quoted(word) for word in words)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", '"') + "'"


def file_kind(path: str) -> str:
    """ "*.py" for a Python file, the name for files such as Makefile, empty for a folder."""
    name = re.split(r"[\\/]", path.strip())[-1]
    if name.casefold() in _BARE_NAMES:
        return name
    found = _SUFFIX.search(name)
    return f"*.{found['suffix'].casefold()}" if found else ""


def _says_more(action: str, tool: str) -> bool:
    """Whether an action is specific enough to name the step: a few words besides the tool and stop words."""
    words = [word.casefold() for word in _WORD.findall(action)]
    specific = set(words) - _STOP_WORDS - {word.casefold() for word in _WORD.findall(tool)}
    return bool(specific) and len(action.split()) <= _ACTION_WORDS


def _action(action: str) -> str:
    """The first words of the action, for a step without a tool."""
    words = []
    for word in action.split()[: 2 * _ACTION_WORDS]:
        kind = file_kind(word.strip(".,;:()\"'`"))
        plain = kind or (found[0].casefold() if (found := _WORD.match(word.strip("(\"'`"))) else "")
        if plain:
            words.append(plain)
    return _clean(" ".join(words[:_ACTION_WORDS])) or _UNNAMED


def words_of(text: str) -> list[str]:
    """The words in order, case-folded, without punctuation and placeholders."""
    return [word.casefold() for word in _WORD.findall(_PLACEHOLDER.sub(" ", text))]


@lru_cache(maxsize=5_000)
def _clean(text: str) -> str:
    plain = "".join(char if char.isprintable() else " " for char in text[: 4 * _MAX_LENGTH])
    return _shorten(" ".join(plain.replace(_SEPARATOR, ":").replace(FAILED.strip(), "").split()))


def _shorten(text: str) -> str:
    return fitting(text, _MAX_LENGTH, _MAX_BYTES)
