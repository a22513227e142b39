"""What people see, without a memory."""

from datetime import UTC, datetime

import pytest
from rich.console import Console, RenderableType

from tests.golden.explain import drawing
from treering.core.code_locations import CodeLocation
from treering.core.history import Action, HistoryEntry
from treering.core.records import Knowledge
from treering.core.turns import Turn
from treering.interfaces.cli import explanations as reasons
from treering.interfaces.cli import views as show
from treering.search.answer import Answer, Hit

NOW = datetime(2026, 5, 8, 13, 56, tzinfo=UTC)
MOMENTS = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), NOW)


def drawn(picture: RenderableType, width: int = 60) -> list[str]:
    console = Console(width=width, highlight=False, markup=False, emoji=False, no_color=True)
    with console.capture() as captured:
        console.print(picture)
    return [line.rstrip() for line in captured.get().splitlines()]


def knowledge(content: str, **fields: object) -> Knowledge:
    return Knowledge.make(id="k1", type="fact", content=content, **MOMENTS, **fields)


def test_control_and_direction_characters_are_shown_not_obeyed() -> None:
    assert show.safe("a\x1b[31mb\x07\u202ec\x9b") == "a␛[31mb␇�c�"
    assert show.safe("a\n\tb 🌳 שלום") == "a\n\tb 🌳 שלום"


def test_a_preview_is_one_line_with_an_ellipsis() -> None:
    assert show.preview("a\n\n  b") == "a b"
    assert show.preview("x" * 300) == "x" * (show.PREVIEW - 1) + "…"


@pytest.mark.parametrize(
    ("count", "told"),
    [(0, "0 B"), (1023, "1,023 B"), (1024, "1.0 KiB"), (5 * 1024**2, "5.0 MiB"), (3 * 1024**4, "3,072.0 GiB")],
)
def test_sizes_are_readable(count: int, told: str) -> None:
    assert show.size(count) == told


def test_hits_hang_under_their_number_and_ids_stay_whole() -> None:
    record = knowledge("word " * 20)
    id = "01a1dd83-2518-76bb-a126-f20f96fb1ae6"
    answer = Answer("word", (Hit(id, "knowledge", record.content, 1.0, "fact, user_taught, 2026-05-08", record),))

    lines = drawn(show.answer(answer))

    assert lines[0].startswith("1  word")
    assert all(line.startswith("   ") for line in lines[1:])
    assert lines[-1].strip() == id


def test_markup_in_a_text_is_text() -> None:
    assert "[bold]not bold[/bold] :tree:" in drawn(show.whole(knowledge("[bold]not bold[/bold] :tree:")))[0]


def test_nothing_found_says_what_was_not_there_to_search_with() -> None:
    lacking = {"meaning": "it is off", "reranker": "none"}
    assert drawn(show.answer(Answer("x", (), lacking))) == [
        "nothing found for this query",
        "searched without meaning: it is off",
        "searched without reranker: none",
    ]
    assert drawn(show.answer(Answer("", (), {}))) == ["nothing found"]


def test_places_in_the_code_are_shown_as_results() -> None:
    place = CodeLocation("web.py", "follow", 1, 2, 1.0, "def follow():")
    hit = Hit(place.id, "code", "follow\ndef follow():", 1.0, "code", place)
    lines = drawn(show.answer(Answer("where is follow?", (hit,), {"meaning of code": "found by words only"})))
    assert "follow def follow():" in lines[0]
    assert lines[1].split() == ["code", "web.py:1-2"]
    assert lines[-1] == "searched without meaning of code: found by words only"


def test_results_are_followed_only_by_what_may_have_cost_some() -> None:
    record = knowledge("word")
    hit = Hit("k1", "knowledge", record.content, 1.0, "fact", record)
    lines = drawn(show.answer(Answer("word", (hit,), {"meaning": "it is off", "reranker": "none"}, ("blob of k2",))))
    assert lines[2:] == [
        "searched without meaning: it is off",
        "found, but cannot be read: blob of k2",
        "run `treering doctor` for details",
    ]


@pytest.mark.parametrize("name", drawing.ANSWERS)
def test_an_explanation_is_drawn_as_its_golden_file_shows(name: str) -> None:
    """Changed on purpose? `.venv/bin/python -m tests.golden.explain.drawing`, then read the diff."""
    assert drawing.drawn(name) == drawing.golden(name).read_text(encoding="utf-8")


def test_the_reasons_of_a_result_fit_one_line() -> None:
    told = drawing.FOUND.explanation
    assert told is not None
    assert [len(drawn(line, width=100)) for line in reasons.in_brief(told)] == [1, 1]


def test_a_new_redaction_is_told_and_an_old_one_is_not() -> None:
    stored = knowledge("use [redacted:github_token]")
    assert "not stored: github_token" in drawn(show.stored("kept", stored, "use ghp_…"))[-1]
    assert not any("not stored" in line for line in drawn(show.stored("kept", stored, stored.content)))


def test_a_record_shows_only_the_fields_that_say_something() -> None:
    lines = drawn(show.whole(knowledge("content", tags=("a", "b"), pinned=True)))
    told = {line.split("  ")[0] for line in lines[2:]}
    assert {"id", "tags", "pinned"} <= told
    assert not {"files", "flagged", "payload", "content"} & told


def test_a_turn_is_described_by_who_and_where() -> None:
    turn = Turn.make(id="t", session="s", seq=2, role="user", speaker="maya", text="hi", at=NOW, recorded_at=NOW)
    assert show.described(turn) == "maya, turn 3 of session s, 2026-05-08 13:56Z"


def test_history_repeats_no_text_that_stayed() -> None:
    def entry(action: Action, before: str | None) -> HistoryEntry:
        return HistoryEntry(at=NOW, actor="local", action=action, content_before=before)

    lines = drawn(show.history([entry(Action.FLAG, "old"), entry(Action.PIN, "old"), entry(Action.CREATE, None)]))

    assert sum("before: old" in line for line in lines) == 1
    assert [line.split()[2] for line in lines if line.startswith("2026")] == ["flag", "pin", "create"]
