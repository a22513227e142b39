"""Each of the seventeen signals: what makes a note, and what comes close to it without making one."""

import pytest

from tests.session_events import GO_FAILURE, ROOT, START, Session
from treering.core.events import SessionType
from treering.core.payloads import knowledge_type
from treering.observe.signals import MIN_SCORE, SIGNALS, Signal

SCORES = {
    "co_access": (0.91, 3),
    "self_correction": (0.88, 1),
    "error_retry": (0.85, 2),
    "parallel_conflict": (0.82, 1),
    "read_abandon": (0.79, 3),
    "repeated_grep": (0.76, 2),
    "test_order": (0.74, 3),
    "tool_sequence": (0.73, 3),
    "file_access": (0.72, 3),
    "step_overrun": (0.71, 3),
    "backtrack": (0.68, 2),
    "config_touch": (0.66, 2),
    "glob_ignore": (0.64, 2),
    "context_token_spike": (0.63, 3),
    "external_reference": (0.61, 3),
    "import_chase": (0.52, 4),
    "time_anomaly": (0.48, 3),
}


def test_the_table_has_the_documented_scores_and_minimum_sessions() -> None:
    assert {signal.value: (round(spec.score, 4), spec.min_sessions) for signal, spec in SIGNALS.items()} == SCORES
    assert all(spec.score >= MIN_SCORE for spec in SIGNALS.values())


def test_a_signal_loses_value_with_false_positives() -> None:
    spec = SIGNALS[Signal.TIME_ANOMALY]
    assert spec.score_at(1.0) < MIN_SCORE < spec.score


def test_every_signal_promotes_to_known_types_unless_it_needs_another() -> None:
    for signal, spec in SIGNALS.items():
        assert spec.promotes_to or spec.needs_another, signal
        for name in spec.promotes_to:
            assert knowledge_type(name)


@pytest.mark.parametrize(
    ("session_type", "signals"),
    [
        (SessionType.BUILD, set(Signal)),
        (SessionType.INSIGHTS, {Signal.CO_ACCESS, Signal.SELF_CORRECTION, Signal.REPEATED_GREP}),
        (SessionType.TERMINAL, {Signal.ERROR_RETRY, Signal.TOOL_SEQUENCE}),
        (SessionType.PR_REVIEW, {Signal.ERROR_RETRY, Signal.SELF_CORRECTION}),
        (SessionType.CHANGELOG, set()),
    ],
)
def test_session_types_promote_their_primary_signals(session_type: SessionType, signals: set[Signal]) -> None:
    assert {signal for signal, spec in SIGNALS.items() if session_type in spec.session_types} == signals


def test_an_edited_file_is_a_file_access_and_a_file_read_once_is_not() -> None:
    notes = Session().read("tides/tide.go").edit("tides/moon.go").notes(Signal.FILE_ACCESS)
    assert [note.subject for note in notes] == ["tides/moon.go"]
    assert notes[0].data["edits"] == 1


def test_a_file_that_could_not_be_read_is_not_an_access() -> None:
    session = Session().edit("tides/moon.go")
    for _ in range(3):
        session.call("Read", "File does not exist.", is_error=True, file_path=f"{ROOT}/tides/gone.go")
    assert "tides/gone.go" not in session.pad().activity.files
    assert not session.notes(Signal.CO_ACCESS)


def test_files_within_three_steps_are_co_accessed() -> None:
    [note] = Session().read("tides/tide.go").edit("tides/moon.go").notes(Signal.CO_ACCESS)
    assert note.subject == "tides/moon.go + tides/tide.go"
    assert note.files == ("tides/tide.go", "tides/moon.go")
    assert note.data["mean_delay_ms"] == 2000


def test_files_four_steps_apart_are_not_co_accessed() -> None:
    session = Session().read("tides/tide.go")
    for command in ("ls", "pwd", "date"):
        session.run(command)
    assert not session.edit("tides/moon.go").notes(Signal.CO_ACCESS)


