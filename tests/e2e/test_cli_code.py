"""index, impact, deps, related and map as people use them; a watcher is a process."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.code_projects import written
from tests.e2e.terminal import Terminal
from tests.forked_process import ForkedProcess
from tests.lengths import at_length

FILES = {
    "app/tokens.py": "def verify(token):\n    return decode(token)\n\n\ndef decode(token):\n    return token\n",
    "app/login.py": "from app.tokens import verify\n\n\ndef login(token):\n    return verify(token)\n",
    "app/__init__.py": "",
    "tests/test_login.py": "from app.login import login\n\n\ndef test_login():\n    assert login('x')\n",
}
SWITCHED_FILES = at_length(600, full=2_000)
"""As many as several processes read at once."""


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A terminal in a project that nobody indexed yet."""
    root = written(tmp_path / "project", FILES)
    (root / ".git").mkdir()
    return Terminal(root, {"TREERING_DATA_DIR": str(tmp_path / "data"), "HOME": str(tmp_path)})


def test_an_annotation_is_shown_with_the_impact_of_its_node(terminal: Terminal) -> None:
    terminal.ok("index")
    assert "annotated" in terminal.ok("annotate", "decode", "Tokens are opaque")
    decided = terminal.json("annotate", "app/login.py", "Logins are rate limited", "--kind", "decision")
    assert (decided["type"], decided["node"]) == ("decision", "app/login.py")
    (attached,) = terminal.json("impact", "decode")["annotations"]
    assert attached["content"] == "Tokens are opaque"
    shown = terminal.ok("impact", "decode")
    assert "invariants and decisions" in shown
    assert "Tokens are opaque" in shown
    terminal.json("correct", attached["id"], "--text", "Tokens are opaque bytes")
    (now,) = terminal.json("impact", "decode")["annotations"]
    assert now["content"] == "Tokens are opaque bytes"
    terminal.ok("undo", now["id"])
    (now,) = terminal.json("impact", "decode")["annotations"]
    assert now["content"] == "Tokens are opaque"
    terminal.ok("forget", attached["id"])
    assert terminal.json("impact", "decode")["annotations"] == []
    assert "use one of invariant" in terminal.refused("annotate", "decode", "x", "--kind", "rule")


def test_a_project_is_indexed_and_asked(terminal: Terminal) -> None:
    shown = terminal.ok("index")
    assert "4 files" in shown
    done = terminal.json("index")
    assert (done["read"], done["totals"]["files"], done["complete"]) == (0, 4, True)
    found = terminal.json("impact", "decode")
    assert found["score"] == pytest.approx(sum(each["score"] for each in found["dependents"]), abs=0.001)
    assert found["node"] == "app/tokens.py::decode"
    assert [each["id"] for each in found["dependents"]][:2] == ["app/tokens.py::verify", "app/login.py::login"]
    assert found["tests"] == ["tests/test_login.py::test_login"]
    assert found["status"]["up_to_date"] is True
    assert "tests/test_login.py::test_login" in terminal.ok("impact", "decode")
    assert terminal.json("deps", "login")["dependencies"][0]["id"] == "app/tokens.py::verify"
    assert "calls app/tokens.py::verify" in terminal.ok("deps", "login", "--to", "decode")
    assert terminal.json("deps", "login", "--to", "test_login")["route"] is None
    assert "app/tokens.py::decode" in terminal.ok("deps", "verify", "--flow")
    assert "app/tokens.py" in [each["path"] for each in terminal.json("related", "app/login.py")["related"]]
    assert terminal.json("map")["modules"]
    status = {"stale": [], "incomplete": False, "guessed": [], "definitions_only": [], "notes": [], "up_to_date": True}
    whole = {"left_out": 0, "status": status}
    assert terminal.json("map", "--cycles") == {"cycles": [], **whole}
    assert terminal.json("map", "--entries") == {"entries": [], "tests_left_out": 0, **whole}


