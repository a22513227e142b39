"""What a step is called, so that the same work has the same name whoever did it and on whatever file.

A command is told by its head ("Bash: git commit"), work on a file by its kind ("Edit: *.py"), everything else by its
action ("write failing test") where that is a few words that say more than the tool, else by its tool. Nothing here
knows an agent: a tool whose input holds a command runs commands, whatever its name.
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
"""Follows the name of a step that failed: what comes after it differs."""
_BETWEEN = ": "
_NAMELESS = "step"
# A name is a tool, what it did, and perhaps that it failed: two of these and the marks between fit into a label.
_LONGEST, _LONGEST_BYTES = 80, 120
_ACTION_WORDS = 4
# Arguments are read up to here: the name of the file or the command stands before the text that is written.
_MOST = 20_000

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
_ANY_STEP = frozenset(
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
"""Words that are said of any step."""
_PLACEHOLDER = re.compile(r"<[a-z]+>")
_DECODER = json.JSONDecoder(strict=False)


def step_of(entry: TraceEntry) -> str:
    """Its name, as fine as it can be told; `coarser` gives the next wider one."""
    tool = _clean(entry.tool or "")
    detail = _detail(tool, entry.input)
    if tool and detail:
        return f"{tool}{_BETWEEN}{detail}"
    if tool and not _says_more(entry.action, tool):
        return tool
    return detail or _action(entry.action)


def tool_name(tool: str) -> str:
    """A tool as steps name it."""
    return _clean(tool)


def coarser(step: str) -> str | None:
    """The next wider name: "Bash: git commit", "Bash: git", "Bash", None."""
    tool, between, detail = step.removesuffix(FAILED).partition(_BETWEEN)
    if not between:
        return None
    wider = detail.rpartition(" ")[0]
    return f"{tool}{_BETWEEN}{wider}" if wider else tool


def levels_of(step: str) -> tuple[str, ...]:
    """The step and every wider name of it, the finest first."""
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
        return _of_plain(tool, text)
    fields = dict(_fields(text[:_MOST]))
    for name in _COMMAND_FIELDS:
        if name in fields and (head := command_head(_command(fields[name]))):
            return _shortened(" ".join(head))
    for name in _PATH_FIELDS:
        if isinstance(fields.get(name), str) and (kind := file_kind(fields[name])):
            return kind
    return ""


def _of_plain(tool: str, text: str) -> str:
    """An input that is no JSON: a command where the tool runs commands, else perhaps a path."""
    if _SHELL_TOOLS.search(tool):
        return _shortened(" ".join(command_head(text)))
    return file_kind(text) if _ONE_PATH.fullmatch(text) else ""


def _fields(text: str) -> Iterator[tuple[str, Any]]:
    """Texts and lists of a JSON object, also of one that was cut off; the outermost that has a name wins."""
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
    """A command is a text, or the list of its words; where a shell is told to run one, the list says so itself."""
    if isinstance(value, str):
        return value
    words = [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
    return " ".join(word if re.fullmatch(r"[\w./=:@%+,-]+", word) else _quoted(word) for word in words)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", '"') + "'"


def file_kind(path: str) -> str:
    """ "*.py" for a Python file, the name for a file known by it, nothing for a folder."""
    name = re.split(r"[\\/]", path.strip())[-1]
    if name.casefold() in _BARE_NAMES:
        return name
    found = _SUFFIX.search(name)
    return f"*.{found['suffix'].casefold()}" if found else ""


def _says_more(action: str, tool: str) -> bool:
    """Whether an action is the name of a step: a few words that are not about the tool, nor said of any step."""
    words = [word.casefold() for word in _WORD.findall(action)]
    telling = set(words) - _ANY_STEP - {word.casefold() for word in _WORD.findall(tool)}
    return bool(telling) and len(action.split()) <= _ACTION_WORDS


def _action(action: str) -> str:
    """The first words of what was done, where no tool is named."""
    words = []
    for word in action.split()[: 2 * _ACTION_WORDS]:
        kind = file_kind(word.strip(".,;:()\"'`"))
        plain = kind or (found[0].casefold() if (found := _WORD.match(word.strip("(\"'`"))) else "")
        if plain:
            words.append(plain)
    return _clean(" ".join(words[:_ACTION_WORDS])) or _NAMELESS


def words_of(text: str) -> list[str]:
    """Its words, in order, without marks and placeholders."""
    return [word.casefold() for word in _WORD.findall(_PLACEHOLDER.sub(" ", text))]


@lru_cache(maxsize=5_000)
def _clean(text: str) -> str:
    plain = "".join(char if char.isprintable() else " " for char in text[: 4 * _LONGEST])
    return _shortened(" ".join(plain.replace(_BETWEEN, ":").replace(FAILED.strip(), "").split()))


def _shortened(text: str) -> str:
    return fitting(text, _LONGEST, _LONGEST_BYTES)