def test_a_pair_in_the_same_order_is_directional() -> None:
    session = Session()
    for _ in range(3):
        session.edit("api/schema.proto").edit("api/schema.pb.go")
        for command in ("ls", "pwd", "date", "whoami"):
            session.run(command)
    [note] = session.notes(Signal.CO_ACCESS)
    assert note.data["directional"]
    assert note.files == ("api/schema.proto", "api/schema.pb.go")


def test_reading_a_file_in_pieces_counts_its_pair_once() -> None:
    session = Session().read("tides/moon.go")
    for _ in range(3):
        session.read("tides/tide.go")
    assert session.pad().activity.pairs["tides/moon.go", "tides/tide.go"].count == 1


def test_an_error_that_an_edit_resolved() -> None:
    session = Session().run("go test ./tides/...", GO_FAILURE, fails=True).edit("tides/tide.go")
    [note] = session.run("go test ./tides/...").notes(Signal.ERROR_RETRY)
    assert note.data["resolution"] == "edited `tides/tide.go`"
    assert note.data["resolution_edits"] == ["tides/tide.go"]
    assert note.files[0] == "tides/tide.go"
    assert note.step == 3


def test_an_error_that_a_command_resolved() -> None:
    missing = 'psycopg.errors.UndefinedTable: relation "ships" does not exist'
    session = Session().run("make test", f"Traceback (most recent call last):\n{missing}\n", fails=True)
    session.read("Makefile").run("make migrate").run("git status").run("make test")
    [note] = session.notes(Signal.ERROR_RETRY)
    assert note.data["resolution_commands"] == ["make migrate"]
    assert "make migrate" in str(note.data["resolution"])


def test_the_resolution_of_an_error_ends_with_the_next_run() -> None:
    other = GO_FAILURE.replace("TestTide", "TestMoon").replace("got 3, want 7", "nil pointer")
    session = Session().run("go test ./...", GO_FAILURE, fails=True).edit("tides/tide.go")
    session.run("go test ./...", other, fails=True).edit("tides/moon.go").run("go test ./...")
    edits = [note.data["resolution_edits"] for note in session.notes(Signal.ERROR_RETRY)]
    assert sorted(edits, key=str) == [["tides/moon.go"], ["tides/tide.go"]]


def test_an_error_that_happened_once_and_stayed_is_not_noted() -> None:
    assert not Session().run("go test ./...", GO_FAILURE, fails=True).notes(Signal.ERROR_RETRY)


def test_an_error_that_went_away_without_a_change_is_flaky() -> None:
    session = Session()
    for _ in range(2):
        session.run("go test ./...", GO_FAILURE, fails=True)
    [note] = session.run("go test ./...").notes(Signal.ERROR_RETRY)
    assert note.data["flaky"]
    assert "resolution" not in note.data


def test_attempts_that_did_not_help_are_counted() -> None:
    session = Session().run("go test ./...", GO_FAILURE, fails=True)
    for _ in range(2):
        session.edit("tides/tide.go").run("go test ./...", GO_FAILURE, fails=True)
    [note] = session.notes(Signal.ERROR_RETRY)
    assert (note.data["count"], note.data["attempts"], note.data["type"]) == (3, 2, "error_pattern")


def test_an_edit_taken_back_after_a_failure_was_a_wrong_assumption() -> None:
    session = Session().edit("tides/tide.go", "return level", "return level * 100")
    session.run("go test ./...", GO_FAILURE, fails=True)
    [note] = session.edit("tides/tide.go", "return level * 100", "return level / 100").notes(Signal.BACKTRACK)
    assert note.data["likely_cause"] == "wrong_assumption"
    assert note.data["failure"]


def test_an_edit_changed_after_a_read_lacked_context() -> None:
    session = Session().edit("tides/tide.go", "", "level := Lowest()").read("tides/moon.go")
    [note] = session.edit("tides/tide.go", "level := Lowest()", "level := Lowest(moon)").notes(Signal.BACKTRACK)
    assert note.data["likely_cause"] == "missing_context"


