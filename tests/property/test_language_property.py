"""Any text becomes terms, the same each time, in time that grows with its length only."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.growth import LINEAR, growth
from treering.core.language.folding import bare, fold
from treering.core.language.stems import LANGUAGES, language_of, stop_words
from treering.core.language.terms import analyse, code_of, codes_of, query_terms, terms_of
from treering.core.language.text_features import asks, names_time, speaker_of
from treering.core.language.words import words_of

_PIECES = (
    "water", "dogs", "don't", "l'école", "Mel's", "HTTPServer", "src/auth/token_store.py", "pkg.mod.func", "v1.2.3",
    "1,000", "3.50", "2023-05-08", "May", "8", "a@b.co", "https://x.org/y", "--", "--dry-run", "数据库", "的是",
    "デプロイ", "กรุงเทพ", "전화", ".", "/", "\\", "'", ":", "::", "->", "@", "#", "++", "_", "~", "`", ",", "\x00",
    "\ud800", "ﬁ", "й",
)  # fmt: skip
_HOSTILE = (
    "a", "a.", "/a", "aB", "1", "1,", "1 may 2023 ", "-", "'a", "中", "://", "http://a", "😀", "a@b.", "1 000 ", "_",
    "a:",
    "\u0301", "\u0301\u0323", "\u3099\u302e", "é", "Ａ", "\x00", "?", "may ", "x: ",
)  # fmt: skip
texts = (
    st.text(st.characters())
    | st.lists(st.sampled_from(_PIECES)).map("".join)
    | st.lists(st.sampled_from(_PIECES)).map(" ".join)
    | st.text("aA1.-_/:'@,中é ")
)
languages = st.none() | st.sampled_from((*LANGUAGES, "", "xx", "en-US"))


@given(text=texts, language=languages)
def test_any_text_is_read(text: str, language: str | None) -> None:
    terms = terms_of(text, language)
    found = analyse(text, language)
    assert found.length == len(terms)
    assert list(found.codes) == sorted(set(codes_of(terms)))
    assert len(found.counts) == len(found.codes)
    assert all(0 < count <= 255 for count in found.counts)
    assert all(term and len(term) <= 60 for term in terms)
    assert language_of(text) in (*LANGUAGES, "ko", "th", "")
    assert speaker_of(text) == fold(speaker_of(text))
    assert isinstance(asks(text), bool)
    assert isinstance(names_time(text), bool)


@given(text=texts, known=st.lists(st.sampled_from(LANGUAGES), max_size=3))
def test_any_query_is_read(text: str, known: list[str]) -> None:
    terms = query_terms(text, known)
    assert len(terms) <= 64
    assert len({term.forms[0] for term in terms}) == len(terms)
    assert all(term.word in term.forms and len(set(term.forms)) == len(term.forms) for term in terms)


@example(text="й\u0306\u0301ẞ\u0345が")
@given(text=texts)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text) == fold(bare(text))


@given(text=texts, language=st.sampled_from(LANGUAGES))
def test_a_word_of_a_text_is_found_in_it(text: str, language: str) -> None:
    terms = set(terms_of(text, language))
    for piece in text.split()[:20]:
        for term in query_terms(piece, [language]):
            if set(words_of(term.word)) <= stop_words(language) or set(term.word) <= stop_words(language):
                continue
            if term.word in words_of(piece):
                assert terms & set(term.forms)


@given(term=st.text(st.characters()))
def test_a_code_is_stable_and_of_32_bits(term: str) -> None:
    assert code_of(term) == code_of(term) == codes_of([term])[0]
    assert 0 <= code_of(term) < 2**32


@pytest.mark.parametrize("unit", _HOSTILE)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    def read(text: str) -> None:
        for reader in (analyse, query_terms, names_time, asks, speaker_of):
            reader(text)

    text = unit * (100_000 // len(unit))
    assert growth(read, text[:25_000], text) < LINEAR