def test_uses_that_are_not_resolved_are_counted_and_listed(terminal: Terminal) -> None:
    written(terminal.folder, {"app/odd.py": "from app.login import login\n\n\ndef odd(it):\n    it.decode()\n"})
    terminal.ok("index")
    found = terminal.json("impact", "decode")
    assert (found["unresolved"], found["unresolved_total"]) == ([{"name": "decode", "uses": 1}], 1)
    assert "1 use of decode could not be resolved and may be of it: --unresolved lists them" in terminal.ok(
        "impact", "decode"
    )
    (use,) = terminal.json("impact", "decode", "--unresolved")["uses"]
    assert use == {"origin": "app/odd.py::odd", "name": "decode", "text": "it.decode", "line": 5}
    assert "app/odd.py:5" in terminal.ok("deps", "odd", "--unresolved")
    assert "1 use of decode in it could not be resolved" in terminal.ok("deps", "odd")
    assert "every use is resolved" in terminal.ok("deps", "login", "--unresolved")
    shown = terminal.ok("impact", "odd")
    assert "nothing depends on it" in shown
    written(terminal.folder, {"app/late.py": "import app.odd\n"})
    shown = terminal.ok("impact", "odd")
    assert "no certain dependent" in shown
    assert "for the whole file app/odd.py instead: files that import it" in shown


def test_files_of_tests_without_named_tests_have_no_number_of_tests(terminal: Terminal) -> None:
    spec = 'import { decode } from "./tokens";\n\ntest("a", () => { decode(); });\n'
    written(terminal.folder, {"web/tokens.ts": "export function decode() {}\n", "web/tokens.test.ts": spec})
    terminal.ok("index")
    shown = terminal.ok("impact", "web/tokens.ts:decode").splitlines()
    listed = shown[shown.index("tests that reach it, by file") + 1]
    assert listed.split() == ["web/tokens.test.ts"]


def test_uses_in_languages_without_calls_are_not_called_resolved(terminal: Terminal) -> None:
    written(terminal.folder, {"Widget.java": "class Widget { void draw() { unknown(); } }\n"})
    terminal.ok("index")
    shown = terminal.ok("deps", "draw", "--unresolved")
    assert "no uses are known" in shown
    assert "every use is resolved" not in shown


def test_possible_users_in_languages_without_calls_are_listed(terminal: Terminal) -> None:
    user = "class Page {\n  void show(Widget w) {\n    w.draw();\n  }\n}\n"
    written(terminal.folder, {"Widget.java": "class Widget { void draw() { } }\n", "Page.java": user})
    terminal.ok("index")
    shown = terminal.ok("impact", "draw")
    assert "no certain dependent" in shown
    assert "1 use of draw could not be resolved and may be of it" in shown
    assert "definitions only in java: users are known by name only" in shown
    assert "Page.java:3" in terminal.ok("impact", "draw", "--unresolved")


def test_nothing_is_certain_while_files_are_left_out(terminal: Terminal) -> None:
    modules = {f"app/part_{n}.py": f"def part_{n}(): ...\n" for n in range(120)}
    written(terminal.folder, modules)
    terminal.ok("index")
    assert "nothing depends on it" in terminal.ok("impact", "part_7")
    written(terminal.folder, {path: f"import app.tokens\n\n\n{text}" for path, text in modules.items()})
    shown = terminal.ok("impact", "part_7")
    assert "left out" in shown
    assert "no uses are known" in shown
    assert "nothing depends on it" not in shown


def test_paths_are_relative_to_the_current_folder(terminal: Terminal) -> None:
    terminal.ok("index")
    inside = Terminal(terminal.folder / "app", terminal.environment)
    for name in ("login.py", "./login.py", "../app/login.py", "app/login.py", f"{terminal.folder}/app/login.py"):
        assert inside.json("impact", name)["node"] == "app/login.py"
    assert inside.json("deps", "./login.py:login", "--to", "./tokens.py")["route"]
    assert inside.json("related", "login.py")["path"] == "app/login.py"
    assert inside.json("impact", ".")["node"] == "app/"
    assert "outside" in inside.run("impact", "../../x.py").stderr
    guessed = terminal.json("impact", "decod")["status"]["guessed"]
    assert guessed == [{"asked": "decod", "taken_for": "app/tokens.py::decode"}]
    assert "no `decod`; used app/tokens.py::decode instead" in terminal.ok("impact", "decod")


