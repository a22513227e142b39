"""What the command line answers about episodes, through its own door."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from treering.interfaces.cli.app import app
from treering.interfaces.cli.exit_codes import run

Typed = Callable[..., str]
STEPS = {
    "trace": [
        {"action": "create index", "tool": "psql", "output": "ERROR: relation 17 is locked", "is_error": True},
        {"action": "create index concurrently", "tool": "psql", "output": "CREATE INDEX"},
    ]
}


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Types a command on a wide terminal, with one episode there already; what it says is returned."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"TREERING_DB": "memory.db", "TREERING_EMBEDDER": "bundled", "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "plan.txt").write_text("Index Scan")

    def type_in(*arguments: str) -> str:
        assert run(app, arguments) == 0
        return capsys.readouterr().out

    type_in(
        *("episode", "Add an index to the orders table", "--id", "ix", "--output", "8 ms", "--domain", "database"),
        *("--insight", "a concurrent build does not lock", "--artifact", "plan.txt", "--detail", json.dumps(STEPS)),
    )
    return type_in


def test_an_episode_is_kept_with_its_artifacts_and_shown_whole(typed: Typed) -> None:
    shown = typed("get", "ix")
    for told in ("SUCCESS", "✗ create index (psql)", "plan.txt, text/plain, 10 B", "database", "8 ms", "active"):
        assert told in shown
    assert json.loads(typed("get", "ix", "--json"))["execution"]["trace"][1]["output"] == "CREATE INDEX"


def test_a_secret_that_was_not_stored_is_told(typed: Typed) -> None:
    said = typed("episode", "push", "--output", "with ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    assert "not stored: github_token" in said


@pytest.mark.parametrize(
    "question",
    [
        ("index on orders",),
        ("index on orders", "--mode", "semantic"),
        ("index on orders", "--compare", "task"),
        ("--mode", "structured", "--domain", "database", "--outcome", "success", "--tool", "psql"),
        ("--mode", "recent", "--sessions", "1"),
        ("--mode", "during", "--since", "2020-01-01"),
        ("--around", "ix"),
        ("--since", "2020-01-01"),
    ],
)
def test_every_way_of_looking_finds_it(typed: Typed, question: tuple[str, ...]) -> None:
    assert "Add an index to the orders table" in typed("episodes", *question)
    found = json.loads(typed("episodes", *question, "--json"))
    assert [hit["id"] for hit in found["hits"]] == ["ix"]


def test_a_failure_is_answered_with_the_way_out(typed: Typed) -> None:
    said = typed("episodes", "--failure", "ERROR: relation 5 is locked")
    assert "→ create index concurrently (psql): CREATE INDEX" in said
    assert "! a concurrent build does not lock" in said
    assert json.loads(typed("episodes", "--failure", "ERROR: relation 5 is locked", "--json"))["hits"][0]["same"]
    assert "no episode with this" in typed("episodes", "--failure", "out of paint")


def test_a_trend_is_drawn(typed: Typed) -> None:
    assert "database  1  100%" in typed("episodes", "--trend", "30")
    assert json.loads(typed("episodes", "--trend", "30", "--by", "tool", "--json"))["periods"][0]["group"] == "psql"
    assert "no episodes in this time" in typed("episodes", "--trend", "30", "--domain", "none")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("episodes", "x", "--mode", "recent"), "takes no query"),
        (("episodes", "--mode", "semantic"), "needs a query"),
        (("episodes", "--mode", "psychic"), "use one of"),
        (("episodes", "x", "--compare", "plan"), "use whole, task, outcome"),
        (("episodes", "--compare", "task"), "needs a query"),
        (("episodes", "x", "--trend", "3"), "use one of them"),
        (("episodes", "--outcome", "fine"), "outcomes"),
        (("episode", "x", "--outcome", "fine"), "SUCCESS, PARTIAL, FAILURE"),
        (("episode", "x", "--artifact", "missing.txt"), "cannot be read"),
        (("episode", "x", "--artifact", "plan.txt", "--artifact", "./plan.txt"), "rename one"),
        (("episode", "x", "--detail", "[]"), "not an object"),
        (("episode", "x", "--output", "a", "--detail", '{"output": "b"}'), "give it once"),
        (("episode", "x", "--detail", '{"task": 3}'), "use TASK"),
        (("episode", "x", "--detail", '{"outcome": "FAILURE"}'), "use --outcome"),
        (("episode", "x", "--detail", '{"artifacts": {}}'), "use --artifact"),
        (("episode", "x", "--detail", '{"self": 1}'), "unknown field"),
        (("episode", "x", "--detail", '{"settings": {}}'), "unknown field"),
        (("episode", "x", "--detail", '{"scope": {}}'), "unknown field"),
        (("episode", "other", "--id", "ix"), "is taken"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(
    typed: Typed, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    assert run(app, arguments) not in (0, 70)
    assert says in capsys.readouterr().err
    assert json.loads(typed("stats", "--json"))["records"]["episodes"] == 1
