"""Cues in an agent's text and in prompts."""

import tomllib
from pathlib import Path

import pytest

from treering.conversation.cues.notation import LANGUAGES
from treering.observe.cues import CueKind, cues_in
from treering.observe.cues.kinds import USER_KINDS

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
