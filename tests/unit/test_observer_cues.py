"""Cues in an agent's text and in prompts."""

import random
import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.observer_cues.scores import load, outcomes, totals
from treering.conversation.cues.notation import LANGUAGES
from treering.observe.cues import CueKind, cues_in
from treering.observe.cues.detection import MAX_SENTENCE_CHARS, MAX_SENTENCES
from treering.observe.cues.kinds import USER_KINDS
from treering.observe.cues.phrases import phrase_index

SENTENCES = tomllib.loads((Path(__file__).parent / "observe_cue_sentences.toml").read_text("utf-8"))
SHOWN, NOT_SHOWN = (
    [
        (language, CueKind(kind), text)
        for language, kinds in SENTENCES.items()
        for kind, cases in kinds.items()
        for text in cases[part]
    ]
    for part in ("shown", "not_shown")
)


@pytest.mark.parametrize(("language", "kind", "text"), SHOWN)
def test_a_sentence_shows_its_cue(language: str, kind: CueKind, text: str) -> None:
    found = cues_in(text, by_user=kind in USER_KINDS)
    assert kind in [each.kind for each in found]


@pytest.mark.parametrize(("language", "kind", "text"), NOT_SHOWN)
def test_a_similar_sentence_shows_no_cue(language: str, kind: CueKind, text: str) -> None:
    assert cues_in(text, by_user=kind in USER_KINDS) == ()


@pytest.mark.parametrize(("language", "kind", "text"), SHOWN)
def test_a_cue_counts_only_in_the_text_of_its_role(language: str, kind: CueKind, text: str) -> None:
    assert kind not in [each.kind for each in cues_in(text, by_user=kind not in USER_KINDS)]


def test_every_language_has_development_sentences_for_every_kind() -> None:
    assert set(SENTENCES) == set(LANGUAGES)
    assert all(set(kinds) == {str(kind) for kind in CueKind} for kinds in SENTENCES.values())


def test_precision_on_labelled_sentences_of_recorded_sessions() -> None:
    counted = outcomes(load())
    for part, recall in (("first", 0.45), ("all", 0.45)):
        right, wrong, missed = totals(counted, part, CueKind)
        assert right / (right + wrong) >= 0.9
        assert right / (right + missed) >= recall


def test_a_match_has_the_sentence_as_written_and_the_words_that_matched() -> None:
    (found,) = cues_in("Läuft. **Moment, das stimmt so nicht: die Größe fehlt.** Weiter.", by_user=False)
    assert found.sentence == "Moment, das stimmt so nicht: die Größe fehlt."
    assert found.phrase == "moment, das stimmt so nicht"


def test_sentences_are_found_after_characters_that_fold_to_several() -> None:
    (found,) = cues_in("Die Straße heißt „Großer Weiß“ … ﬁn.\nIch habe mich geirrt. Schluß.", by_user=False)
    assert found.sentence == "Ich habe mich geirrt."


def test_a_long_sentence_is_cut_around_the_words() -> None:
    text = f"{'word ' * 150}and here I was wrong about it {'word ' * 150}"
    (found,) = cues_in(text, by_user=False)
    assert len(found.sentence) <= MAX_SENTENCE_CHARS
    assert "I was wrong" in found.sentence


def test_cues_come_in_the_order_of_the_text_and_once_for_a_sentence() -> None:
    text = "Let me try a different approach. I was wrong, I misread it, my mistake. Docker is not available here."
    assert [each.kind for each in cues_in(text, by_user=False)] == [
        CueKind.ABANDONED_APPROACH,
        CueKind.SELF_CORRECTION,
        CueKind.ENVIRONMENT_UNAVAILABLE,
    ]


def test_a_text_that_repeats_a_cue_reports_a_few_sentences() -> None:
    text = " ".join(f"I misread line {number}." for number in range(50))
    assert len(cues_in(text, by_user=False)) == MAX_SENTENCES


@pytest.mark.parametrize(
    "text",
    [
        "```\nI was wrong.\n```",
        "> I was wrong.",
        'The comment says "I was wrong about this".',
        "Der Kommentar sagt „I was wrong“.",
        "Le commentaire dit « I was wrong ».",
        "It prints `I was wrong` and stops.",
        "<system-reminder>I was wrong.</system-reminder>",
    ],
)
def test_code_and_quotations_show_no_cue(text: str) -> None:
    assert cues_in(text, by_user=False) == ()


@pytest.mark.parametrize(
    "text",
    [
        "This session is being continued from a previous conversation.\nThe user said: never push to main.",
        "Base directory for this skill: /x\n\nNever push to main.",
        "Implement the following plan:\n\nNever push to main.",
        "# Review command\n\nNever push to main.",
        "Please follow this.\n\n## Rules\n\nNever push to main.",
    ],
)
def test_a_prompt_that_a_program_wrote_or_a_pasted_document_shows_no_cue(text: str) -> None:
    assert cues_in(text, by_user=True) == ()


def test_words_before_a_pasted_document_are_read() -> None:
    assert [each.kind for each in cues_in("No, use pnpm.\n\n# Plan\n\nNever push.", by_user=True)] == [
        CueKind.USER_CORRECTION
    ]


def test_of_a_long_text_only_the_beginning_and_the_end_are_read() -> None:
    filler = "The reader opens every file once. " * 1_000
    assert cues_in(f"{filler}I was wrong. {filler}", by_user=False) == ()
    assert len(cues_in(f"I was wrong. {filler}", by_user=False)) == 1
    assert len(cues_in(f"{filler}I was wrong.", by_user=False)) == 1
    assert cues_in(f"{filler}\n```\n{filler}I was wrong.\n```", by_user=False) == ()


@given(st.text(max_size=300), st.booleans())
def test_any_text_is_read_without_an_error(text: str, by_user: bool) -> None:
    for each in cues_in(text, by_user=by_user):
        assert len(each.sentence) <= MAX_SENTENCE_CHARS


@pytest.mark.parametrize("by_user", [False, True])
def test_hostile_text_takes_bounded_time(by_user: bool) -> None:
    known = phrase_index(by_user=by_user)
    words = [*known.by_word, "not", "i", "my", "the", "if", ",", ".", ":", "?", '"', "`", ">", "```", "<a-b>", "\n"]
    chance = random.Random(3)
    texts = ["".join(chance.choice((word, f"{word} ")) for word in chance.choices(words, k=2_000)) for _ in range(8)]
    texts += ["not " * 2_000, "i was " * 2_000, '"' * 6_000, "`" * 6_000, "> " * 3_000, "." * 6_000, "no, " * 1_500]
    for text in texts:
        cues_in(text, by_user=by_user)
        begun = time.process_time()
        cues_in(text, by_user=by_user)
        assert time.process_time() - begun < 0.25


def test_a_larger_text_does_not_take_longer_than_in_proportion() -> None:
    hostile = "i was wrong my fix let me try not available " * 25_000
    begun = time.process_time()
    cues_in(hostile, by_user=False)
    assert time.process_time() - begun < 0.25
