"""Token counts of tool definitions in any provider's format."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from treering.core.errors import InvalidInput
from treering.core.values import thaw
from treering.render.token_counts.rules import ToolRule

Count = Callable[[str], int]

_COUNTED_KEYS = frozenset(
    {"type", "description", "enum", "properties", "items", "required", "additionalProperties", "title"}
)
"""Keys of a schema that are counted separately, or that providers leave out."""


def tool_tokens(schemas: Sequence[Mapping[str, Any]], rule: ToolRule, count: Count) -> int:
    """Tokens of all definitions; 0 if there are none."""
    if not schemas:
        return 0
    for schema in schemas:
        if not isinstance(schema, Mapping):
            raise InvalidInput(
                f"a tool definition must be an object, not {type(schema).__name__}; pass the definition as it is sent"
            )
    cost = _json if rule.as_json else _function
    return rule.once + sum(rule.each + cost(schema, rule, count) for schema in schemas)


def as_json(value: object) -> str:
    return json.dumps(thaw(value), ensure_ascii=False, default=str)


def _json(schema: Mapping[str, Any], rule: ToolRule, count: Count) -> int:
    return count(as_json(schema))


def _function(schema: Mapping[str, Any], rule: ToolRule, count: Count) -> int:
    """The formula of OpenAI's cookbook; a built-in tool without a schema is counted as JSON."""
    function = schema.get("function", schema)
    if not isinstance(function, Mapping) or "name" not in function:
        return _json(schema, rule, count)
    parameters = function.get("parameters") or function.get("input_schema")
    if not isinstance(parameters or {}, Mapping):
        return _json(schema, rule, count)
    head = f"{function['name']}:{_without_full_stop(function.get('description'))}"
    return count(head) + _object(parameters or {}, rule, count)


def _object(schema: Mapping[str, Any], rule: ToolRule, count: Count) -> int:
    properties = schema.get("properties") or {}
    rest = {key: value for key, value in schema.items() if key not in _COUNTED_KEYS}
    cost = count(as_json(rest)) if rest else 0
    if not properties:
        return cost
    fields = (_field(name, field, rule, count) for name, field in properties.items())
    return cost + rule.properties + sum(fields)


def _field(name: str, field: Any, rule: ToolRule, count: Count) -> int:
    if not isinstance(field, Mapping):
        return rule.property + count(f"{name}:{as_json(field)}")
    kind = field.get("type", "")
    line = f"{name}:{kind if isinstance(kind, str) else as_json(kind)}:{_without_full_stop(field.get('description'))}"
    cost = rule.property + count(line) + _object(field, rule, count)
    if choices := field.get("enum"):
        cost += rule.choices + sum(rule.choice + count(str(choice)) for choice in choices)
    items = field.get("items")
    return cost + (_field("", items, rule, count) if isinstance(items, Mapping) else 0)


def _without_full_stop(description: Any) -> str:
    return str(description or "").removesuffix(".")