def test_lists_respect_the_limit_and_report_what_they_leave_out(terminal: Terminal) -> None:
    routes = "".join(f"@app.route('/page/{n}')\ndef page_{n}(): ...\n\n\n" for n in range(30))
    written(terminal.folder, {"app/pages.py": f"from flask import Flask\napp = Flask(__name__)\n\n\n{routes}"})
    terminal.ok("index")
    assert len(terminal.json("map", "--entries")["entries"]) == 30
    cut = terminal.json("map", "--entries", "--limit", "2")
    assert (len(cut["entries"]), cut["left_out"]) == (2, 28)
    shown = terminal.ok("map", "--entries", "--limit", "2")
    assert shown.count("app/pages.py::page_") == 2
    assert "28 more" in shown
    cut = terminal.json("deps", "verify", "--flow", "--limit", "1")
    assert (len(cut["sources"]), len(cut["sinks"])) == (1, 1)
    assert cut["left_out"] > 0
    cut = terminal.json("map", "--limit", "1")
    assert (len(cut["modules"]), cut["left_out"]) == (1, len(terminal.json("map")["modules"]) - 1)


@pytest.mark.parametrize("columns", ["40", "80"])
def test_an_id_is_never_broken_whatever_the_terminal(terminal: Terminal, columns: str) -> None:
    long = "app/a_rather_long_folder_name_for_a_package/and_a_module_with_a_long_name.py"
    called = "a_function_whose_name_alone_would_fill_half_of_a_line"
    written(terminal.folder, {long: f"from app.tokens import decode\n\n\ndef {called}(token):\n    decode(token)\n"})
    terminal.ok("index")
    asked = (("impact", "decode"), ("deps", called), ("deps", called, "--to", "decode"), ("deps", called, "--flow"))
    for arguments in asked:
        done = terminal.run(*arguments, COLUMNS=columns)
        assert f"{long}::{called}" in done.stdout.split()


def test_the_status_is_shown_until_the_index_is_removed(terminal: Terminal) -> None:
    terminal.ok("remember", "Tokens are opaque", "--file", "app/tokens.py")
    done = terminal.json("index")
    found = terminal.json("index", "--status")
    assert (found["totals"], found["current"], found["writer"]) == (done["totals"], True, "")
    assert "complete" in terminal.ok("index", "--status")
    assert terminal.json("stats")["code"] == found
    assert f"{terminal.folder}: 4 files" in " ".join(terminal.ok("stats").split())
    assert [each for each in terminal.json("doctor")["checks"] if each["name"] == "code" and each["fine"]]
    assert "pass --yes" in terminal.refused("index", "--forget")
    assert terminal.json("index", "--forget", "--yes")["forgotten"] == found
    assert "treering index" in terminal.refused("index", "--status")
    assert "treering index" in terminal.refused("impact", "decode")
    assert terminal.json("stats")["records"]["knowledge"] == 1
    assert terminal.json("index")["read"] == 4


def test_a_damaged_scip_index_is_noticed_before_anything_is_indexed(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "index.scip").write_bytes(b"no index at all")
    assert "index.scip" in terminal.refused("index", "--scip", str(tmp_path / "index.scip"))
    assert "treering index" in terminal.refused("index", "--status")


def test_an_impact_shows_memories(terminal: Terminal) -> None:
    terminal.ok("index")
    terminal.ok("remember", "Tokens are opaque", "--file", "app/tokens.py")
    assert "Tokens are opaque" in terminal.ok("impact", "decode")


