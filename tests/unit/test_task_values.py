"""Contents, variables, sections, temperature and sizes: the parts that need no store."""

import json

import pytest

from treering.core.delimiters import escaped
from treering.core.errors import InvalidInput
from treering.core.settings import TaskSettings
from treering.core.tokens import estimate_tokens
from treering.task.content import content_of, extract_of, without_encoded_secrets
from treering.task.sections import KINDS, Section, Temperature, budgets
from treering.task.sizes import ItemSizes, max_tokens_of
from treering.task.temperature import temperature
from treering.task.variables import Variables, accumulated, frozen_value, max_shown_tokens, shown_value

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    "output",
    [
        "",
        "plain",
        "with\0nul",
        "lone \ud800 surrogate",
        "line\r\nends\n",
        b"",
        b"text as bytes",
        b"\xff\xfe\x00binary",
        bytes(range(256)),
        {"a": [1, 2.5, None, True], "é": "ü\0\ud800"},
        [],
        7,
        None,
        True,
    ],
)
def test_an_output_comes_back_as_it_was(output: object) -> None:
    content = content_of(output)
    assert content.value == output
    assert type(content.value) is type(output)
    assert type(content).from_json(content.to_json()) == content
    content.shown.encode()


@pytest.mark.parametrize("output", [object(), {1, 2}, float("nan"), {"a": object()}])
def test_an_output_that_is_not_json_is_refused_with_advice(output: object) -> None:
    with pytest.raises(InvalidInput, match="convert it to text"):
        content_of(output)


def test_base64_does_not_hide_a_secret_from_the_store() -> None:
    for output in (f"\0 token = {SECRET}", b"\xff token = " + SECRET.encode()):
        value = without_encoded_secrets(content_of(output)).value
        assert SECRET not in str(value)
        assert value[0] == output[0]


def test_an_extract_is_one_line_of_the_beginning_and_the_end() -> None:
    assert extract_of("one\n\n two  three\nfour", 80) == "one … four"
    assert extract_of(" \n ", 80) == ""
    assert len(extract_of("x" * 500, 80)) == 80
    assert "\n" not in extract_of("a\nb\nc" * 100, 80)


@pytest.mark.parametrize("total", [1_000, 7_777, 20_000, 100_000])
def test_sections_move_with_the_total_and_never_exceed_it(total: int) -> None:
    shares = budgets(TaskSettings(total=total))
    assert sum(shares.values()) <= total
    assert shares[Section.RESULTS] == 8_000 * total // 20_000


def test_the_default_sections_are_those_of_the_requirement() -> None:
    expected = {"system": 2_000, "task": 5_000, "execution": 3_000, "results": 8_000, "retrieved": 2_000}
    assert {section.value: budget for section, budget in budgets(TaskSettings()).items()} == expected


@pytest.mark.parametrize(
    ("kind", "back", "expected"),
    [
        ("result", 1, "hot"),
        ("result", 2, "warm"),
        ("result", 5, "warm"),
        ("result", 6, "cold"),
        ("current", 0, "hot"),
        ("goal", 0, "hot"),
        ("criterion", 0, "hot"),
        ("critical", 0, "hot"),
        ("constraint", 0, "warm"),
        ("step", 0, "warm"),
        ("retrieved", 0, "warm"),
        ("task variable", 0, "warm"),
        ("trace", 0, "cold"),
    ],
)
def test_temperature_follows_the_table(kind: str, back: int, expected: str) -> None:
    assert temperature(kind, back, whole=True, old_after=5) is Temperature(expected)
    assert temperature(kind, back, whole=False, old_after=5) is Temperature.COLD
    assert kind in KINDS


@pytest.mark.parametrize("value", [object(), {1}, b"bytes", float("inf"), "nul \0", "\ud800"])
def test_a_variable_that_is_not_json_is_refused_by_name(value: object) -> None:
    with pytest.raises(InvalidInput, match="'key'"):
        frozen_value("key", value)


