"""search and embed as people use them: explained, packed, with files in play, and with models that do not answer."""

import json
from pathlib import Path

import pytest

import treering
from tests.e2e.terminal import Terminal

NOBODY = {"TREERING_EMBEDDER": "openai:some-model", "TREERING_EMBEDDER_URL": "http://127.0.0.1:1/v1"}


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A terminal on a small memory."""
    place = tmp_path / "memory.db"
    with treering.open(place, project="shop") as memory:
        memory.remember("The shop runs on PostgreSQL 16", type="decision", files=["shop/db.py"], id="db")
        memory.remember("Run the migrations before the workers start", type="gotcha", files=["ci.yml"], id="ci")
        memory.turn(session="s", role="user", text="The nightly deploy is red again, can you look?", id="red")
    return Terminal(tmp_path, {"TREERING_DB": str(place), "TREERING_PROJECT": "shop"})


def test_an_explanation_names_paths_parts_factors_and_those_that_came_next(terminal: Terminal) -> None:
    shown = terminal.ok("search", "migrations of postgresql in ci.yml", "--limit", "1", "--explain")

    for told in ("understood as", "found by words #", "graph", "█", "relevance 1.00 ×", "trust", "runners-up", "took"):
        assert told in shown
    assert "wordllama" in shown
    assert "searched without reranker: none is configured" in shown


def test_json_holds_all_of_an_answer_and_its_explanation_where_it_was_asked_for(terminal: Terminal) -> None:
    plain = terminal.json("search", "postgresql")
    told = terminal.json("search", "postgresql", "--explain")

    assert plain["explanation"] is None
    assert set(told) == {
        *("query", "hits", "missing", "unreadable", "milliseconds", "embedder", "explanation", "confidence", "code"),
        "strength",
    }
    first = told["explanation"]["results"][0]
    assert first["id"] == told["hits"][0]["id"] == "db"
    assert first["ranks"]["words"] == 1
    assert {"name", "value", "weight"} == set(first["parts"][0])
    assert "reranker" in told["missing"]


def test_packed_text_is_printed_as_it_is_and_nothing_else(terminal: Terminal) -> None:
    terminal.ok("remember", "odd \x1b[31mbytes", "--id", "odd")
    asked = ("context", "postgresql or odd bytes", "--budget", "200", "--phase", "implement")

    text, packed = terminal.ok(*asked), terminal.json(*asked)

    assert text == packed["text"]
    assert text.startswith('<memory phase="implement">')
    assert text.endswith("</memory>\n")
    assert "\x1b" in text
    assert packed["tokens"] <= packed["budget"] == 200
    assert {"db", "odd"} <= {item["id"] for item in packed["items"]}


def test_files_in_play_bring_what_is_tied_to_them(terminal: Terminal) -> None:
    def found(*options: str) -> list[str]:
        return [hit["id"] for hit in terminal.json("search", "what is to be known here", *options)["hits"]]

    assert found("--in-play", "shop/db.py")[0] == "db"
    assert found("--in-play", "ci.yml")[0] == "ci"


def test_embed_makes_what_lacks_once(terminal: Terminal) -> None:
    before = terminal.json("embed", "--status")
    made = terminal.json("embed")
    again = terminal.ok("embed")

    assert (before["embedded"], before["documents"], before["vectors"]) == (0, 3, 0)
    assert made == {
        "model": before["model"],
        "embedded": 3,
        "documents": 3,
        "vectors": 3,
        "code": 0,
        "code_vectors": 0,
    }
    assert "embedded 0 new" in again
    assert f"3 of 3 documents have a vector of {before['model']}" in terminal.ok("embed", "--status")


def test_a_model_that_does_not_answer_costs_its_part_of_the_answer_only(terminal: Terminal) -> None:
    elsewhere = Terminal(terminal.folder, terminal.environment | NOBODY)

    assert "db" in elsewhere.ok("search", "postgresql")
    assert "searched without meaning: the embedding server" in elsewhere.ok("search", "postgresql")
    assert "did not answer" in elsewhere.refused("embed")


def test_doctor_says_which_models_are_used_and_how_to_get_better_ones(terminal: Terminal) -> None:
    fresh = {check["name"]: check for check in terminal.json("doctor")["checks"]}["meaning"]
    terminal.ok("embed")
    report = terminal.json("doctor")
    covered = {check["name"]: check for check in report["checks"]}["meaning"]

    assert "(named in the settings or the environment): 0 of 3 documents have a vector" in fresh["detail"]
    assert "treering embed" in fresh["advice"]
    assert "3 of 3" in covered["detail"]
    assert "ollama pull" in covered["advice"]
    assert {"reranker", "writer"} <= set(report["missing"])


def test_doctor_finds_models_that_do_not_answer_or_are_misnamed(terminal: Terminal) -> None:
    wrong = {"TREERING_RERANKER": "cohere:rerank-v3.5", "TREERING_WRITER": "some-model"}
    urls = {"TREERING_RERANKER_URL": "nowhere", "TREERING_WRITER_URL": "http://127.0.0.1:1/v1"}
    done = Terminal(terminal.folder, terminal.environment | NOBODY | wrong | urls).run("doctor", "--json")

    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}

    assert done.returncode == 1
    assert not checks["meaning"]["fine"]
    assert "did not answer; start it" in checks["meaning"]["detail"]
    assert not checks["reranker"]["fine"]
    assert checks["writer"]["detail"] == "openai/some-model"


def test_doctor_takes_an_embedder_that_was_turned_off_for_what_it_is(tmp_path: Path) -> None:
    off = treering.Settings.make(embedder={"provider": "none"})
    with treering.open(tmp_path / "memory.db", settings=off) as memory:
        report = memory.doctor()
    assert report.healthy
    assert "turned off" in {check.name: check.detail for check in report.checks}["meaning"]


def test_packed_text_has_what_is_tainted_only_where_that_is_asked_for(terminal: Terminal) -> None:
    told = ("--taint", "web_fetch", "--taint-reason", "read on a page")
    kept = terminal.json("remember", "PostgreSQL 17 is cursed", "--id", "odd", *told)
    assert kept["taint"] == {"source": "web_fetch", "reason": "read on a page", "record": None}
    assert kept["needs_review"]
    terminal.ok("turn", "PostgreSQL is cursed, says the page", "--session", "s", "--role", "tool", *told)
    terminal.ok("episode", "Ask the page about PostgreSQL", *told)

    assert "cursed" not in terminal.ok("context", "postgresql")
    asked = terminal.ok("context", "postgresql", "--tainted")
    assert "- fact (from outside, not confirmed): PostgreSQL 17 is cursed" in asked
    assert "web_fetch: read on a page" in asked
    listed = terminal.json("search", "postgresql")["hits"]
    assert "from outside, not confirmed" in next(hit["source"] for hit in listed if hit["id"] == "odd")
    assert "odd" not in [hit["id"] for hit in terminal.json("search", "postgresql", "--no-tainted")["hits"]]
    assert "--taint SOURCE" in terminal.refused("remember", "x", "--taint-reason", "why")
