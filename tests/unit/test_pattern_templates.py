"""Templates become subtasks: checked parameters, literal values, a possible order."""

from typing import Any

import pytest

from treering.core.conditions import AllOf
from treering.core.errors import InvalidInput
from treering.core.patterns import PatternContent, Procedure, ProcedureStep, Template, TemplateSubtask
from treering.patterns.templates import check_content, instantiate

ALWAYS = AllOf(conditions=())


def template(*structure: dict[str, Any], parameters: Any = ()) -> Template:
    return Template.make(structure=structure, parameters=parameters)


NAMED = ({"name": "module"}, {"name": "speed", "required": False}, {"name": "tool", "default": "pytest"})


def test_parameters_are_filled_into_titles_descriptions_and_dependencies() -> None:
    made = instantiate(
        template(
            {"title": "Read {module}", "description": "{module} with {tool}, {speed}!"},
            {"title": "Test {module}", "depends_on": ["Read {module}"]},
            parameters=NAMED,
        ),
        {"module": "auth"},
    )
    assert [each.title for each in made] == ["Read auth", "Test auth"]
    assert made[0].description == "auth with pytest, !"
    assert made[1].depends_on == ("Read auth",)


@pytest.mark.parametrize(
    ("value", "filled"),
    [
        ("{tool}", "do {tool} now"),
        ("{0.__class__}", "do {0.__class__} now"),
        ("%s \\1 \\g<0>", "do %s \\1 \\g<0> now"),
        ("", "do  now"),
    ],
)
def test_values_are_put_in_as_they_are(value: str, filled: str) -> None:
    (made,) = instantiate(template({"title": "do {module} now"}, parameters=NAMED), {"module": value})
    assert made.title == filled


@pytest.mark.parametrize(
    "text", ["{}", '{"a": 1}', "{{x}}", "{other}", "{module.__class__}", "{module!r}", "a } b { c"]
)
def test_braces_around_anything_but_a_parameter_stay(text: str) -> None:
    (made,) = instantiate(template({"title": text}, parameters=({"name": "module", "required": False},)), {})
    assert made.title == text


def test_each_subtask_stands_after_what_it_depends_on_and_otherwise_where_it_stood() -> None:
    made = instantiate(
        template(
            {"title": "c", "depends_on": ["b", "a"]},
            {"title": "x"},
            {"title": "b", "depends_on": ["a"]},
            {"title": "a"},
        ),
        {},
    )
    assert [each.title for each in made] == ["x", "a", "b", "c"]


@pytest.mark.parametrize(
    ("structure", "parameters", "values", "says"),
    [
        ([], NAMED, {}, "needs a value for 'module'"),
        ([], ({"name": "m", "description": "which one"},), {}, r"'m' \(which one\)"),
        ([], NAMED, {"module": "a", "modul": "b"}, "no parameter 'modul'; it has 'module', 'speed', 'tool'"),
        ([], (), {"x": "y"}, "it has none"),
        ([], NAMED, {"module": 7}, "'module' is not a string"),
        ([], ({"name": "a"}, {"name": "a"}), {"a": "x"}, "declares 'a' more than once"),
        ([{"title": "a", "depends_on": ["b"]}], (), {}, "'a' depends on 'b', but no subtask has that title"),
        ([{"title": "a"}, {"title": "a"}], (), {}, "several subtasks are called 'a'"),
        ([{"title": "{module}"}], NAMED, {"module": " "}, "has no title"),
        ([{"title": "a", "depends_on": ["a"]}], (), {}, "'a' → 'a'"),
        (
            [
                {"title": "a", "depends_on": ["b"]},
                {"title": "b", "depends_on": ["c"]},
                {"title": "c", "depends_on": ["a"]},
            ],
            (),
            {},
            "in a cycle: '.' → '.' → '.' → '.'; remove one dependency",
        ),
        ([{"title": "a{module}"}, {"title": "b", "depends_on": ["a{module}"]}], NAMED, {"module": "\n"}, "depends_on"),
    ],
)
def test_what_cannot_be_made_is_refused_with_its_reason(
    structure: list[dict[str, Any]], parameters: Any, values: dict[str, Any], says: str
) -> None:
    with pytest.raises(InvalidInput, match=says):
        instantiate(template(*structure, parameters=parameters), values)


def test_the_circle_is_named_in_the_order_of_waiting() -> None:
    circle = template({"title": "build", "depends_on": ["test"]}, {"title": "test", "depends_on": ["build"]})
    with pytest.raises(InvalidInput, match=r"'build' → 'test' → 'build'|'test' → 'build' → 'test'"):
        instantiate(circle, {})


def test_the_template_itself_stays_as_it_is() -> None:
    given = template({"title": "{module}"}, parameters=NAMED)
    instantiate(given, {"module": "a"})
    assert given.structure[0].title == "{module}"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (Template(structure=()), "no subtasks"),
        (Template(structure=(TemplateSubtask(title="a", depends_on=("b",)),)), "no subtask has that title"),
        (Template(structure=(TemplateSubtask(title="a", depends_on=("a",)),)), "in a cycle"),
        (Procedure(steps=()), "no steps"),
        (Procedure(steps=(ProcedureStep(name="a", action="x", next_if=((ALWAYS, "b"),)),)), "has no such step"),
    ],
)
def test_what_could_never_be_followed_is_refused(content: PatternContent, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        check_content(content)