def test_an_edit_changed_after_another_file_cascades() -> None:
    session = Session().edit("tides/tide.go", "", "level := Lowest()").edit("tides/moon.go", "", "func Lowest(m Moon)")
    [note] = session.edit("tides/tide.go", "level := Lowest()", "level := Lowest(moon)").notes(Signal.BACKTRACK)
    assert note.data["likely_cause"] == "cascading_change"
    assert note.files == ("tides/tide.go", "tides/moon.go")


def test_a_patch_that_changes_the_last_patch_is_a_backtrack() -> None:
    def patch(old: str, new: str) -> list[str]:
        head = "*** Begin Patch\n*** Update File: tides/tide.go\n@@\n"
        return ["apply_patch", f"{head}-{old}\n+{new}\n*** End Patch"]

    session = Session().call("shell", command=patch("return level", "return level * 100")).read("tides/moon.go")
    [note] = session.call("shell", command=patch("return level * 100", "return level / 100")).notes(Signal.BACKTRACK)
    assert note.data["likely_cause"] == "missing_context"


def test_editing_another_place_of_the_same_file_is_not_a_backtrack() -> None:
    session = Session().edit("tides/tide.go", "func Low() int {", "func Low() float64 {")
    session.run("go test ./...", GO_FAILURE, fails=True).edit(
        "tides/tide.go", "func High() int {", "func High() float64 {"
    )
    assert not session.notes(Signal.BACKTRACK)


def test_a_change_after_six_steps_is_not_a_backtrack() -> None:
    session = Session().edit("tides/tide.go", "", "level := Lowest()")
    for number in range(5):
        session.read(f"docs/{number}.md")
    assert not session.edit("tides/tide.go", "level := Lowest()", "level := Highest()").notes(Signal.BACKTRACK)


def test_a_file_left_for_its_namesake_is_a_read_abandon() -> None:
    session = Session().read("pkg/config.go").grep("LoadConfig").read("internal/config.go").edit("internal/config.go")
    [note] = session.notes(Signal.READ_ABANDON)
    assert note.files == ("pkg/config.go", "internal/config.go")
    assert note.data["instead"] == "internal/config.go"


def test_a_file_read_for_reference_is_not_abandoned() -> None:
    session = Session().read("docs/style.md").grep("LoadConfig").read("internal/config.go").edit("internal/config.go")
    assert not session.notes(Signal.READ_ABANDON)
    back = Session().read("pkg/config.go").grep("LoadConfig").edit("internal/config.go").read("pkg/config.go")
    assert not back.notes(Signal.READ_ABANDON)


def test_four_reads_without_an_edit_mean_a_file_that_is_hard_to_understand() -> None:
    session = Session()
    for _ in range(4):
        session.read("tides/tide.go")
    [note] = session.notes(Signal.READ_ABANDON)
    assert (note.data["type"], note.data["reads"]) == ("module_insight", 4)
    assert not session.edit("tides/tide.go").notes(Signal.READ_ABANDON)


def test_the_third_search_for_a_pattern_with_its_answer() -> None:
    session = Session().grep("func Lowest").grep("func Lowest")
    assert not session.notes(Signal.REPEATED_GREP)
    [note] = session.grep("func Lowest").read("tides/moon.go").notes(Signal.REPEATED_GREP)
    assert (note.subject, note.data["count"], note.files) == ("func Lowest", 3, ("tides/moon.go",))


def test_two_searches_in_vain() -> None:
    session = Session().grep("lowest_level", "No matches found").grep("lowest_level", "No matches found")
    [note] = session.notes(Signal.REPEATED_GREP)
    assert note.data["empty"] == 2


def test_a_pattern_without_words_is_not_noted() -> None:
    session = Session()
    for _ in range(4):
        session.grep("{}")
    assert not session.notes(Signal.REPEATED_GREP)


