"""A rule that is left out because no text it needs occurs would not have matched."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.required_texts import endings_without
from treering.core.language.folding import lower
from treering.core.time_words.lexicon import fold
from treering.search.query_kinds import LONGEST_QUERY, RULES, KindRule, QueryClass, classify_query

GATED = [rule for rule in RULES if rule.needed]
WORDS = sorted({word for rule in GATED for word in re.findall(r"[a-z]{2,}|[' -]", rule.expression)})
NAMES = ["parse_config", "loadUser", "the module", "colonne", "Datei", "SQLite", "café", "\u0131mports", "u\u017fes"]
queries = st.lists(st.sampled_from([*WORDS, *NAMES]), max_size=10).map(" ".join) | st.text(max_size=60)


@pytest.mark.parametrize("rule", GATED, ids=lambda rule: rule.why)
def test_every_match_of_a_rule_contains_a_text_that_it_needs(rule: KindRule) -> None:
    assert endings_without(rule.needed, rule.expression) == frozenset()


@pytest.mark.parametrize("rule", GATED, ids=lambda rule: rule.why)
def test_every_text_that_a_rule_needs_is_necessary(rule: KindRule) -> None:
    for text in rule.needed:
        others = tuple(each for each in rule.needed if each != text)
        assert endings_without(others, rule.expression)


def test_every_character_that_matches_a_letter_is_lowered_to_it() -> None:
    letter = re.compile("[a-z]", re.I)
    for character in filter(letter.match, map(chr, range(sys.maxunicode + 1))):
        assert re.fullmatch("[a-z]", lower(character))
        assert re.fullmatch(lower(character), character, re.I)


@given(queries)
def test_a_query_is_of_the_kind_that_all_rules_give_it(query: str) -> None:
    text = fold(query[:LONGEST_QUERY])
    expected = next(
        (QueryClass(rule.kind, rule.why) for rule in RULES if rule.pattern.search(text)), classify_query("")
    )
    assert classify_query(query) == expected
