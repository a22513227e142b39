"""What a tool call of an agent does: its action, the files and the command it names, and outside content it brings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from treering.observe.commands import Purpose, ShellCommand, parse_command
from treering.observe.fetching import host_of, is_local
from treering.observe.paths import is_file_name, project_path
from treering.observe.shell import quoted_word
from treering.observe.word_sets import word_set


class ToolAction(StrEnum):
    """What a tool call does."""

    READ = "read"
    EDIT = "edit"
    SEARCH = "search"
    LIST = "list"
    RUN = "run"
    FETCH = "fetch"
    PLAN = "plan"
    DELEGATE = "delegate"
    ASK = "ask"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call in terms that are the same for every agent. Paths are files inside the project, relative to it."""

    action: ToolAction
    paths: tuple[str, ...] = ()
    pattern: str = ""
    command: str = ""
    outside: str = ""


_MAX_PATHS = 32
_MAX_LABEL = 120
_MAX_NAME = 200
_PATH_KEYS = (
    "file_path",
    "path",
    "target_file",
    "filePath",
    "absolute_path",
    "notebook_path",
    "target_notebook",
    "paths",
    "files",
    "file",
    "filename",
    "AbsolutePath",
    "TargetFile",
    "include",
    "replacements",
)
_PATTERN_KEYS = ("pattern", "query", "glob_pattern", "regex", "search_term", "Query", "name", "dir_path", "path")
_COMMAND_KEYS = ("command", "cmd", "CommandLine", "script", "input")
_ADDRESS_KEYS = ("url", "urls", "uri", "Url", "href", "link", "repo", "prompt")
_PATCH_PATH = re.compile(r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: )([^\n]{1,1024})", re.MULTILINE)
_PATCH_CHARACTERS = 256 * 1024
_ADDRESS = re.compile(r"(?i)\bhttps?://[^\s\"'<>]{1,500}")
_PROJECT_SERVERS = word_set(
    "treering ide lsp serena cclsp mcp-language-server language-server plugin_treering_treering"
)
_BROWSERS = word_set(
    "playwright puppeteer browser chrome chrome-devtools claude-in-chrome browsermcp browser-use selenium computer-use"
)
_BY_PURPOSE = {
    Purpose.READ: ToolAction.READ,
    Purpose.SEARCH: ToolAction.SEARCH,
    Purpose.LIST: ToolAction.LIST,
    Purpose.EDIT: ToolAction.EDIT,
    Purpose.NETWORK: ToolAction.FETCH,
}
# Of an editor with several commands (`str_replace_editor`), those that only read.
_VIEWS = frozenset({"view", "read", "list"})


def _table(**actions: str) -> dict[str, ToolAction]:
    return {tool: ToolAction(action) for action, tools in actions.items() for tool in tools.split()}


_TOOLS: Mapping[str, ToolAction] = _table(
    read="""read read_file readfile read_many_files readmanyfiles view view_file viewfile view_image notebookread
        open_file copilot_readfile get_errors read_lints fs_read cat get_file_contents read_notebook view_code_item""",
    edit="""edit multiedit write notebookedit write_file writefile replace edit_file editfile search_replace strreplace
        str_replace str_replace_editor str_replace_based_edit_tool apply_patch applypatch patch create create_file
        createfile insert_edit_into_file replace_string_in_file multi_replace_string_in_file delete_file deletefile
        delete edit_notebook edit_notebook_file replace_in_file write_to_file replace_file_content insert_content
        search_and_replace apply_diff copilot_createfile copilot_replacestring copilot_insertedit fs_write reapply
        multi_edit""",
    search="""grep grep_search search_file_content grepsearch ripgrep codebase_search semanticsearch semantic_search
        search_files searchfiles search lsp list_code_usages copilot_findtextinfiles search_symbols code_search usages
        textsearch""",
    list="""glob ls list_directory list_dir listdir list file_search filesearch glob_file_search find_by_name list_files
        find_files findfiles copilot_findfiles copilot_listdirectory""",
    run="""bash bashoutput bash_output killshell killbash shell local_shell exec_command write_stdin run_shell_command
        run_terminal_cmd run_in_terminal runinterminal run_command execute_command terminal exec shell_command
        powershell get_terminal_output await_terminal read_bash write_bash stop_bash copilot_runinterminal runtests
        run_tests execute_bash monitor container.exec taskoutput taskstop""",
    fetch="""webfetch websearch web_fetch web_search google_web_search fetch_webpage fetch fetch_url search_web
        read_url_content web.run browser browser_action browser_navigate open_simple_browser github_repo computer
        web_search_call webfetchtool""",
    plan="""todowrite todoread todo_write update_plan taskcreate taskupdate tasklist taskget exitplanmode enterplanmode
        exit_plan_mode manage_todo_list write_todos plan update_todo_list report_intent""",
    delegate="""task agent new_task runsubagent run_subagent spawn_agent dispatch_agent delegate_to_agent sendmessage
        subagent codebase_investigator""",
    ask="askuserquestion ask_followup_question ask_user request_user_input ask_question",
    other="""skill toolsearch save_memory update_memory memory slashcommand think sleep croncreate attempt_completion
        use_skill fetch_rules""",
)
_SHELLS = frozenset(tool for tool, action in _TOOLS.items() if action is ToolAction.RUN)
_PATCHES = frozenset({"apply_patch", "applypatch", "patch"})
_NO_USE = ToolUse(ToolAction.OTHER)