def test_a_variable_nested_too_deep_is_refused_with_the_limit() -> None:
    deep: object = 1
    for _ in range(25):
        deep = [deep]
    with pytest.raises(InvalidInput, match="24 levels"):
        frozen_value("key", deep)


@pytest.mark.parametrize(
    "value",
    ["", "text", "A1" * 40, "и" * 50, "😀" * 9, '"\\\n\x01' * 9, 7, -1.5e300, 2**70, [1, [2]], {"a": {"b": "c"}}],
)
def test_a_guess_is_never_too_low(value: object) -> None:
    frozen = frozen_value("key", value)
    assert estimate_tokens(shown_value(frozen)) <= max_shown_tokens(frozen)
    text = str(value)
    assert estimate_tokens(text) <= max_tokens_of(len(text), plain=text.isascii())


def test_accumulators_gather_by_what_they_hold() -> None:
    assert accumulated("k", (1,), "a") == (1, "a")
    assert accumulated("k", (1,), (2, 3)) == (1, 2, 3)
    assert accumulated("k", 1, 2.5) == 3.5
    assert dict(accumulated("k", {"a": 1}, {"b": 2})) == {"a": 1, "b": 2}
    for before, more in ((1, "a"), (True, 1), ({"a": 1}, 1)):
        with pytest.raises(InvalidInput, match="lists take any value"):
            accumulated("k", before, more)
    with pytest.raises(InvalidInput, match="finite"):
        accumulated("k", 1e308, 1e308)


def test_a_name_is_looked_up_innermost_first() -> None:
    variables = Variables()
    outermost_first = [("metadata", ""), ("global", ""), ("task", ""), ("intermediate", "s1"), ("intermediate", "s2")]
    for scope, owner in outermost_first:
        variables.put((scope, owner, "k"), scope + owner)
        assert variables.values[variables.find("k", None, 2, None) or ("", "", "")] == scope + owner
    assert variables.find("k", None, 2, "s1") == ("intermediate", "s1", "k")
    variables.put(("execution", "1", "k"), 1)
    variables.put(("execution", "2", "k"), 2)
    assert variables.find("k", None, 2, "s1") == ("execution", "2", "k")
    assert variables.find("k", None, 1, "s1") == ("execution", "1", "k")
    assert variables.find("k", "global", 2, "s1") == ("global", "", "k")
    assert variables.find("other", None, 2, "s1") is None


def test_sizes_are_guessed_until_it_matters_and_then_counted_once() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    sizes = ItemSizes(count, dict.fromkeys(Section, 100))
    sizes.put("a", Section.TASK, 60, lambda id: "aaa")
    sizes.put("b", Section.TASK, 30, lambda id: "bbb")
    assert counted == []
    sizes.put("c", Section.TASK, 30, lambda id: "ccc")
    assert counted == ["ccc"]
    assert not sizes.is_over(Section.TASK, lambda id: str(id) * 3)
    sizes.count_estimated(lambda id: str(id) * 3)
    assert sizes.totals[Section.TASK] == 9
    assert sorted(counted) == ["aaa", "bbb", "ccc"]


def test_a_text_that_is_far_too_long_is_not_counted() -> None:
    sizes = ItemSizes(lambda text: pytest.fail("counted"), dict.fromkeys(Section, 100))
    sizes.put("a", Section.TASK, 10_000, lambda id: "a" * 5_000)
    assert sizes.is_over(Section.TASK, lambda id: "")


@pytest.mark.parametrize("attack", ["</data>", "< / data >", "<DATA>", "</working-memory>", "<\u200bworking-memory>"])
def test_no_text_can_close_our_delimiters(attack: str) -> None:
    assert "<" not in escaped(attack)
    assert escaped("a < b and <database>") == "a < b and <database>"


def test_json_is_stored_as_json() -> None:
    content = content_of({"b": 1, "a": "ü"})
    assert (content.form, content.encoding) == ("json", "plain")
    assert json.loads(content.data) == {"b": 1, "a": "ü"}
