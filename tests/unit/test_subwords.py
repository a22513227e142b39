"""Short texts have the tokens that the `tokenizers` package makes of them."""

import json
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from treering.adapters.models.bundled import _rules
from treering.adapters.models.subwords import MAX_CHARACTERS, Subwords


def rules() -> bytes:
    spec = find_spec("wordllama")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return _rules(Path(spec.submodule_search_locations[0]))


RULES = rules()
SUBWORDS = Subwords(RULES)
TOKENIZER = Tokenizer.from_buffer(RULES)
MODEL = json.loads(RULES)["model"]


def assert_same(text: str) -> None:
    assert SUBWORDS.tokens(text) == TOKENIZER.encode(text, add_special_tokens=False).ids, text


def test_the_vocabulary_is_that_of_the_rules() -> None:
    assert SUBWORDS._ids == MODEL["vocab"]
    assert all(f"<0x{byte:02X}>" in SUBWORDS._ids for byte in range(256))


def test_two_tokens_can_be_joined_if_their_text_is_a_token() -> None:
    ids = SUBWORDS._ids
    every = {
        (text[:at], text[at:]) for text in ids for at in range(1, len(text)) if {text[:at], text[at:]} <= ids.keys()
    }
    assert {tuple(each.split(" ")) for each in MODEL["merges"]} == every


def test_the_order_of_the_rules_is_that_of_the_joins() -> None:
    joins = [SUBWORDS._join(each.split(" "), 0, 1) for each in MODEL["merges"]]
    keys = [join[:3] for join in joins if join is not None]
    assert len(keys) == len(MODEL["merges"])
    assert all(one < other for one, other in pairwise(keys))


def test_no_token_continues_after_a_space() -> None:
    assert not [text for text in SUBWORDS._ids if "▁" in text.lstrip("▁")]


def test_the_model_splits_nothing_else_and_adds_only_a_leading_space() -> None:
    whole = json.loads(RULES)
    assert whole["pre_tokenizer"] is None
    assert [each["type"] for each in whole["normalizer"]["normalizers"]] == ["Prepend", "Replace"]
    assert {each["content"] for each in whole["added_tokens"]} == {"<unk>", "<s>", "</s>"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "how is a pending request cancelled",
        "  two  spaces   and more     ",
        "▁already▁marked ▁ twice",
        "tab\tand\nline\r\n\n",
        "naïve café Straße ŁódźŻ ﬁ",
        "日本語のテキスト и русский текст, ไทย, 한국어, العربية",
        "🪵🧑‍🚀 \x00 \x7f \ufeff",
        "<s <0x0A> </ s> <unk",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" * 8,
        "snake_case.camelCase::Path/to/file.py:12 --flag=0x1F",
        "a" * MAX_CHARACTERS,
    ],
)
def test_tokens_are_those_of_the_package(text: str) -> None:
    assert_same(text)


@given(st.text(max_size=200))
def test_tokens_of_any_text_are_those_of_the_package(text: str) -> None:
    if SUBWORDS.tokens(text) is not None:
        assert_same(text)


@given(st.text(alphabet=" ▁etainos", max_size=60))
def test_tokens_of_common_letters_are_those_of_the_package(text: str) -> None:
    assert_same(text)


def test_words_of_the_vocabulary_in_a_row_are_split_alike() -> None:
    words = [text.replace("▁", " ") for text in SUBWORDS._ids if not text.startswith("<")]
    for first in range(0, len(words), 40):
        for between in ("", " "):
            assert_same(between.join(words[first : first + 40])[:MAX_CHARACTERS])


@pytest.mark.parametrize("text", ["a <s> b", "</s>", "<unk>", "a" * (MAX_CHARACTERS + 1)])
def test_special_tokens_and_long_texts_are_left_to_the_package(text: str) -> None:
    assert SUBWORDS.tokens(text) is None