def tool_use(tool: str, arguments: Mapping[str, object], root: str) -> ToolUse:
    """Describe a tool call. Never raises: unknown tools and malformed arguments give an `OTHER` without paths."""
    given: tuple[object, object, object] = (tool, arguments, root)
    if not (isinstance(given[0], str) and isinstance(given[1], Mapping) and isinstance(given[2], str)):
        return _NO_USE
    name = tool[:_MAX_NAME].lower()
    action = _TOOLS.get(name)
    if action is None:
        return _unlisted_use(name, arguments, root)
    if name in _SHELLS:
        return _shell_use(arguments, root)
    return _listed_use(name, action, arguments, root)


def _listed_use(name: str, action: ToolAction, arguments: Mapping[str, object], root: str) -> ToolUse:
    if action is ToolAction.FETCH:
        return ToolUse(
            action, outside=_fetched(name, arguments), pattern=_text(arguments, ("query", "search_term", "q"))
        )
    if action is ToolAction.EDIT:
        if name in _PATCHES:
            return ToolUse(action, _patched(arguments, root))
        if _text(arguments, ("command",)) in _VIEWS:
            action = ToolAction.READ
        return ToolUse(action, _paths(arguments, root))
    if action is ToolAction.READ:
        return ToolUse(action, _paths(arguments, root))
    if action in (ToolAction.SEARCH, ToolAction.LIST):
        pattern = _text(arguments, _PATTERN_KEYS)
        if action is ToolAction.LIST and pattern:
            pattern = project_path(pattern, root) or ("." if pattern.rstrip("/") == root.rstrip("/") else pattern)
        return ToolUse(action, tuple(filter(is_file_name, _paths(arguments, root))), pattern)
    return ToolUse(action)


def _shell_use(arguments: Mapping[str, object], root: str) -> ToolUse:
    command = _command(arguments)
    if not command:
        return ToolUse(ToolAction.RUN)
    parsed = parse_command(command, root)
    return ToolUse(_shell_action(parsed), parsed.paths, parsed.pattern, command, parsed.outside)


def _shell_action(command: ShellCommand) -> ToolAction:
    if command.outside and command.purpose is Purpose.VCS:
        return ToolAction.FETCH
    return _BY_PURPOSE.get(command.purpose, ToolAction.RUN)


def _command(arguments: Mapping[str, object]) -> str:
    """The command line; a list of words is joined, and `["bash", "-lc", code]` is the code."""
    for key in _COMMAND_KEYS:
        command = arguments.get(key)
        if isinstance(command, str):
            return command
        if isinstance(command, Sequence) and not isinstance(command, bytes | bytearray):
            words = [word for word in command[:256] if isinstance(word, str)]
            if len(words) == 3 and words[1] in ("-lc", "-c"):
                return words[2]
            return " ".join(map(quoted_word, words))
    return ""


