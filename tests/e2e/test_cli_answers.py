"""What the command line answers to what people type, through its own door but without a process for each answer."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import treering
from treering.interfaces.cli.app import app
from treering.interfaces.cli.exit_codes import run


class Said(NamedTuple):
    code: int
    out: str
    err: str


Typed = Callable[..., Said]


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Types a command in an empty folder, on a terminal so wide that no line breaks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TREERING_DB", "memory.db")
    monkeypatch.setenv("TREERING_EMBEDDER", "bundled")
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.delenv("TREERING_DEBUG", raising=False)

    def type_in(*arguments: str) -> Said:
        code = run(app, arguments)
        return Said(code, *capsys.readouterr())

    return type_in


def test_filters_narrow(typed: Typed) -> None:
    for command in (
        ("remember", "alpha one", "--id", "k1", "--tag", "x", "--module", "m", "--session", "s1"),
        ("remember", "alpha two", "--id", "k2", "--type", "gotcha", "--source", "qa_auto", "--file", "a.py"),
        ("turn", "alpha three", "--id", "t1", "--session", "s1", "--at", "8 May 2024 1:56 pm"),
        ("turn", "alpha four", "--id", "t2", "--session", "s2", "--role", "assistant", "--speaker", "bo"),
    ):
        assert typed(*command).code == 0

    def ids(*filters: str) -> set[str]:
        return {hit["id"] for hit in json.loads(typed("search", "alpha", *filters, "--json").out)["hits"]}

    assert ids() == {"k1", "k2", "t1", "t2"}
    assert ids("--knowledge-only") == ids("--min-confidence", "0.5") == {"k1", "k2"}
    assert ids("--turns-only") == ids("--role", "user", "--role", "assistant") == {"t1", "t2"}
    assert ids("--session", "s1") == {"k1", "t1"}
    assert ids("--tag", "x") == ids("--module", "m") == ids("--min-confidence", "0.9") == {"k1"}
    assert ids("--type", "gotcha") == ids("--file", "a.py") == {"k2"}
    assert ids("--before", "2024-06-01") == {"t1"}
    assert ids("--since", "June 2024") == {"k1", "k2", "t2"}
    assert len(ids("--limit", "2")) == 2


def test_a_duplicate_gives_way(typed: Typed) -> None:
    typed("remember", "Ship on Tuesdays", "--id", "a")
    typed("remember", "Tuesdays are for shipping", "--id", "b")

    assert "b is superseded by" in typed("correct", "b", "--reason", "duplicate", "--duplicate-of", "a").out
    assert [hit["id"] for hit in json.loads(typed("search", "tuesdays", "--json").out)["hits"]] == ["a"]


def test_a_terminal_never_obeys_what_is_stored(typed: Typed) -> None:
    hostile = "red \x1b[31malert\x1b]0;title\x07 \u202eabc"
    typed("remember", hostile, "--id", "h")

    shown = typed("get", "h").out + typed("search", "alert").out + typed("history", "h").out

    assert "alert" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert json.loads(typed("get", "h", "--json").out)["content"] == hostile


def test_each_repository_has_a_memory_of_its_own(typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TREERING_DB")
    monkeypatch.setenv("TREERING_DATA_DIR", str(tmp_path / "data"))
    found = []
    for name in ("one", "two"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / "src").mkdir()
        monkeypatch.chdir(tmp_path / name)
        typed("remember", f"only in {name}")
        monkeypatch.chdir(tmp_path / name / "src")
        found.append(json.loads(typed("stats", "--json").out))

    assert [stats["records"]["knowledge"] for stats in found] == [1, 1]
    assert found[0]["location"] != found[1]["location"]
    assert found[0]["project"].startswith("one-")


def test_a_person_is_believed_more_than_a_program(typed: Typed) -> None:
    def confidence(*options: str) -> float:
        return float(json.loads(typed("remember", f"x {options}", *options, "--json").out)["confidence"])

    assert confidence() == 0.95
    assert confidence("--source", "qa_auto") == 0.8
    assert confidence("--confidence", "0.3") == 0.3


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        (("get", "nope"), "NotFound", "no record with id 'nope' in project 'test_what"),
        (("confirm", "nope"), "NotFound", "`treering search` shows ids"),
        (("history", "nope"), "NotFound", "no record ever had the id 'nope'"),
        (("undo", "nope"), "NotFound", "no record with id 'nope'"),
        (("remember", "x", "--type", "opinion"), "InvalidInput", "unknown knowledge type 'opinion'; use one of causal"),
        (("search", "x", "--type", "opinion"), "InvalidInput", "unknown knowledge type 'opinion'"),
        (("remember", "x", "--source", "rumour"), "InvalidInput", "source: Input should be 'agent_explicit'"),
        (("remember", "x", "--confidence", "7"), "InvalidInput", "confidence"),
        (("remember", "x", "--file", "../up.py"), "InvalidInput", "is outside the project"),
        (("remember", ""), "InvalidInput", "content"),
        (("turn", "x", "--session", "s", "--at", "someday"), "InvalidInput", "'someday' is not a date"),
        (("turn", "x", "--session", "s", "--role", "boss"), "InvalidInput", "role: Input should be 'user'"),
        (("search", "x", "--since", "someday"), "InvalidInput", "'someday' is not a date"),
        (("search", "x", "--role", "user", "--tag", "t"), "InvalidInput", "drop one of the filters"),
        (("search", "x", "--limit", "0"), "InvalidInput", "limit is 0; pass 1 to 1000"),
        (("search", "x", "--phase", "lunch"), "InvalidInput", "'lunch' is not a phase; use one of define"),
        (("context", "x", "--budget", "-1"), "InvalidInput", "the budget is -1"),
        (("search", "x", "--in-play", "../up.py"), "InvalidInput", "is outside the project"),
        (("correct", "x", "--reason", "boring"), "InvalidInput", "'boring' is not a reason; use one of inaccurate"),
        (("correct", "x", "--reason", "duplicate"), "InvalidInput", "needs duplicate_of"),
        (("forget", "x", "--hard"), "InvalidInput", "pass --yes"),
        (("import", "no-such-file"), "InvalidInput", "no-such-file does not exist"),
        (("import", "note.txt"), "InvalidInput", "line 1 is not JSON"),
        (("export", "no/such/folder.jsonl"), "StoreReadOnly", "the folder no/such does not exist; create it first"),
        (("backup", "note.txt"), "InvalidInput", "exists already"),
        (("stats", "--db", "note.txt"), "NotADatabase", "not a SQLite database"),
        (("stats", "--db", "."), "NotADatabase", "is a folder"),
        (("stats", "--db", "no/such/folder.db"), "StoreReadOnly", "create it first"),
        (("stats", "--db", "mysql://host/db"), "InvalidInput", "mysql: URLs are not supported"),
        (("stats", "--db", "postgresql://treering@127.0.0.1:1/none"), "StoreUnavailable", "127.0.0.1"),
        (("remembr", "x"), "Usage", "Did you mean 'remember'"),
        (("turn", "x"), "Usage", "--session"),
        (("search", "--limit", "many"), "Usage", "`treering search --help` for usage"),
        (("get",), "Usage", "ID"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_done_is_said_in_one_line(
    typed: Typed, tmp_path: Path, arguments: tuple[str, ...], kind: str, says: str
) -> None:
    (tmp_path / "note.txt").write_text("this is a note, not a memory; " * 10)
    code = 2 if kind == "Usage" else 1

    told = typed(*arguments)
    document = json.loads(typed(*arguments, "--json").err)

    assert (told.code, told.out) == (code, "")
    assert told.err.startswith("error: ")
    assert told.err.count("\n") == 1
    assert says in told.err
    assert document == {"error": told.err.removeprefix("error: ").strip(), "kind": kind}


def test_our_own_mistake_is_admitted_and_traced_on_request(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("no rings")

    monkeypatch.setattr(treering.Memory, "stats", broken)

    told = typed("stats")
    monkeypatch.setenv("TREERING_DEBUG", "1")
    traced = typed("stats")

    assert (told.code, told.err.count("\n")) == (70, 1)
    assert "unexpected ZeroDivisionError: no rings" in told.err
    assert "TREERING_DEBUG=1" in told.err
    assert "Traceback" in traced.err


def test_an_interrupted_command_is_quiet(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(treering.Memory, "stats", interrupted)
    assert typed("stats") == Said(130, "", "")


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1)])
def test_for_good_asks_first(typed: Typed, monkeypatch: pytest.MonkeyPatch, answer: str, code: int) -> None:
    import io
    import sys

    typed("remember", "x", "--id", "x")
    keyboard = io.StringIO(answer)
    monkeypatch.setattr(keyboard, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", keyboard)

    asked = typed("forget", "x", "--hard")

    assert asked.code == code
    assert "for good" in asked.out
    assert typed("get", "x").code == 1 - code


def test_repair_saves_what_is_readable_of_a_damaged_file(typed: Typed, tmp_path: Path) -> None:
    with treering.open("memory.db") as memory:
        for number in range(200):
            memory.remember(f"number {number} {'x' * 300}")
    whole = (tmp_path / "memory.db").read_bytes()
    (tmp_path / "memory.db").write_bytes(whole[: len(whole) * 2 // 3])

    examined = typed("doctor")
    repaired = json.loads(typed("doctor", "--repair", "--json").out)

    assert examined.code == 1
    assert "doctor --repair" in examined.out
    assert repaired["healthy"] is False
    assert all(check["fine"] for check in repaired["checks"])
    assert repaired["salvaged"]["saved"]["knowledge"] > 0
    assert repaired["salvaged"]["lost"] != []
    assert len(Path(repaired["salvaged"]["kept_aside"]).read_bytes()) == len(whole) * 2 // 3
    assert typed("search", "number").code == 0


@pytest.mark.parametrize("content", ["text", "database"])
def test_repair_never_touches_what_is_not_ours(typed: Typed, tmp_path: Path, content: str) -> None:
    import sqlite3
    from contextlib import closing

    if content == "text":
        (tmp_path / "memory.db").write_text("this is a note, not a memory; " * 10)
    else:
        with closing(sqlite3.connect(tmp_path / "memory.db")) as other:
            other.executescript("CREATE TABLE notes (note); INSERT INTO notes VALUES ('mine');")

    told = typed("doctor", "--repair")

    assert told.code == 1
    assert re.search("choose another path|nothing in it can be saved", told.out)
    assert list(tmp_path.glob("*.damaged*")) == []
    if content == "database":
        with closing(sqlite3.connect(tmp_path / "memory.db")) as other:
            assert other.execute("SELECT note FROM notes").fetchall() == [("mine",)]


def test_import_names_what_it_left_as_it_is(typed: Typed) -> None:
    typed("remember", "one", "--id", "x")
    typed("export", "x.jsonl")
    typed("remember", "another", "--id", "x", "--db", "other.db")

    assert "not changed, although the file differs: knowledge x" in typed("import", "x.jsonl", "--db", "other.db").out


def test_import_names_the_kinds_that_it_skipped(typed: Typed, tmp_path: Path) -> None:
    lines = ({"treering": 1}, {"kind": "graph_node", "value": {}}, {"end": {"graph_node": 1}})
    (tmp_path / "old.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    assert "skipped, no longer stored: 1 × graph_node" in typed("import", "old.jsonl").out