def test_an_edit_is_seen_by_the_next_command(terminal: Terminal) -> None:
    terminal.ok("index")
    written(terminal.folder, {"app/login.py": "def login(token):\n    return token\n"})
    assert [each["id"] for each in terminal.json("impact", "verify")["dependents"]] == []


def test_another_folder_can_be_named(terminal: Terminal, tmp_path: Path) -> None:
    other = written(tmp_path / "other", {"x.go": "package x\n\nfunc Do() {}\n"})
    assert terminal.json("index", str(other))["root"] == str(other)
    assert Terminal(other, terminal.environment).json("impact", "Do")["node"] == "x.go::Do"


def test_a_map_is_drawn(terminal: Terminal, tmp_path: Path) -> None:
    terminal.ok("index")
    page, picture = tmp_path / "map.html", tmp_path / "map.svg"
    terminal.ok("map", "--html", str(page), "--svg", str(picture))
    drawn = ElementTree.parse(picture).getroot()
    names = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert any("app" in (name or "") for name in names)
    html = page.read_text()
    assert "<svg" in html
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    assert "cannot be written" in terminal.refused("map", "--svg", str(tmp_path / "nowhere" / "map.svg"))
    terminal.ok("map", "--html", str(page), "--svg", str(picture))
    page.write_text("<!doctype html>\n<title>precious</title>")
    assert "--force" in terminal.refused("map", "--html", str(page))
    assert "precious" in page.read_text()
    terminal.ok("map", "--html", str(page), "--force")
    assert "precious" not in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("impact", "nothing_like_this"), "nothing_like_this"),
        (("index", "nowhere"), "not a readable folder"),
        (("deps", "login", "--to", "decode", "--flow"), "pass one"),
        (("map", "--cycles", "--entries"), "pass one"),
        (("map", "--cycles", "--svg", "x.svg"), "leave out --cycles"),
        (("index", "--watch", "--scip", "x.scip"), "cannot be combined with --watch"),
        (("index", "--status", "--forget"), "pass one"),
        (("index", "--status", "--scip", "x.scip"), "pass one"),
        (("index", "--scip", "nowhere.scip"), "cannot be read"),
    ],
)
def test_contradicting_options_are_rejected_in_one_line(
    terminal: Terminal, arguments: tuple[str, ...], told: str
) -> None:
    terminal.ok("index")
    assert told in terminal.refused(*arguments)


def test_nothing_can_be_asked_before_it_is_indexed(terminal: Terminal) -> None:
    assert "treering index" in terminal.refused("impact", "decode")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_watcher_follows_changes_until_a_signal(terminal: Terminal, number: signal.Signals) -> None:
    process = terminal.start_process("index", "--watch", "--json", text=True, start_new_session=True)
    assert process.stdout is not None
    try:
        assert _next_run(process)["read"] == 4
        written(terminal.folder, {"app/new.py": "from app.tokens import verify\nverify(1)\n"})
        assert _next_run(process)["read"] == 1
        # What a branch switch does: many files at once, some of them gone.
        written(terminal.folder, {f"many/file_{n}.py": f"def f{n}(): ...\n" for n in range(SWITCHED_FILES)})
        (terminal.folder / "app/new.py").unlink()
        read = removed = 0
        while read < SWITCHED_FILES or not removed:
            done = _next_run(process)
            read, removed = read + done["read"], removed + done["removed"]
        assert done["totals"]["files"] == SWITCHED_FILES + 4
        assert [each["id"] for each in terminal.json("impact", "app/tokens.py:verify", "--depth", "1")["dependents"]]
        process.send_signal(number)
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.communicate()
    assert _group_is_gone(process.pid)


def _next_run(process: ForkedProcess) -> dict[str, Any]:
    """What was read next; what the history told in between is passed over."""
    assert process.stdout is not None
    while "read" not in (told := json.loads(process.stdout.readline())):
        assert "history" in told
    found: dict[str, Any] = told
    return found


def _group_is_gone(group: int) -> bool:
    """Whether no process that it started is left."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
