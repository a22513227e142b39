"""A rule that is left out because no text it needs occurs would not have matched."""

import re
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treering.core.time_words.lexicon import fold
from treering.search.query_kinds import LONGEST_QUERY, RULES, KindRule, QueryClass, classify_query, lower

parser: Any = import_module("re._parser")
GATED = [rule for rule in RULES if rule.needed]
WORDS = sorted({word for rule in GATED for word in re.findall(r"[a-z]{2,}|[' -]", rule.expression)})
NAMES = ["parse_config", "loadUser", "the module", "colonne", "Datei", "SQLite", "café", "\u0131mports", "u\u017fes"]
queries = st.lists(st.sampled_from([*WORDS, *NAMES]), max_size=10).map(" ".join) | st.text(max_size=60)


def without_needed(nodes: Iterable[Any], needed: tuple[str, ...], before: frozenset[str]) -> frozenset[str]:
    """How a match of a parsed expression may end without any text of `needed` in it; none if it has one always.

    `before` are the texts that it may follow. Whatever is not plain text is taken for any text.
    """
    ends = before
    for kind, value in nodes:
        match str(kind):
            case "LITERAL":
                longer = {f"{end}{chr(value).lower()}" for end in ends}
                ends = frozenset(end[-20:] for end in longer if not end.endswith(needed))
            case "SUBPATTERN":
                ends = without_needed(value[-1], needed, ends)
            case "BRANCH":
                ends = frozenset().union(*(without_needed(branch, needed, ends) for branch in value[1]))
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, inner = value
                once = without_needed(inner, needed, ends)
                gap = frozenset({""} if once and most > 1 else ())
                ends = once | gap | (frozenset() if least else ends)
            case "ASSERT" | "ASSERT_NOT" | "AT":
                pass
            case _:
                ends = frozenset({""} if ends else ())
    return ends


@pytest.mark.parametrize("rule", GATED, ids=lambda rule: rule.why)
def test_every_match_of_a_rule_contains_a_text_that_it_needs(rule: KindRule) -> None:
    assert without_needed(parser.parse(rule.expression, re.I), rule.needed, frozenset({""})) == frozenset()


@pytest.mark.parametrize("rule", GATED, ids=lambda rule: rule.why)
def test_every_text_that_a_rule_needs_is_necessary(rule: KindRule) -> None:
    for text in rule.needed:
        others = tuple(each for each in rule.needed if each != text)
        assert without_needed(parser.parse(rule.expression, re.I), others, frozenset({""}))


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