def test_a_long_listing_that_was_not_used() -> None:
    names = "\n".join(f"docs/{number}.md" for number in range(40))
    session = Session().call("Glob", names, pattern="docs/**/*.md")
    for number in range(12):
        session.read(f"tides/{number}.go")
    [note] = session.notes(Signal.GLOB_IGNORE)
    assert (note.subject, note.data["results"]) == ("docs/**/*.md", 40)
    used = Session().call("Glob", names, pattern="docs/**/*.md").read("docs/7.md")
    for number in range(12):
        used.read(f"tides/{number}.go")
    assert not used.notes(Signal.GLOB_IGNORE)


def test_commands_that_succeed_in_order_are_a_sequence() -> None:
    session = Session()
    for _ in range(2):
        session.run("go build ./...").run("go test ./...").run("git commit -m 'Change the tides'")
    notes = session.notes(Signal.TOOL_SEQUENCE)
    assert notes[0].data["count"] == 2
    assert [str(each).split()[1] for each in notes[0].data["commands"]] == ["build", "test", "commit"]  # type: ignore[attr-defined]


def test_a_command_that_fails_is_not_part_of_a_sequence() -> None:
    session = Session().run("go build ./...").run("go test ./...", GO_FAILURE, fails=True)
    assert not session.notes(Signal.TOOL_SEQUENCE)
    assert not Session().run("go test ./...").run("go test ./tides/...").notes(Signal.TOOL_SEQUENCE)


def test_a_file_that_held_the_agent_up() -> None:
    session = Session()
    for minute in range(4):
        at = START.replace(minute=10 + minute).isoformat()
        session.event("tool_call", tool="Read", call_id=f"r{minute}", arguments={"file_path": f"{ROOT}/tides/tide.go"})
        session.events[-1]["at"] = at
    [note] = session.notes(Signal.TIME_ANOMALY)
    assert note.data["dwell_ms"] == 180_000
    assert not Session().read("a.go").read("a.go").read("a.go").read("a.go").notes(Signal.TIME_ANOMALY)


def test_a_rule_of_the_user_and_a_correction_of_the_agent() -> None:
    session = Session().prompt("Always use pnpm in this repository.")
    session.think("I was wrong about the tide table: it is sorted by draught, not by arrival.").edit("tides/tide.go")
    notes = {note.data["cue"]: note for note in session.notes(Signal.SELF_CORRECTION)}
    assert notes["explicit_rule"].data["by_user"]
    assert notes["self_correction"].files == ("tides/tide.go",)


def test_ordinary_reasoning_is_not_a_correction() -> None:
    session = Session().think("Let me look at the tide table now. Then I run the tests.").prompt("Add a tide table.")
    assert not session.notes(Signal.SELF_CORRECTION)


def test_an_abandoned_approach_is_a_dead_end_with_reason_and_alternative() -> None:
    session = Session().think(
        "I tried to mock the tide clock. This approach won't work because the clock is created before the settings are"
        " read. Let me use a fake settings file instead."
    )
    dead_ends = [note for note in session.notes(Signal.SELF_CORRECTION) if note.data.get("dead_end")]
    assert dead_ends[0].data["approach"] == "I tried to mock the tide clock."
    assert dead_ends[0].data["reason"] == "the clock is created before the settings are read"
    assert "fake settings file" in str(dead_ends[0].data["alternative"])


def test_an_outside_source_followed_by_an_edit() -> None:
    [note] = Session().fetch().edit("tides/tide.go").notes(Signal.EXTERNAL_REFERENCE)
    assert note.subject == "web: docs.example.com"
    assert note.taint == "web: docs.example.com"
    assert not Session().fetch().read("tides/tide.go").notes(Signal.EXTERNAL_REFERENCE)


def test_reads_along_imports_that_end_in_an_edit() -> None:
    session = Session().read("app/main.py", "from app import routes\n").read("app/routes.py", "from app import store\n")
    [note] = session.read("app/store.py").edit("app/store.py").notes(Signal.IMPORT_CHASE)
    assert note.data["chain"] == ["app/main.py", "app/routes.py", "app/store.py"]