def _unlisted_use(name: str, arguments: Mapping[str, object], root: str) -> ToolUse:
    """Tools of MCP servers, browsers, and unknown tools that are given an address."""
    server, tool = _server(name)
    if server in _PROJECT_SERVERS:
        action = _TOOLS.get(tool, ToolAction.OTHER)
        return (
            _listed_use(tool, action, arguments, root) if action not in (ToolAction.RUN, ToolAction.FETCH) else _NO_USE
        )
    if server:
        label = "browser" if server in _BROWSERS else f"mcp: {server}"
        return ToolUse(ToolAction.FETCH, outside=label[:_MAX_LABEL])
    if "mcp" in name and ("resource" in name or name in ("use_mcp_tool", "access_mcp_resource")):
        named = _text(arguments, ("server", "server_name"))
        if named.lower() in _PROJECT_SERVERS:
            return _NO_USE
        return ToolUse(ToolAction.FETCH, outside=f"mcp: {_printable(named) or 'unknown'}"[:_MAX_LABEL])
    if name.startswith(("browser_", "chrome_", "playwright_", "puppeteer_")):
        return ToolUse(ToolAction.FETCH, outside="browser")
    host = next((host for address in _addresses(arguments) if (host := _outside_host(address))), "")
    return ToolUse(ToolAction.FETCH, outside=f"web: {host}") if host else _NO_USE


def _server(name: str) -> tuple[str, str]:
    """Server and tool of a name of Claude Code (`mcp__server__tool`), Gemini or Copilot (`mcp_server_tool`)."""
    if name.startswith("mcp__"):
        server, _, tool = name[5:].partition("__")
        return server or "unknown", tool
    if name.startswith("mcp_"):
        server, _, tool = name[4:].partition("_")
        return server or "unknown", tool
    server, separator, tool = name.partition("__")
    return (server, tool) if separator and server and tool else ("", "")


def _fetched(name: str, arguments: Mapping[str, object]) -> str:
    """Label of the content that a web tool brings; empty for a page of this machine."""
    if "browser" in name or name == "computer":
        return "browser"
    hosts = [host_of(address) for address in _addresses(arguments)]
    if not hosts:
        return "web: github.com" if name == "github_repo" else "web: search" if "search" in name else "web"
    outside = [host for host in hosts if not is_local(host)]
    return f"web: {outside[0] or 'unknown'}"[:_MAX_LABEL] if outside else ""


def _outside_host(address: str) -> str:
    host = host_of(address)
    return "" if is_local(host) else host


def _addresses(arguments: Mapping[str, object]) -> Iterator[str]:
    for key in _ADDRESS_KEYS:
        value = arguments.get(key)
        for text in (value,) if isinstance(value, str) else value[:8] if isinstance(value, list | tuple) else ():
            if isinstance(text, str) and (found := _ADDRESS.search(text, 0, 4096)):
                yield found[0]


def _text(arguments: Mapping[str, object], keys: Sequence[str]) -> str:
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return value[:500]
    return ""


def _printable(text: str) -> str:
    return "".join(filter(str.isprintable, text[:_MAX_LABEL])).strip()


def _paths(arguments: Mapping[str, object], root: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for key in _PATH_KEYS:
        value = arguments.get(key)
        if value is None:
            continue
        if isinstance(value, str):
            values: Sequence[object] = (value,)
        else:
            values = value[:_MAX_PATHS] if isinstance(value, list | tuple) else ()
        for item in values:
            named = (
                item.get("filePath") or item.get("file_path") or item.get("path") if isinstance(item, Mapping) else item
            )
            if isinstance(named, str) and not any(mark in named for mark in "*?{"):
                path = project_path(named, root)
                if path is not None:
                    found[path] = None
    return tuple(found)[:_MAX_PATHS]


def _patched(arguments: Mapping[str, object], root: str) -> tuple[str, ...]:
    """Files that a patch adds, changes, deletes or renames."""
    text = _text_of_patch(arguments)
    paths = (project_path(named, root) for named in _PATCH_PATH.findall(text[:_PATCH_CHARACTERS]))
    return tuple(dict.fromkeys(path for path in paths if path is not None))[:_MAX_PATHS] or _paths(arguments, root)


def _text_of_patch(arguments: Mapping[str, object]) -> str:
    for key in ("input", "patch", "patchText", "content", "diff"):
        value = arguments.get(key)
        if isinstance(value, str):
            return value
    return _command(arguments)
