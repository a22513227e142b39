"""`treering patterns` as people and scripts use it, on both engines: through its own door, and as real processes."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import treering
from tests.e2e.terminal import Terminal
from treering.interfaces.cli.app import app
from treering.interfaces.cli.exit_codes import run
from treering.interfaces.cli.patterns.commands import VERBS
from treering.memory import Memory

Typed = Callable[..., str]
FIX: dict[str, Any] = {"task_type": "fix", "domain": "backend"}
ROUTINE = [{"action": "test", "tool": "pytest"}, {"action": "tag", "tool": "git"}, {"action": "push", "tool": "docker"}]


def work_with(memory: Memory, id: str, *, easy: int = 20, hard: int = 0) -> None:
    """Sessions in which a pattern was used, as many without it that mostly fail, and hard ones in which it failed."""
    for number in range(easy):
        done = memory.episode("Fix the orders", id=f"{id}-{number}", session=f"{id}{number}", complexity=0.2, **FIX)
        memory.patterns.record_application(id, episode=done.id)
        went = "SUCCESS" if number % 5 < 2 else "FAILURE"
        memory.episode("Fix the mails", session=f"without {id} {number}", outcome=went, complexity=0.2, **FIX)
    for number in range(hard):
        told: dict[str, Any] = {"outcome": "FAILURE", "complexity": 0.9, **FIX}
        done = memory.episode("Fix the importer", id=f"{id}-hard-{number}", session=f"{id} hard {number}", **told)
        memory.patterns.record_application(id, episode=done.id)


@dataclass(frozen=True)
class Shop:
    """A project on the engine of this test, its command line and its memory."""

    where: dict[str, str]
    capsys: pytest.CaptureFixture[str]

    def ok(self, *arguments: str) -> str:
        assert run(app, ("patterns", *arguments)) == 0
        return self.capsys.readouterr().out

    def json(self, *arguments: str) -> Any:
        return json.loads(self.ok(*arguments, "--json"))

    def refused(self, *arguments: str) -> str:
        assert run(app, ("patterns", *arguments)) == 1
        return self.capsys.readouterr().err

    def memory(self) -> Memory:
        return treering.open(self.where["TREERING_DB"], project="shop", tenant=self.where["TREERING_TENANT"])


@pytest.fixture
def shop(
    tmp_path: Path,
    engine: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shop:
    place = str(tmp_path / "memory.db") if engine == "sqlite" else str(request.getfixturevalue("postgres_url"))
    where = {"TREERING_DB": place, "TREERING_TENANT": f"t-{uuid4().hex[:12]}", "TREERING_PROJECT": "shop"}
    for name, value in {**where, "TREERING_EMBEDDER": "bundled", "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return Shop(where, capsys)


def test_real_commands_on_a_real_terminal(tmp_path: Path, shop: Shop) -> None:
    terminal = Terminal(tmp_path, shop.where)
    kept = terminal.json("patterns", "add", "Read the log", "--approach", "look first", "--id", "log")
    assert kept["status"] == "CANDIDATE"
    assert "counted as SUCCESS" in terminal.ok("patterns", "apply", "log", "--outcome", "success", "--session", "s")
    assert "1 judged, none moved" in terminal.ok("patterns", "validate")
    text = terminal.ok("patterns", "export")
    counts = terminal.json("patterns", "import", "-", "--project", "elsewhere", stdin=text.encode())
    assert counts == {"added": ["log"], "updated": [], "left": {}}
    assert "no pattern 'nobody'" in terminal.refused("patterns", "show", "nobody")
    complaint = terminal.run("patterns", "show", "nobody", "--json")
    assert json.loads(complaint.stderr)["kind"] == "NotFound"


def test_the_life_of_a_pattern(shop: Shop) -> None:
    """Told, proven by sessions, suggested, doubted where it fails, narrowed, and out of use in the end."""
    told = shop.json(
        *("add", "Reproduce first", "--approach", "Write the failing test", "--id", "repro"),
        *("--problem-type", "fix", "--domain", "backend", "--principle", "one cause at a time", "--complexity", "0..1"),
    )
    assert (told["kind"], told["status"], told["content"]["principles"]) == (
        "pattern",
        "CANDIDATE",
        ["one cause at a time"],
    )
    task = ("find", "Fix the crash of the backend")
    assert shop.json(*task) == {"task": "Fix the crash of the backend", "patterns": []}
    with shop.memory() as memory:
        work_with(memory, "repro")

    would = shop.json("validate", "--dry-run")
    assert [(each["id"], each["status"], each["moved"]) for each in would["patterns"]] == [("repro", "VALIDATED", True)]
    assert shop.json("list")["patterns"][0]["status"] == "CANDIDATE"
    assert "CANDIDATE → VALIDATED" in shop.ok("validate")

    (found,) = shop.json(*task)["patterns"]
    assert found["pattern"]["id"] == "repro"
    assert found["score"] == pytest.approx(sum(found["terms"].values()))
    shown = shop.json("show", "repro")
    assert sum(week["sessions"] for week in shown["weeks"]) == shown["evidence"]["sessions"] == 20
    assert shown["in_words"]["applies"] == ["task type is fix", "domain is backend"]
    assert len(shown["evidence"]["supporting"]) == 20

    with shop.memory() as memory:
        work_with(memory, "repro", easy=0, hard=12)
    assert "VALIDATED → UNDER_REVIEW" in shop.ok("validate")
    assert shop.json(*task)["patterns"] == []
    reviewed = shop.json("review", "repro")
    assert (reviewed["succeeded"], len(reviewed["failed"])) == (20, 12)

    would = shop.json("refine", "repro", "--dry-run")
    refined = shop.json("refine", "repro")
    assert (would["changes"], would["after"]["applicability"]) == (
        refined["changes"],
        refined["after"]["applicability"],
    )
    (change,) = refined["changes"]
    assert change["added"]
    assert "complexity" in change["line"]
    assert (refined["after"]["status"], refined["after"]["evidence"]["generation"]) == ("CANDIDATE", 2)
    assert shop.json("diff", "repro")["changes"] == [change]
    assert f"+ {change['line']}" in shop.ok("diff", "repro")

    gone = shop.json("deprecate", "repro", "--reason", "nobody writes tests")
    assert (gone["status"], gone["deprecation_reason"]) == ("DEPRECATED", "nobody writes tests")
    moves = [
        (each["detail"].get("from"), each["detail"]["to"]) for each in shop.json("show", "repro")["status_history"]
    ]
    assert moves[:4] == [
        ("CANDIDATE", "DEPRECATED"),
        ("UNDER_REVIEW", "CANDIDATE"),
        ("VALIDATED", "UNDER_REVIEW"),
        ("CANDIDATE", "VALIDATED"),
    ]
    assert "e value" in shop.ok("history", "repro")
    assert "deprecated" in shop.refused("refine", "repro")


def test_patterns_are_mined_merged_and_carried(shop: Shop) -> None:
    with shop.memory() as memory:
        for number in range(8):
            memory.episode(
                "Release the shop", id=f"r{number}", session=f"r{number}", trace=ROUTINE, task_type="release"
            )
    would = shop.json("mine", "--dry-run")["candidates"]
    assert shop.json("list")["patterns"] == []
    assert shop.json("mine")["candidates"] == would
    routine = next(each for each in would if each["category"] == "sequence")
    assert (routine["support"], routine["against"]) == (8, 0)
    assert set(routine["supporting"]) == {f"r{number}" for number in range(8)}
    assert shop.json("show", routine["key"])["evidence"]["applications"] == 0
    assert shop.json("mine")["candidates"] == would
    assert len(shop.json("list")["patterns"]) == len(would)

    for name in ("one", "two"):
        shop.ok("add", "Read the log first", "--step", "open the log", "--step", "read it", "--id", name)
        shop.ok("apply", name, "--outcome", "success", "--session", name, "--time-saved", "500")
    (alike,) = shop.json("similar", "one")["similar"]
    assert alike["pattern"]["id"] == "two"
    merged = shop.json("merge", "one", "two")
    assert shop.json("show", "one")["links"]["superseded_by"] == merged["id"]
    assert sum(week["sessions"] for week in shop.json("show", merged["id"])["weeks"]) == 2

    shop.ok("export", "all.yaml", "--status", "candidate")
    elsewhere = ("--project", "elsewhere")
    counts = shop.json("import", "all.yaml", *elsewhere)
    assert len(counts["added"]) == len(would) + 1
    assert {each["status"] for each in shop.json("list", *elsewhere)["patterns"]} == {"CANDIDATE"}
    again = shop.json("import", "all.yaml", *elsewhere)
    assert (again["added"], set(again["left"])) == ([], set(counts["added"]))
    assert f"skipped, {again['left'][merged['id']]}  {merged['id']}" in shop.ok("import", "all.yaml", *elsewhere)
    text = shop.ok("export", "--format", "json", *elsewhere)
    assert {each["id"] for each in json.loads(text)["patterns"]} >= {merged["id"], routine["key"]}
    assert shop.json("prune", "--dry-run")["pruned"] == []


@pytest.fixture(scope="session")
def with_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with one template, made once and copied for each test."""
    path = tmp_path_factory.mktemp("template") / "memory.db"
    content = {
        "form": "template",
        "structure": [{"title": "Write {what}", "depends_on": ["Plan {what}"]}, {"title": "Plan {what}"}],
        "parameters": [{"name": "what"}],
    }
    told = {"applicability": {"capabilities": ["git"]}, "guidance": {"when": "it is \x1b[31mnew"}}
    with treering.open(path, project="shop") as memory:
        memory.patterns.add(id="twice", name="Write it twice", category="decomposition", content=content, **told)
    return path