def test_reads_without_imports_between_them_are_not_a_chase() -> None:
    session = Session().read("app/main.py", "x = 1\n").read("app/routes.py", "y = 2\n").read("app/store.py")
    assert not session.edit("app/store.py").notes(Signal.IMPORT_CHASE)


def test_tests_that_were_run_before_and_after_the_edits() -> None:
    session = Session().run("go test ./...").edit("tides/tide.go").edit("tides/moon.go").run("go test ./...")
    [note] = session.notes(Signal.TEST_ORDER)
    assert (note.data["order"], note.data["most_untested_edits"]) == ("before_and_after", 2)
    assert not Session().run("go test ./...").notes(Signal.TEST_ORDER)


def test_a_test_written_first() -> None:
    session = Session().edit("tides/tide_test.go").run("go test ./...", GO_FAILURE, fails=True).edit("tides/tide.go")
    assert session.notes(Signal.TEST_ORDER)[0].data["order"] == "test_first"


def test_configuration_edited_with_other_files() -> None:
    [note] = Session().edit("tides/tide.go").edit("pyproject.toml").notes(Signal.CONFIG_TOUCH)
    assert note.files == ("pyproject.toml", "tides/tide.go")
    assert not Session().edit("pyproject.toml").notes(Signal.CONFIG_TOUCH)
    assert not Session().read("pyproject.toml").edit("tides/tide.go").notes(Signal.CONFIG_TOUCH)


def test_a_plan_that_grew() -> None:
    session = Session().call("TodoWrite", todos=[{"content": "a", "status": "pending"}] * 3).edit("tides/tide.go")
    assert not session.notes(Signal.STEP_OVERRUN)
    [note] = session.call("TodoWrite", todos=[{"content": "a", "status": "completed"}] * 6).notes(Signal.STEP_OVERRUN)
    assert (note.data["planned"], note.data["actual"], note.data["done"]) == (3, 6, 6)


def test_a_subtask_that_took_more_steps_than_planned() -> None:
    session = Session().event("subtask", text="Tides", metadata={"subtask": "t1", "planned_steps": 2})
    for number in range(5):
        session.read(f"tides/{number}.go")
    session.event("subtask", text="Tides", metadata={"subtask": "t1", "status": "completed"})
    session.event("qa_report", metadata={"subtask": "t1", "passed": True})
    [note] = session.notes(Signal.STEP_OVERRUN)
    assert (note.data["planned"], note.data["actual"], note.data["validated"]) == (2, 5, True)


def test_a_merge_conflict() -> None:
    text = "Auto-merging tides/tide.go\nCONFLICT (content): Merge conflict in tides/tide.go\nAutomatic merge failed"
    [note] = Session().run("git merge feature", text, fails=True).notes(Signal.PARALLEL_CONFLICT)
    assert note.files == ("tides/tide.go",)
    assert not Session().run("git merge feature", "Already up to date.").notes(Signal.PARALLEL_CONFLICT)


def test_a_result_that_fills_the_context() -> None:
    [note] = Session().read("data/tides.json", "x" * 60_000).notes(Signal.CONTEXT_TOKEN_SPIKE)
    assert (note.subject, note.data["tokens"]) == ("data/tides.json", 15_000)
    assert not Session().read("data/tides.json", "x" * 6_000).notes(Signal.CONTEXT_TOKEN_SPIKE)


def test_a_signal_has_at_most_its_number_of_notes() -> None:
    session = Session()
    for number in range(60):
        session.edit(f"tides/{number}.go")
    assert len(session.notes(Signal.FILE_ACCESS)) == SIGNALS[Signal.FILE_ACCESS].max_notes
    assert len(session.notes(Signal.CO_ACCESS)) == SIGNALS[Signal.CO_ACCESS].max_notes
