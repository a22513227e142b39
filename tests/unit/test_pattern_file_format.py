"""Patterns as text: readable, the same when read again, and never a surprise."""

import json
from typing import Any

import pytest
from hypothesis import given

from tests.property.strategies import records, values
from tests.samples import NOW, sample
from treering.core.errors import InvalidInput
from treering.core.patterns import Pattern
from treering.patterns.file_format import read, to_json, to_yaml

BY_HAND = """
treering_patterns: 1
patterns:
  - id: small-steps
    name: Small steps
    category: strategy
    summary: One change, one test run.
    applicability:
      problem_types: [refactor]
      complexity_max: 0.5
      conditions:
        - {form: test, field: languages, operator: eq, value: python}
        - {form: test, field: context.since, operator: eq, value: 2026-05-08}
        - {form: test, field: context.answer, operator: in, value: [yes, 010, 12:30, 1e3, true, null]}
    content:
      form: strategy
      approach: |
        Change one thing.
        Run the tests.
"""


def pattern(id: str = "x", **fields: Any) -> Pattern:
    made: Pattern = sample(Pattern, id, **fields)
    return made


@given(patterns=records(Pattern))
def test_patterns_are_equal_after_yaml_and_after_json(patterns: list[Pattern]) -> None:
    assert read(to_yaml(patterns)) == tuple(patterns)
    assert read(to_json(patterns)) == tuple(patterns)


@given(pattern=values(Pattern))
def test_whatever_a_pattern_holds_survives(pattern: Pattern) -> None:
    assert read(to_yaml([pattern])) == (pattern,)
    assert read(to_json([pattern])) == (pattern,)
    assert read(to_yaml([pattern]))[0].to_json() == pattern.to_json()


@pytest.mark.parametrize(
    "text",
    ["yes", "no", "null", "~", "", " ", "010", "0x1f", "1e3", "12:30", "2026-05-08", "=", "<<", "- a", "a: b", "#x",
     "&a *b",
     "line\nline", "line\n  indented\n", "\n", "tab\there", "\ttab", "trailing \nspace", "\u2028", "\x85",
     "\ufeff", "é😀",
     "%", "|", ">", "'\"", "...", "---", "--- a\n...", "\x7f", "\r\n", "a\n\n\nb", "a\n\n", "1_000", ".inf",
     "+1", "-.5"],
)  # fmt: skip
def test_awkward_texts_survive(text: str) -> None:
    given = pattern(summary=text, description=f"x\n{text}", metadata={"k": text, "list": [text, {"k": text}]})
    assert read(to_yaml([given])) == (given,)
    assert read(to_json([given])) == (given,)


def test_what_people_write_by_hand_is_read_as_they_mean_it() -> None:
    (read_again,) = read(BY_HAND, now=NOW)
    assert read_again.created_at == read_again.updated_at == NOW
    assert read_again.content.approach == "Change one thing.\nRun the tests.\n"
    assert [each.value for each in read_again.applicability.conditions] == [
        "python",
        "2026-05-08",
        ("yes", "010", "12:30", 1000.0, True, None),
    ]


def test_the_yaml_is_readable() -> None:
    said = "First do this.\nThen do that."
    text = to_yaml([pattern(description=said, evidence={"confidence": 0.5})])
    assert "description: |-\n    First do this.\n    Then do that.\n" in text
    assert "confidence: 0.5" in text
    assert "guidance" not in text, "what stands at its default is left out"
    assert "form: strategy" in text
    assert "created_at: 2026-05-08T13:56:00+00:00" in text


def test_files_are_the_same_whoever_writes_them() -> None:
    given = [pattern("a"), pattern("b", metadata={"x": [1, 2]})]
    assert to_yaml(given) == to_yaml(read(to_json(given)))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not a file of patterns"),
        ("hello", "not a file of patterns"),
        ("- a", "not a file of patterns"),
        ("treering_patterns: 2\npatterns: []", "format 2.*upgrade"),
        ("treering_patterns: 1\npatterns: {}", "not a list"),
        ("treering_patterns: 1", "not a list"),
        ("treering_patterns: 1\npatterns: []\nextra: 1", "unknown keys .*: extra"),
        ("treering_patterns: 1\npatterns: [", "line 3.*not YAML"),
        ("treering_patterns: 1\npatterns:\n  - a: 1\n    a: 2\n", "line 4.*'a' occurs twice"),
        ("treering_patterns: 1\npatterns:\n  - &a {x: 1}\n  - *a\n", "line 4.*is an alias"),
        ("treering_patterns: 1\npatterns: !!python/object/apply:os.system ['true']", "line 2.*not YAML"),
        ("treering_patterns: 1\npatterns: !!set {a}", "not a list"),
        ("treering_patterns: 1\n---\npatterns: []", "line 2"),
        ("treering_patterns: 1\npatterns: " + "[" * 100_000, "line 2.*deeper"),
        ("treering_patterns: 1\npatterns: []\n\x00", "not YAML"),
        ("treering_patterns: 1\nx: " + "9" * 5_000, "not YAML that can be read"),
        ("{", "line 1: not JSON"),
        ('{"treering_patterns": 1,\n"patterns": [}', "line 2: not JSON"),
        ('{"treering_patterns": 1, "patterns": NaN}', "NaN"),
        ('{"treering_patterns": 1, "treering_patterns": 1}', "twice"),
        ('{"a": ' * 100_000, "not JSON"),
        (BY_HAND, "line 4, patterns.0.created_at: Field required"),
        (BY_HAND.replace("complexity_max: 0.5", "complexity_max: 5"), "line 10, patterns.0.applicability.complexity_m"),
        (BY_HAND.replace("operator: eq, value: python", "operator: like"), "line 12, .*conditions.0.test.operator"),
        (BY_HAND.replace("summary:", "sumary:"), "line 7, patterns.0.sumary"),
        (BY_HAND.replace("form: strategy", "form: song"), "line 15, patterns.0.content"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        read(text)


def test_json_that_is_wrong_names_its_line_too() -> None:
    wrong = json.loads(to_json([pattern()]))
    wrong["patterns"][0]["category"] = "mood"
    text = json.dumps(wrong, indent=1)
    line = 1 + text[: text.index('"category"')].count("\n")
    with pytest.raises(InvalidInput, match=f"line {line}, patterns.0.category"):
        read(text)


def test_an_id_stands_once_in_a_file() -> None:
    with pytest.raises(InvalidInput, match=r"patterns\.1\.id: 'x' is also the id of pattern 0"):
        read(to_yaml([pattern(), pattern(name="other")]))


def test_nothing_but_plain_values_is_built() -> None:
    bomb = "treering_patterns: 1\npatterns:\n  - !!python/object/new:subprocess.Popen [[touch, /tmp/owned]]\n"
    with pytest.raises(InvalidInput, match="line 3"):
        read(bomb)