@pytest.fixture
def typed(
    tmp_path: Path, with_template: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Typed:
    """Types a command on a wide terminal; what it says is returned."""
    shutil.copy(with_template, tmp_path)
    monkeypatch.chdir(tmp_path)
    told = {"TREERING_DB": "memory.db", "TREERING_PROJECT": "shop", "TREERING_EMBEDDER": "bundled", "COLUMNS": "200"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)

    def type_in(*arguments: str) -> str:
        assert run(app, arguments) == 0
        return capsys.readouterr().out

    return type_in


def test_a_template_is_filled_in(typed: Typed) -> None:
    assert "1  Plan the parser\n2  Write the parser\n" in typed(
        "patterns", "show", "twice", "--with", "what=the parser"
    )
    made = json.loads(typed("patterns", "show", "twice", "--with", "what=a=b", "--json"))
    assert [each["title"] for each in made["subtasks"]] == ["Plan a=b", "Write a=b"]


def test_a_template_that_needs_no_value_is_filled_in_without_one(typed: Typed) -> None:
    content = {
        "form": "template",
        "structure": [{"title": "Release {id}"}],
        "parameters": [{"name": "id", "default": "the next one", "required": False}],
    }
    typed("patterns", "add", "Release it", "--id", "release", "--content", json.dumps(content))
    assert "1  Release the next one\n" in typed("patterns", "show", "release", "--fill")
    assert "1  Release 5\n" in typed("patterns", "show", "release", "--with", "id=5")
    assert "1  Release\n" in typed("patterns", "show", "release", "--fill", "--with", "id=")


def test_conditions_are_told_as_json_and_shown_in_words(typed: Typed) -> None:
    test = {"form": "test", "field": "languages", "operator": "eq", "value": "python"}
    typed(
        "patterns",
        "add",
        "x",
        "--approach",
        "y",
        "--id",
        "x",
        "--only-if",
        json.dumps(test),
        "--not-if",
        json.dumps(test),
    )
    shown = typed("patterns", "show", "x")
    assert "only where languages is python" in shown
    assert "not where languages is python" in shown


def test_what_a_terminal_would_obey_is_shown_not_obeyed(typed: Typed) -> None:
    shown = typed("patterns", "show", "twice")
    assert "it is ␛[31mnew" in shown
    assert "\x1b" not in shown


def test_an_episode_counts_once_and_says_what_came_of_it(typed: Typed) -> None:
    typed("episode", "Write the parser", "--id", "e1", "--outcome", "failure", "--session", "monday")
    first = json.loads(typed("patterns", "apply", "twice", "--episode", "e1", "--json"))
    again = json.loads(typed("patterns", "apply", "twice", "--episode", "e1", "--json"))
    assert (first["kind"], first["outcome"], first["session"]) == ("application", "FAILURE", "monday")
    assert again["id"] == first["id"]
    assert "used        1 time," in typed("patterns", "show", "twice")


def test_candidates_are_found_only_when_asked_for(typed: Typed) -> None:
    assert "no pattern applies" in typed("patterns", "find", "write the parser", "--tool", "git")
    asked = ("patterns", "find", "write the parser", "--status", "candidate", "--category", "decomposition")
    assert "Write it twice" in typed(*asked, "--tool", "git")
    assert "no pattern applies" in typed(*asked, "--tool", "hg")


def test_a_list_is_cut_where_it_says_so(typed: Typed) -> None:
    typed("patterns", "add", "another", "--approach", "y", "--id", "another", "--domain", "backend")
    assert "there are more" in typed("patterns", "list", "--limit", "1")
    assert "there are more" not in typed("patterns", "list", "--limit", "2")
    narrowed = json.loads(typed("patterns", "list", "--domain", "backend", "--json"))
    assert [each["id"] for each in narrowed["patterns"]] == ["another"]
    assert "no patterns" in typed("patterns", "list", "--status", "VALIDATED")


def test_a_change_is_undone_and_compared_by_version(typed: Typed) -> None:
    with treering.open("memory.db", project="shop") as memory:
        memory.patterns.update("twice", name="Write it once")
    assert "− name: Write it twice" in typed("patterns", "diff", "twice")
    with treering.open("memory.db", project="shop") as memory:
        memory.patterns.update("twice", summary="once is enough", links={"complements": ["once"]})
    changed = typed("patterns", "diff", "twice")
    assert "+ in short: once is enough" in changed
    assert "+ complements: once" in changed
    typed("undo", "twice")
    assert "+ name: Write it once" in typed("patterns", "diff", "twice", "--version", "1")
    assert "Write it twice" in typed("undo", "twice")
    assert json.loads(typed("patterns", "show", "twice", "--json"))["name"] == "Write it twice"


def test_a_pattern_is_forgotten_and_brought_back_as_any_record(typed: Typed) -> None:
    typed("patterns", "apply", "twice", "--outcome", "success")
    assert "undo twice" in typed("forget", "twice")
    assert "no patterns" in typed("patterns", "list")
    assert "decomposition pattern, CANDIDATE" in typed("undo", "twice")
    gone = json.loads(typed("forget", "twice", "--hard", "--yes", "--json"))
    assert gone["proof"]["clean"]
    assert json.loads(typed("stats", "--json"))["records"]["patterns"] == 0


@pytest.mark.parametrize("verb", [verb.__name__.rstrip("_") for _, verbs in VERBS for verb in verbs])
def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    assert run(app, ("patterns", verb, "--help")) == 0
    assert "--json" in capsys.readouterr().out
    assert run(app, ("patterns",)) == 0
    assert f" {verb} " in capsys.readouterr().out


WRONG_USE = [
    (("show", "twice", "--with", "what"), "NAME=VALUE"),
    (("show", "twice", "--with", "what=a", "--with", "what=b"), "'what' twice, 'a' and 'b'; keep one"),
    (("find", "x", "--status", "good"), "--status is 'GOOD'; use CANDIDATE, VALIDATED"),
    (("find", "x", "--category", "magic"), "--category is 'magic'; use strategy, decomposition"),
    (("find", "x", "--context", "[]"), 'write one such as \'{"branch": "main"}\''),
    (("find", "x", "--context", "main"), 'write an object such as \'{"branch": "main"}\''),
    (("find", "x", "--limit", "0"), "greater than or equal to 1"),
    (("find", "x", "--complexity", "7"), "less than or equal to 1"),
    (("list", "--limit", "0"), "greater than or equal to 1"),
    (("list", "--limit", "-3"), "greater than or equal to 1"),
    (("list", "--limit", "99999999999999999999"), "less than or equal to"),
    (("similar", "twice", "--limit", "0"), "greater than or equal to 1"),
    (("list", "--category", "magic"), "use strategy, decomposition"),
    (("list", "--status", "good"), "use CANDIDATE, VALIDATED"),
    (("add", "x"), "the content is missing; give one of --approach, --step, --content"),
    (("add", "x", "--approach", "y", "--step", "z"), "--approach and --step exclude each other; give one of"),
    (("add", "x", "--step", "y", "--principle", "z"), "only goes with --approach"),
    (("add", "x", "--approach", "y", "--complexity", "hard"), "0.2..0.8"),
    (("add", "x", "--approach", "y", "--complexity", "0.8..0.2"), "lower end first"),
    (("add", "x", "--approach", "y", "--category", "magic"), "--category is 'magic'; use"),
    (("add", "x", "--approach", "y", "--only-if", "complexity < 1"), "not JSON"),
    (("add", "x", "--approach", "y", "--only-if", "{}"), 'set "form" to one of test, all, any, not'),
    (("add", "x", "--approach", "y", "--not-if", '{"form": "code"}'), 'set "form" to one of test, all, any, not'),
    (
        ("add", "x", "--approach", "y", "--only-if", '{"form": "all", "conditions": [{"field": "a"}]}'),
        '--only-if at conditions.0 has no valid form; set "form"',
    ),
    (("add", "x", "--approach", "y", "--only-if", '{"form": "test", "field": "a"}'), "--only-if at operator: Field"),
    (("add", "x", "--approach", "y", "--detail", '{"status": "VALIDATED"}'), "status cannot be set"),
    (("add", "x", "--approach", "y", "--detail", '{"name": "z"}'), "use NAME instead"),
    (("add", "x", "--content", '{"form": "wish"}'), '"form" to one of strategy, template, heuristic, procedure'),
    (("add", "x", "--content", '{"approach": "y"}'), '"form" to one of strategy, template, heuristic, procedure'),
    (("add", "x", "--content", '{"form": "heuristic", "condition": {}, "action": "y"}'), "one of test, all, any, not"),
    (("apply", "twice"), "--outcome, or --episode"),
    (("apply", "twice", "--outcome", "fine"), "--outcome is 'FINE'; use SUCCESS, PARTIAL, FAILURE"),
    (("apply", "twice", "--outcome", "success", "--features", "7"), "not an object"),
    (("apply", "twice", "--outcome", "success", "--at", "never"), "write it as 2026"),
    (("merge", "twice"), "name another one"),
    (("diff", "twice", "--version", "0"), "greater than or equal to 1"),
    (("export", "--format", "xml"), "yaml or json"),
    (("export", "--status", "good"), "use CANDIDATE, VALIDATED"),
]
REFUSED = [
    (("show", "nobody"), "no pattern 'nobody'"),
    (("show", "twice", "--with", "who=me"), "no parameter 'who'"),
    (("show", "twice", "--with", "id=5"), "no parameter 'id'"),
    (("show", "twice", "--fill"), "needs a value for 'what'"),
    (("show", "twice", "--with", "what="), "write what=VALUE"),
    (("show", "twice", "--with", "what= "), "write what=VALUE"),
    (("history", "nobody"), "'nobody' in project 'shop'; `treering patterns list` lists"),
    (("similar", "nobody"), "no pattern"),
    (("add", "other", "--approach", "y", "--id", "twice"), "twice"),
    (("apply", "nobody", "--outcome", "success"), "no pattern"),
    (("apply", "twice", "--episode", "nobody"), "nobody"),
    (("deprecate", "nobody", "--reason", "x"), "no pattern"),
    (("deprecate", "twice", "--reason", "x", "--superseded-by", "twice"), "cannot supersede itself"),
    (("review", "nobody"), "no pattern"),
    (("refine", "nobody"), "no pattern"),
    (("diff", "nobody"), "no pattern"),
    (("diff", "twice"), "--dry-run"),
    (("diff", "twice", "--version", "7"), "no earlier version 7"),
    (("export", "no/such/folder.yaml"), "cannot be written"),
    (("import", "missing.yaml"), "cannot be read"),
    (("import", "broken.yaml"), "line 2"),
    (("import", "binary.yaml"), "UTF-8"),
]


@pytest.mark.parametrize(
    ("arguments", "ends"),
    [(each, (2, says)) for each, says in WRONG_USE] + [(each, (1, says)) for each, says in REFUSED],
)
def test_what_makes_no_sense_is_refused_with_a_reason(
    typed: Typed, capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...], ends: tuple[int, str]
) -> None:
    (tmp_path / "broken.yaml").write_text("treering_patterns: 1\npatterns: [}\n")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe")
    before = typed("patterns", "export")
    code, says = ends
    assert run(app, ("patterns", *arguments)) == code
    complaint = capsys.readouterr()
    assert (complaint.out, complaint.err.count("\n")) == ("", 1)
    assert says in complaint.err
    assert typed("patterns", "export") == before
