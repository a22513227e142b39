"""What of a model's answer is shown: sentences with valid citations, and nothing else."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treering.context.answers import AnswerPassage, checked_sentence, sentences_of
from treering.core.records import Knowledge

QUESTION = "When do tokens expire?"


def passage(number: int, text: str) -> AnswerPassage:
    at = datetime(2026, 5, 8, tzinfo=UTC)
    record = Knowledge.make(
        id=f"k{number}", content=text, type="fact", created_at=at, updated_at=at, last_accessed_at=at
    )
    return AnswerPassage(number, record.id, "knowledge", text, "fact, 2026-05-08", 1.0, record)


PASSAGES = (passage(1, "Access tokens expire after 24 hours."), passage(2, "Refresh tokens need Redis, 1,500 at most."))


@pytest.mark.parametrize(
    ("line", "sentences"),
    [
        ("They expire [1]. They need Redis [2].", ["They expire [1].", "They need Redis [2]."]),
        ("They expire. [1] They need Redis. [2]", ["They expire. [1]", "They need Redis. [2]"]),
        ("- They use e.g. Redis 7.2 [2].", ["They use e.g. Redis 7.2 [2]."]),
        ("1. Ask Dr. No. about api/auth.py [1]", ["Ask Dr. No. about api/auth.py [1]"]),
        ("トークンは失効します。[1]以上です。", ["トークンは失効します。[1]", "以上です。"]),
        ("No stop at all [1, 2]", ["No stop at all [1, 2]"]),
        ("   ", []),
    ],
)
def test_a_line_is_split_into_sentences_with_their_citations(line: str, sentences: list[str]) -> None:
    assert sentences_of(line) == sentences


@pytest.mark.parametrize(
    ("written", "text", "numbers"),
    [
        ("They expire after 24 hours [1].", "They expire after 24 hours.", (1,)),
        ("They expire [1][2].", "They expire.", (1, 2)),
        ("They expire [2, 1, 2].", "They expire.", (2, 1)),
        ("They expire [7][1].", "They expire.", (1,)),
        ("At most 1500 of them [2].", "At most 1500 of them.", (2,)),
        ("It was stored on 8 May 2026 [1].", None, ()),
        ("Stored on 2026-05-08 [1].", "Stored on 2026-05-08.", (1,)),
        ("They expire after 48 hours [1].", None, ()),
        ("They expire after 24 hours [2].", None, ()),
        ("They expire after 24 hours [7].", None, ()),
        ("They expire after 24 hours.", None, ()),
        ("[1]", None, ()),
    ],
)
def test_a_sentence_needs_a_citation_that_contains_its_figures(
    written: str, text: str | None, numbers: tuple[int, ...]
) -> None:
    found = checked_sentence(written, QUESTION, PASSAGES)
    assert ((None, ()) if found is None else (found.text, found.numbers)) == (text, numbers)


@given(st.text(alphabet="aA1 .!?[]2,9\n\"'。é", max_size=200))
def test_whatever_a_model_writes_no_sentence_is_shown_without_a_passage(text: str) -> None:
    for line in text.split("\n"):
        for sentence in sentences_of(line):
            found = checked_sentence(sentence, QUESTION, PASSAGES)
            assert found is None or (found.numbers and set(found.numbers) <= {1, 2} and found.text)


@given(st.lists(st.sampled_from(["Tokens expire", "e.g. here", "[1]", "[2].", ".", "!", "24 hours"]), max_size=12))
def test_splitting_loses_no_word(words: list[str]) -> None:
    line = " ".join(words)
    assert " ".join(sentences_of(line)).replace(" ", "") == line.replace(" ", "")
