"""The command line as people and scripts use it, on both engines."""

import gzip
import json
import re
import shutil
from pathlib import Path
from uuid import uuid4

import pytest

import treering
from tests.e2e.terminal import Terminal


@pytest.fixture(scope="session")
def empty_memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new memory, made once: a copy of it spares each test the migration."""
    path = tmp_path_factory.mktemp("empty") / "memory.db"
    treering.open(path).close()
    return path


@pytest.fixture
def terminal(tmp_path: Path, empty_memory: Path) -> Terminal:
    return Terminal(tmp_path, {"TREERING_DB": str(shutil.copy(empty_memory, tmp_path / empty_memory.name))})


@pytest.fixture
def terminal_on(tmp_path: Path, engine: str, request: pytest.FixtureRequest) -> Terminal:
    """A terminal on the engine of this test."""
    place = str(tmp_path / "new.db") if engine == "sqlite" else request.getfixturevalue("postgres_url")
    return Terminal(tmp_path, {"TREERING_DB": place, "TREERING_TENANT": f"t-{uuid4().hex[:12]}"})


def test_knowledge_is_kept_found_corrected_and_brought_back(terminal_on: Terminal) -> None:
    old = terminal_on.json("remember", "We use Postgres 16", "--type", "decision", "--tag", "db", "--file", "src/db.py")
    assert (old["kind"], old["source"], old["confidence"]) == ("knowledge", "user_taught", 0.95)

    found = terminal_on.json("search", "which postgres")
    assert [(hit["id"], hit["score"]) for hit in found["hits"]] == [(old["id"], 1.0)]
    assert found["hits"][0]["source"].startswith("decision, user_taught in src/db.py")

    new = terminal_on.json("correct", old["id"], "--reason", "outdated", "--text", "We use Postgres 18")
    found = terminal_on.json("search", "postgres")["hits"]
    assert [hit["record"]["content"] for hit in found] == ["We use Postgres 18"]

    entries = terminal_on.json("history", old["id"])["entries"]
    assert [(entry["action"], entry["content_before"]) for entry in entries] == [
        ("correct", "We use Postgres 16"),
        ("create", None),
    ]

    assert terminal_on.json("undo", new["id"]) == {"undone": new["id"], "action": "supersede", "record": None}
    assert terminal_on.json("get", old["id"])["content"] == "We use Postgres 16"


def test_a_known_text_is_said_to_be_known(terminal_on: Terminal) -> None:
    said = ("remember", "We use Postgres 16", "--session", "s")
    assert "✓ remembered" in terminal_on.ok(*said)
    assert "✓ known already\n" in terminal_on.ok(*said)
    assert "✓ known already, now stronger" in terminal_on.ok(*said[:2])
    assert "✓ known already\n" in terminal_on.ok(*said[:2], "--taint", "web")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--kind", "bogus"), "--kind 'bogus' is unknown; use one of knowledge, turn, episode, pattern, code"),
        (("--role", "bogus"), "--role 'bogus' is unknown; use one of user, assistant, system, tool"),
        (("--min-confidence", "7"), "--min-confidence is 7.0; give a number from 0 to 1"),
        (("--min-confidence", "nan"), "--min-confidence is nan; give a number from 0 to 1"),
    ],
)
def test_a_filter_that_is_not_understood_is_named_as_it_was_typed(
    terminal: Terminal, given: tuple[str, ...], told: str
) -> None:
    refusal = " ".join(terminal.refused("search", "x", *given).split())
    assert told in refusal
    assert "valid" not in refusal


def test_a_memory_moves_by_export_and_by_backup(terminal_on: Terminal, tmp_path: Path) -> None:
    terminal_on.ok("remember", "Deploy from main", "--id", "d")
    terminal_on.ok("turn", "hello", "--session", "s", "--id", "t")

    assert terminal_on.json("export", "all.jsonl.gz", "--history")["path"] == "all.jsonl.gz"
    lines = [json.loads(line) for line in terminal_on.ok("export", "-", "--json").splitlines()]
    assert lines[-1] == {"end": {"session": 1, "turn": 1, "knowledge": 1}}

    elsewhere = ("--db", str(tmp_path / "elsewhere.db"))
    assert terminal_on.json("import", "all.jsonl.gz", *elsewhere)["conflicts"] == []
    assert terminal_on.json("get", "d", *elsewhere)["content"] == "Deploy from main"
    assert "known already" in terminal_on.ok("import", "all.jsonl.gz", *elsewhere)

    assert terminal_on.json("backup", "copy.db") == {"path": "copy.db"}
    assert terminal_on.json("stats", "--db", "copy.db")["records"]["turns"] == 1


def test_doctor_says_that_all_is_well(terminal_on: Terminal, engine: str) -> None:
    report = terminal_on.json("doctor")
    assert (report["healthy"], report["engine"], report["refused"]) == (True, engine, None)
    assert all(check["fine"] for check in report["checks"])
    assert "rebuilt the indexes of" in terminal_on.ok("doctor", "--repair")


def test_what_people_do_to_a_record(terminal: Terminal) -> None:
    terminal.ok("remember", "Tests are slow on Fridays", "--id", "slow", "--type", "gotcha", "--confidence", "0.6")

    assert terminal.json("pin", "slow")["pinned"] is True
    assert terminal.json("pin", "slow", "--off")["pinned"] is False
    assert terminal.json("flag", "slow", "--note", "really?")["flagged"] is True
    assert "nothing found for this query" in terminal.ok("search", "fridays")
    assert "Tests are slow" in terminal.ok("search", "fridays", "--superseded")
    assert terminal.json("confirm", "slow")["user_verified"] is True
    assert "undo slow" in terminal.ok("forget", "slow")
    assert terminal.json("undo", "slow")["record"]["id"] == "slow"
    gone = terminal.json("forget", "slow", "--hard", "--yes")
    assert (gone["forgotten"], gone["hard"], gone["proof"]["clean"]) == ("slow", True, True)
    assert "no record with id 'slow'" in terminal.refused("get", "slow")
    assert terminal.json("settle")["dead"] == 0


def test_text_comes_from_stdin_and_secrets_stay_out(terminal: Terminal) -> None:
    token = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"

    told = terminal.ok("turn", "-", "--session", "s", "--id", "t", stdin=f"first\npush with {token}\n".encode())

    assert "not stored: github_token" in told
    assert terminal.json("get", "t")["text"] == "first\npush with [redacted:github_token]"
    assert token.encode() not in (terminal.folder / "memory.db").read_bytes()


def test_an_error_is_one_line_for_people_and_json_for_programs(terminal: Terminal) -> None:
    assert terminal.refused("get", "nope").startswith("no record with id 'nope' in project '")
    assert "content" in terminal.refused("remember", b"\xff\xfe")
    assert "--session" in terminal.refused("turn", "x", code=2)

    done = terminal.run("get", "nope", "--json")

    assert (done.returncode, done.stdout) == (1, "")
    assert json.loads(done.stderr)["kind"] == "NotFound"


def test_doctor_says_why_a_memory_does_not_open(terminal: Terminal) -> None:
    (terminal.folder / "memory.db").write_text("this is a note, not a memory; " * 10)

    done = terminal.run("doctor")
    report = json.loads(terminal.run("doctor", "--json").stdout)

    assert (done.returncode, done.stderr) == (1, "")
    assert "✗ open" in done.stdout
    assert "not a SQLite database" in done.stdout
    assert (report["healthy"], report["refused"]) == (False, "NotADatabase")


def test_help_and_version_need_no_memory(tmp_path: Path) -> None:
    nowhere = Terminal(tmp_path, {"TREERING_DB": "/no/such/folder/memory.db"})
    assert nowhere.ok("--version") == f"treering {treering.__version__}\n"
    assert "remember" in nowhere.ok("--help")
    assert "remember" in nowhere.ok()
    assert "--confidence" in nowhere.ok("remember", "--help")


def test_the_demo_fits_a_screen_and_leaves_nothing_behind(tmp_path: Path) -> None:
    screen = Terminal(tmp_path, {"COLUMNS": "80", "TMPDIR": str(tmp_path), "TREERING_DB": "/no/such/folder/memory.db"})

    shown = screen.ok("demo")

    assert len(shown.splitlines()) <= 48
    assert max(map(len, shown.splitlines())) <= 80
    assert "[redacted:github_token]" in shown
    assert list(tmp_path.iterdir()) == []


def test_the_demo_really_does_what_it_shows(tmp_path: Path) -> None:
    played = Terminal(tmp_path, {"TMPDIR": str(tmp_path)}).json("demo")

    first, corrected = played["lessons"][0], played["correction"]
    assert first["id"] in [hit["id"] for hit in played["found"]["hits"]]
    assert [hit["id"] for hit in played["found_after_correction"]["hits"]] == [corrected["id"]]
    assert played["history"][0]["content_before"] == first["content"]
    assert [hit["id"] for hit in played["found_after_undo"]["hits"]] == [first["id"]]
    assert played["sent"]["tokens"] <= played["sent"]["max_tokens"]
    assert played["window"]["removed"] > 0


def test_a_payload_is_given_as_json(terminal: Terminal) -> None:
    kept = terminal.json("remember", "Lint first", "--type", "preference", "--payload", '{"strength": "must"}')
    assert kept["payload"]["strength"] == "must"
    for wrong in ("{", "[1]", "null", "[" * 100_000):
        assert "--payload is" in terminal.refused("remember", "x", "--payload", wrong)
    assert "strength" in terminal.refused("remember", "x", "--type", "preference", "--payload", '{"strength": "odd"}')


def test_an_export_is_piped_into_another_project(terminal: Terminal) -> None:
    terminal.ok("remember", "carried over", "--id", "k")
    lines = terminal.ok("export", "-").encode()
    for packed in (lines, gzip.compress(lines)):
        terminal.json("import", "-", "--project", f"p{len(packed)}", stdin=packed)
        assert terminal.json("get", "k", "--project", f"p{len(packed)}")["content"] == "carried over"
    assert "truncated" in terminal.refused("import", "-")


def test_repositories_that_share_a_database_are_different_projects(terminal: Terminal) -> None:
    for name in ("one", "two"):
        (terminal.folder / name / ".git").mkdir(parents=True)
        inside = Terminal(terminal.folder / name, terminal.environment)
        inside.ok("remember", f"only in {name}")
        assert [hit["text"] for hit in inside.json("search")["hits"]] == [f"only in {name}"]
        named = inside.json("search", "--db", terminal.environment["TREERING_DB"])
        assert [hit["text"] for hit in named["hits"]] == [f"only in {name}"]


def test_a_record_whose_blob_is_gone_does_not_hide_the_others(terminal: Terminal) -> None:
    terminal.ok("remember", "-", "--id", "long", stdin=b"checkout " * 100_000)
    terminal.ok("remember", "checkout is short", "--id", "short")
    shutil.rmtree(f"{terminal.environment['TREERING_DB']}.blobs")
    shown = terminal.ok("search", "checkout")
    assert "checkout is short" in shown
    assert "found, but cannot be read: blob of knowledge long" in shown
    assert terminal.json("search", "checkout")["unreadable"] == ["blob of knowledge long"]


def test_pending_jobs_are_said_and_counted(terminal_on: Terminal) -> None:
    # Small jobs are done; what is left makes vectors.
    assert terminal_on.json("remember", "Anna likes tea")["pending_jobs"] == 1
    for command in (
        ("remember", "Anna likes spaces"),
        ("turn", "I prefer tabs", "--session", "a"),
        ("episode", "Ship it"),
    ):
        assert re.search(r"\d+ jobs? (is|are) pending: run `treering settle`", terminal_on.ok(*command))
    jobs = _check(terminal_on, "jobs")
    assert re.fullmatch(r"[1-9]\d* done, 1 queued", jobs["detail"])
    assert "`treering settle`" in jobs["advice"]

    terminal_on.ok("settle")

    assert "queued" not in _check(terminal_on, "jobs")["detail"]
    assert _check(terminal_on, "jobs")["advice"] == ""


def test_small_jobs_that_fail_do_not_fail_the_command(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    from treering.entities import link_jobs as reading

    def fail(*_given: object, **_named: object) -> bool:
        raise RuntimeError("oh no")

    monkeypatch.setattr(reading, "link_new", fail)
    shown = terminal.ok("remember", "Anna likes tea")
    assert "a background job failed (RuntimeError" in shown
    assert "2 jobs are pending: run `treering settle`" in shown
    assert "RuntimeError" in terminal.json("remember", "Bob likes tea")["jobs_error"]
    assert terminal.json("stats")["records"]["knowledge"] == 2
    monkeypatch.undo()
    terminal.ok("settle")
    assert terminal.json("about", "Bob")["mentions"] == 1


def _check(terminal: Terminal, name: str) -> dict[str, str]:
    report = json.loads(terminal.run("doctor", "--json").stdout)
    return next(check for check in report["checks"] if check["name"] == name)


def test_a_correction_without_a_reason_is_shown_and_undone(terminal: Terminal) -> None:
    old = terminal.json("remember", "The port is 5432")["id"]
    new = terminal.json("correct", old, "--text", "The port is 5433")["id"]
    assert re.search(rf"superseded by +{new}", terminal.ok("get", old))
    assert terminal.json("get", old)["superseded_by"] == new
    assert "undone: correct" in terminal.ok("undo", old)
    terminal.ok("forget", old)
    assert "undone: delete" in terminal.ok("undo", old)


def test_a_budget_that_nothing_fits_is_said_so(terminal: Terminal) -> None:
    terminal.ok("remember", "The database of the shop listens on port 5432 of every host " * 20)
    done = terminal.run("context", "database", "--budget", "20")
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing fits into 20 tokens: 1 result left out; raise --budget" in done.stderr
    assert terminal.run("context", "unknown", "--budget", "20").stderr == ""


def test_remember_says_what_it_superseded(terminal: Terminal) -> None:
    terminal.ok("remember", "The staging database listens on 5433.", "--id", "old")
    told = terminal.ok("remember", "The staging database listens on 5434.", "--id", "new")
    assert "superseded old; `treering undo old` reverts that" in told
    assert terminal.json("get", "old")["superseded_by"] == "new"
    terminal.ok("undo", "old")
    assert terminal.json("get", "old")["superseded_by"] is None


def test_remember_says_what_is_in_conflict(terminal: Terminal) -> None:
    terminal.ok("remember", "The keynote speaker is Anna", "--id", "old")
    told = terminal.ok("remember", "The keynote speaker is Bob", "--id", "new")
    assert "conflicts with old; `treering correct` or `treering forget` the wrong one" in told
    record = terminal.json("get", "new")
    assert record["needs_review"] is True
    assert [(each["kind"], each["record"]) for each in record["relations"]] == [("conflicts_with", "old")]
