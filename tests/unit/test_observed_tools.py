"""Tool calls of every agent are described in the same terms."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treering.observe.tools import ToolAction, ToolUse, tool_use

ROOT = "/home/ada/shop"
A = ToolAction

CALLS: list[tuple[str, dict[str, Any], ToolUse]] = [
    # Claude Code
    ("Read", {"file_path": f"{ROOT}/src/a.py", "offset": 3}, ToolUse(A.READ, ("src/a.py",))),
    ("Edit", {"file_path": f"{ROOT}/src/a.py", "old_string": "x", "new_string": "y"}, ToolUse(A.EDIT, ("src/a.py",))),
    ("MultiEdit", {"file_path": f"{ROOT}/src/a.py", "edits": []}, ToolUse(A.EDIT, ("src/a.py",))),
    ("Write", {"file_path": f"{ROOT}/LICENSE", "content": "x"}, ToolUse(A.EDIT, ("LICENSE",))),
    ("NotebookEdit", {"notebook_path": f"{ROOT}/n.ipynb"}, ToolUse(A.EDIT, ("n.ipynb",))),
    ("Grep", {"pattern": "def x", "path": f"{ROOT}/src"}, ToolUse(A.SEARCH, (), "def x")),
    ("Grep", {"pattern": "def x", "path": f"{ROOT}/src/a.py"}, ToolUse(A.SEARCH, ("src/a.py",), "def x")),
    ("Glob", {"pattern": "**/*.go"}, ToolUse(A.LIST, (), "**/*.go")),
    ("LS", {"path": f"{ROOT}/src"}, ToolUse(A.LIST, (), "src")),
    ("Bash", {"command": "go test ./..."}, ToolUse(A.RUN, (), "", "go test ./...")),
    ("Bash", {"command": "cat src/a.py"}, ToolUse(A.READ, ("src/a.py",), "", "cat src/a.py")),
    ("BashOutput", {"bash_id": "3"}, ToolUse(A.RUN)),
    ("WebFetch", {"url": "https://Example.com/x", "prompt": "p"}, ToolUse(A.FETCH, outside="web: example.com")),
    ("WebFetch", {"url": "http://localhost:3000/"}, ToolUse(A.FETCH)),
    ("WebFetch", {"url": "nonsense"}, ToolUse(A.FETCH, outside="web")),
    ("WebSearch", {"query": "x"}, ToolUse(A.FETCH, (), "x", outside="web: search")),
    ("Task", {"prompt": "x"}, ToolUse(A.DELEGATE)),
    ("Agent", {"prompt": "x"}, ToolUse(A.DELEGATE)),
    ("TodoWrite", {"todos": []}, ToolUse(A.PLAN)),
    ("TaskCreate", {"subject": "x"}, ToolUse(A.PLAN)),
    ("ExitPlanMode", {"plan": "x"}, ToolUse(A.PLAN)),
    ("AskUserQuestion", {"questions": []}, ToolUse(A.ASK)),
    ("Skill", {"skill": "x"}, ToolUse(A.OTHER)),
    ("LSP", {"operation": "hover", "filePath": "src/a.ts", "line": 3}, ToolUse(A.SEARCH, ("src/a.ts",))),
    ("mcp__linear__get_issue", {"id": 3}, ToolUse(A.FETCH, outside="mcp: linear")),
    ("mcp__playwright__browser_navigate", {"url": "http://x.y"}, ToolUse(A.FETCH, outside="browser")),
    ("mcp__treering__search_memory", {"query": "x"}, ToolUse(A.OTHER)),
    ("mcp__ide__getDiagnostics", {}, ToolUse(A.OTHER)),
    ("ReadMcpResourceTool", {"server": "docs", "uri": "x"}, ToolUse(A.FETCH, outside="mcp: docs")),
    # Codex
    ("shell", {"command": ["bash", "-lc", "rg foo src"]}, ToolUse(A.SEARCH, (), "foo", "rg foo src")),
    ("shell", {"command": ["git", "commit", "-m", "a b"]}, ToolUse(A.RUN, (), "", "git commit -m 'a b'")),
    ("exec_command", {"cmd": "sed -n 1,9p a.go"}, ToolUse(A.READ, ("a.go",), "", "sed -n 1,9p a.go")),
    (
        "apply_patch",
        {"input": "*** Begin Patch\n*** Update File: a/b.go\n*** Move to: c.go\n"},
        ToolUse(A.EDIT, ("a/b.go", "c.go")),
    ),
    ("update_plan", {"plan": []}, ToolUse(A.PLAN)),
    ("view_image", {"path": f"{ROOT}/a.png"}, ToolUse(A.READ, ("a.png",))),
    ("web_search", {"query": "x"}, ToolUse(A.FETCH, (), "x", outside="web: search")),
    # Gemini CLI
    ("read_file", {"absolute_path": f"{ROOT}/a.py"}, ToolUse(A.READ, ("a.py",))),
    ("read_many_files", {"paths": ["a.py", "src/*.py", "/etc/x.py"]}, ToolUse(A.READ, ("a.py",))),
    ("write_file", {"file_path": "a.py", "content": ""}, ToolUse(A.EDIT, ("a.py",))),
    ("replace", {"file_path": "a.py"}, ToolUse(A.EDIT, ("a.py",))),
    ("search_file_content", {"pattern": "x"}, ToolUse(A.SEARCH, (), "x")),
    ("list_directory", {"path": ROOT}, ToolUse(A.LIST, (), ".")),
    ("run_shell_command", {"command": "make test"}, ToolUse(A.RUN, (), "", "make test")),
    ("web_fetch", {"prompt": "sum up https://a.example/x please"}, ToolUse(A.FETCH, outside="web: a.example")),
    ("google_web_search", {"query": "x"}, ToolUse(A.FETCH, (), "x", outside="web: search")),
    ("save_memory", {"fact": "x"}, ToolUse(A.OTHER)),
    ("mcp_mem_recall", {"query": "x"}, ToolUse(A.FETCH, outside="mcp: mem")),
    # Cursor, Copilot and others
    ("edit_file", {"target_file": "a.ts"}, ToolUse(A.EDIT, ("a.ts",))),
    ("search_replace", {"file_path": "a.ts"}, ToolUse(A.EDIT, ("a.ts",))),
    ("codebase_search", {"query": "where"}, ToolUse(A.SEARCH, (), "where")),
    ("grep_search", {"query": "x"}, ToolUse(A.SEARCH, (), "x")),
    ("run_terminal_cmd", {"command": "npm test"}, ToolUse(A.RUN, (), "", "npm test")),
    ("replace_string_in_file", {"filePath": f"{ROOT}/a.ts"}, ToolUse(A.EDIT, ("a.ts",))),
    ("str_replace_editor", {"command": "view", "path": f"{ROOT}/a.ts"}, ToolUse(A.READ, ("a.ts",))),
    ("str_replace_editor", {"command": "create", "path": f"{ROOT}/a.ts"}, ToolUse(A.EDIT, ("a.ts",))),
    ("fetch_webpage", {"urls": ["https://a.example"]}, ToolUse(A.FETCH, outside="web: a.example")),
    ("unknown", {"x": 1}, ToolUse(A.OTHER)),
    ("unknown", {"url": "https://a.example"}, ToolUse(A.FETCH, outside="web: a.example")),
]


@pytest.mark.parametrize(("tool", "arguments", "use"), CALLS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_call_is_described(tool: str, arguments: dict[str, Any], use: ToolUse) -> None:
    assert tool_use(tool, arguments, ROOT) == use


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../x.py",
        f"{ROOT}/../x.py",
        f"{ROOT}x/a.py",
        "~/a.py",
        "",
        ".",
        ROOT,
        "a\x00.py",
        "C:\\x\\a.py",
        "a/../../b",
        f"{ROOT}/a/../../b.py",
        "https://x.y/a.py",
        "x" * 5000,
        "\ud800\n",
        "..\\..\\a.py",
    ],
)
def test_paths_outside_the_project_are_dropped(path: str) -> None:
    assert tool_use("Read", {"file_path": path}, ROOT).paths == ()


def test_paths_of_windows_are_relative_with_slashes() -> None:
    use = tool_use("Read", {"file_path": "c:\\Users\\ada\\shop\\src\\a.py"}, "C:\\Users\\ada\\shop")
    assert use.paths == ("src/a.py",)


def test_without_a_root_only_relative_paths_are_known() -> None:
    assert tool_use("Read", {"file_path": "src/a.py"}, "").paths == ("src/a.py",)
    assert tool_use("Read", {"file_path": "/src/a.py"}, "").paths == ()


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=30), st.binary(max_size=5)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["file_path", "path", "paths", "command", "cmd", "url", "urls", "pattern", "input", "query", "replacements"]
)
NAMES = st.one_of(st.sampled_from([tool for tool, _, _ in CALLS]), st.text(max_size=20))


@given(NAMES, st.dictionaries(KEYS, VALUES, max_size=5), st.sampled_from([ROOT, "", "/", "C:\\x"]))
def test_hostile_arguments_do_not_raise(tool: str, arguments: dict[str, Any], root: str) -> None:
    use = tool_use(tool, arguments, root)
    for path in use.paths:
        assert not path.startswith(("/", "~"))
        assert ".." not in path.split("/")


@pytest.mark.parametrize("arguments", [None, "x", 3, [], [("a", 1)]])
def test_what_is_not_a_mapping_has_no_paths(arguments: Any) -> None:
    assert tool_use("Read", arguments, ROOT).paths == ()
    assert tool_use(None, {}, ROOT) == ToolUse(ToolAction.OTHER)  # type: ignore[arg-type]
