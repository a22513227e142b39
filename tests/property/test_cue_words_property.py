"""Words of a text are the same however they are found."""

from hypothesis import example, given
from hypothesis import strategies as st

from treering.conversation.cues.texts import WORD, words_of

TEXTS = st.text(st.characters(codec=None), max_size=80) | st.text("ab_1 -—…\u00a0\u0300é中'`\ud800", max_size=40)


@given(TEXTS)
@example("naïve—café’s x\ud800y")
def test_words_are_those_of_the_expression(text: str) -> None:
    assert words_of(text) == set(WORD.findall(text))
