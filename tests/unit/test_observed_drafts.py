"""Sentences that the observer writes from evidence."""

from typing import Any

import pytest

from treering.observe.promotion.drafts import EvidenceSupport, draft_of
from treering.observe.promotion.novelty import has_same_names
from treering.observe.scratchpad import Signal


def text_of(signal: Signal, detail: dict[str, Any], files: tuple[str, ...] = ()) -> str | None:
    draft = draft_of(signal, EvidenceSupport("subject", detail, files, sessions=2))
    return None if draft is None else draft.text


def test_a_message_with_backticks_stays_one_piece_of_code() -> None:
    detail = {"command": "make lint", "summary": "use of `os.Getwd` forbidden", "tally": {"editing `a.go`": [2, 2]}}
    assert text_of(Signal.ERROR_RETRY, detail) == (
        "`make lint` fails with `` use of `os.Getwd` forbidden `` (seen in 2 sessions; resolved by editing `a.go`)"
    )


@pytest.mark.parametrize("cue", ["user_correction", "explicit_rule", "self_correction"])
def test_a_sentence_that_only_announces_something_is_no_record(cue: str) -> None:
    assert text_of(Signal.SELF_CORRECTION, {"cue": cue, "sentence": "Again, this is not correct:"}, ("a.go",)) is None


def test_an_alternative_that_repeats_the_approach_is_none() -> None:
    sentence = "Let me revert the interface and add a helper instead."
    detail = {"cue": "abandoned_approach", "sentence": sentence, "dead_end": True, "alternative": sentence}
    assert text_of(Signal.SELF_CORRECTION, detail) is None
    named = {"alternative": "Let me add a helper:", "approach": "I tried an interface."}
    assert text_of(Signal.SELF_CORRECTION, detail | named) == (
        "Did not work: I tried an interface. Instead: Let me add a helper."
    )


@pytest.mark.parametrize(
    ("content", "text", "same"),
    [
        ("`a.go` and `b.go` are edited together", "`a.go` and `b.go` are edited together", True),
        ("`a.go` and `c.go` are edited together", "`a.go` and `b.go` are edited together", False),
        ("Change b.go whenever you change a.go", "`a.go` and `b.go` are edited together", True),
        ("Change a.go", "`a.go` and `b.go` are edited together", False),
        ("First `make lint`, then `make test`", "First `make test`, then `make lint`", False),
        ("First `make lint`, then `make test`", "First `make lint`", False),
        ("`x` fails with `` no `y` ``", "`x` fails with `` no `y` ``", True),
        ("Use pnpm", "Always use pnpm", True),
    ],
)
def test_a_record_says_the_same_only_with_the_same_names(content: str, text: str, same: bool) -> None:
    assert has_same_names(content, text) is same


def test_a_dead_end_names_what_was_tried() -> None:
    detail = {
        "cue": "abandoned_approach",
        "sentence": "That approach does not work because the timer is global.",
        "dead_end": True,
        "approach": "I tried to mock the clock.",
        "reason": "the timer is global",
    }
    assert text_of(Signal.SELF_CORRECTION, detail) == (
        "Did not work: I tried to mock the clock. Reason: the timer is global."
    )


@pytest.mark.parametrize(
    ("sentence", "lasts"),
    [
        ("No, use pnpm for the web client", True),
        ("Nein, nutze bitte pnpm", True),
        ("Revert your file.", False),
        ("I meant the comment on the other request", False),
    ],
)
def test_a_correction_is_kept_if_it_holds_for_the_next_session(sentence: str, lasts: bool) -> None:
    assert (text_of(Signal.SELF_CORRECTION, {"cue": "user_correction", "sentence": sentence}) is not None) is lasts


def test_a_dead_end_without_approach_and_reason_is_none() -> None:
    detail = {"sentence": "Let me try something else.", "dead_end": True, "alternative": "Let me read the history."}
    assert text_of(Signal.SELF_CORRECTION, detail | {"cue": "abandoned_approach"}) is None
    assert text_of(Signal.SELF_CORRECTION, detail | {"cue": "environment_unavailable"}) is not None


def test_a_configuration_file_comes_with_the_files_of_three_sessions() -> None:
    detail = {"tally": {"go.sum": [3, 3], "tides/tide.go": [2, 2]}}
    assert text_of(Signal.CONFIG_TOUCH, detail, ("go.mod", "tides/tide.go", "go.sum")) == (
        "A change of `go.mod` comes with changes of `go.sum` (seen in 2 sessions)"
    )
    assert text_of(Signal.CONFIG_TOUCH, {"tally": {"go.sum": [2, 2]}}, ("go.mod", "go.sum")) is None


def test_a_program_that_downloads_is_not_a_reference() -> None:
    files = ("tides/tide.go",)
    support = EvidenceSupport("download: gh pr", {"source": "download: gh pr"}, files, sessions=3)
    assert draft_of(Signal.EXTERNAL_REFERENCE, support) is None
