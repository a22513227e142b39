"""Contents and conditions given as JSON."""

from typing import TYPE_CHECKING, Any

import typer

from treering.interfaces.cli.patterns.options import json_option

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from treering.core.conditions import Condition
    from treering.core.patterns import PatternContent

_CONTENTS = ("strategy", "template", "heuristic", "procedure")
_CONDITIONS = ("test", "all", "any", "not")
_NO_FORM = ("union_tag_not_found", "union_tag_invalid")
_MAX_REASONS = 3


def content_of(option: str, text: str) -> "PatternContent":
    """The content in one of its four forms."""
    from treering.core.patterns import PatternContent

    given = json_option(option, text, '{"form": "strategy", "approach": "look at the log"}')
    content: PatternContent = _typed(PatternContent, option, given, _CONTENTS)
    return content


def condition_of(option: str, text: str) -> "Condition":
    """A single or combined condition."""
    from treering.core.conditions import Condition

    given = json_option(option, text, '{"form": "test", "field": "languages", "operator": "eq", "value": "python"}')
    condition: Condition = _typed(Condition, option, given, _CONDITIONS)
    return condition


def _typed(kind: Any, option: str, given: dict[str, Any], forms: tuple[str, ...]) -> Any:
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(given)
    except ValidationError as exc:
        reasons = [_reason(each, forms) for each in exc.errors()[:_MAX_REASONS]]
        raise typer.BadParameter("; ".join(f"{option}{reason}" for reason in reasons)) from exc


def _reason(error: "ErrorDetails", forms: tuple[str, ...]) -> str:
    """The path and the expected value; everything nested in a content or a condition is a condition."""
    place = ".".join(str(step) for step in error["loc"] if step not in (*_CONTENTS, *_CONDITIONS))
    at = f" at {place}" if place else ""
    if error["type"] in _NO_FORM:
        expected = forms if not place else _CONDITIONS
        return f'{at} has no valid form; set "form" to one of {", ".join(expected)}'
    return f"{at}: {error['msg']}"
