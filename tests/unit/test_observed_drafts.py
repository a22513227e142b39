"""Sentences that the observer writes from evidence."""

from typing import Any

import pytest

from treering.observe.promotion.drafts import Support, draft_of
from treering.observe.promotion.novelty import has_same_names
from treering.observe.scratchpad import Signal


def text_of(signal: Signal, detail: dict[str, Any], files: tuple[str, ...] = ()) -> str | None:
    draft = draft_of(signal, Support("subject", detail, files, sessions=2))
    return None if draft is None else draft.text


def test_a_message_with_backticks_stays_one_piece_of_code() -> None:
    detail = {"command": "make lint", "summary": "use of `os.Getwd` forbidden", "resolution": "edited `a.go`"}
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
    assert text_of(Signal.SELF_CORRECTION, detail | {"alternative": "Let me add a helper:"}) == (
        f"An approach was given up: {sentence} Instead: Let me add a helper."
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
