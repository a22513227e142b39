"""What reading cues promises for any message."""

import random
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.growth import LINEAR, growth
from treering.conversation.cues import MessageCues, cues_of
from treering.conversation.cues.phrases import lead_words, phrase_index, small_talk
from treering.conversation.topics import Topic, subject_of
from treering.core.messages import Message, Role

WORDS = sorted(
    {word for role in (Role.USER, Role.TOOL) for word in phrase_index(role).by_word}
    | lead_words()
    | {word for said in small_talk().phrases for word in said.split()}
    | {"error:", "KeyError:", ",", ".", "?", "!", "\n", "```", "<system-reminder>", "'", "¿", "500", "exit code 1", ":"}
)
TALK = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)
# A message holds neither half characters nor NUL.
ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=300)
TEXTS = st.one_of(ANY, TALK)
ROLES = st.sampled_from(list(Role))
# A megabyte of what regular expressions are afraid of.
HOSTILE = {
    "a letter": "a" * 10**6,
    "spaces": " " * 10**6,
    "stops": "." * 10**6,
    "quotes": "'" * 10**6,
    "lines": "\n" * 10**6,
    "fences": "```" * 333_333,
    "tags": "<a-b>" * 200_000,
    "accents": "e\u0301" * 500_000,
    "never": "never " * 166_666,
    "references": "code above " * 90_000,
    "errors": "error: " * 142_857,
    "glued errors": "error" * 200_000,
    "gaps": "muss x " * 142_857,
    "mixed": " ".join(random.Random(5).choices(WORDS, k=150_000)),
}


def _said(text: str, role: Role = Role.USER) -> MessageCues:
    return cues_of(Message.of(role, text))


def _flags(cues: MessageCues) -> tuple[object, ...]:
    return cues.directive, cues.correction, cues.error, cues.casual, cues.opens_task, cues.ends_task, cues.references


@given(TEXTS, ROLES)
@example("¿", Role.USER)
@example("?", Role.TOOL)
def test_any_text_is_read_and_explained(text: str, role: Role) -> None:
    cues = _said(text, role)
    named = [cue for cue, _ in cues.why]
    assert cues.references == named.count("references") <= 5
    for cue in ("directive", "correction", "error", "casual", "opens_task", "ends_task"):
        assert getattr(cues, cue) == (cue in named)
    assert all(words and len(words) <= 60 for _, words in cues.why)


@given(TEXTS, ROLES)
def test_small_talk_is_nothing_else(text: str, role: Role) -> None:
    cues = _said(text, role)
    if cues.casual:
        assert _flags(cues) == (False, False, False, True, False, False, 0)


@given(TEXTS)
def test_roles_show_only_what_is_theirs(text: str) -> None:
    assert _said(text, Role.SYSTEM) == MessageCues()
    told = _said(text, Role.ASSISTANT)
    assert (told.directive, told.correction, told.opens_task) == (False, False, False)
    printed = _said(text, Role.TOOL)
    assert _flags(printed) == (False, False, printed.error, False, False, False, 0)


@given(TALK)
def test_case_accents_and_apostrophes_do_not_matter(text: str) -> None:
    expected = _flags(_said(text))
    assert _flags(_said(text.upper())) == expected
    assert _flags(_said(text.replace("'", "’"))) == expected
    assert _flags(_said(text.replace("e", "é").replace("a", "à"))) == expected
    assert _flags(_said(unicodedata.normalize("NFD", text.replace("u", "ü")))) == expected


@given(TEXTS, ROLES)
def test_the_same_message_is_read_the_same(text: str, role: Role) -> None:
    assert _said(text, role) == _said(text, role)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("role", [Role.USER, Role.ASSISTANT, Role.TOOL])
def test_a_megabyte_takes_bounded_time(text: str, role: Role) -> None:
    def read(text: str) -> None:
        cues_of(Message.of(role, text))
        subject_of(text)

    assert growth(read, text[: len(text) // 4], text) < LINEAR


@given(st.lists(TEXTS, max_size=8))
def test_a_topic_takes_any_messages(texts: list[str]) -> None:
    topic = Topic()
    for text in texts:
        subject = subject_of(text)
        assert 0.0 <= topic.likeness(subject) <= 1.0 + 1e-9
        assert not (subject.replies and topic.shifts(subject))
        topic = topic.followed_by(subject, by_user=True)
