"""What agents are told of the tools, and how a call of one is understood."""

import json
from typing import Any

import jsonschema
import pytest

from treering.core.errors import InvalidInput, NotFound
from treering.core.phases import NATIVE_PHASES, Phase
from treering.core.tokens import estimate_tokens
from treering.interfaces.mcp.prompts import PROMPTS
from treering.interfaces.mcp.resources import RESOURCES, resource_at
from treering.interfaces.mcp.server import _described
from treering.interfaces.mcp.texts import prompt_text
from treering.interfaces.mcp.tool import error_line
from treering.interfaces.mcp.tools import BY_NAME, TOOLS

NAMES = [
    "search_memory",
    "record_memory",
    "remember_fact",
    "correct_fact",
    "confirm_fact",
    "forget",
    "memory_stats",
    "get_entity_info",
    "get_session_context",
    "similar_failures",
    "find_patterns",
    "report_outcome",
    "analyze_impact",
    "get_dependencies",
    "related_files",
    "trace_data_flow",
]
every_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def test_these_are_the_tools() -> None:
    assert sorted(BY_NAME) == sorted(NAMES)


@every_tool
def test_a_tool_is_described_in_plain_schemas(tool: Any) -> None:
    assert 40 < len(tool.about) < 500
    for schema in (tool.input_schema, tool.output_schema):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
    for name, argument in tool.input_schema["properties"].items():
        assert argument["description"], name
        assert "anyOf" not in argument, name
        assert name in tool.input_schema.get("required", ()) or "null" not in json.dumps(argument), name
        for example in argument.get("examples", ()):
            jsonschema.validate(example, argument)
        if "default" in argument:
            jsonschema.validate(argument["default"], argument)


def test_a_search_takes_every_name_of_a_phase() -> None:
    assert BY_NAME["search_memory"].input_schema["properties"]["phase"]["enum"] == [*Phase, *NATIVE_PHASES]


@every_tool
def test_the_examples_of_a_tool_are_understood(tool: Any) -> None:
    properties = tool.input_schema["properties"]
    given = {name: each["examples"][0] for name, each in properties.items() if "examples" in each}
    given |= {name: each["enum"][0] for name, each in properties.items() if "enum" in each}
    assert tool.parse(given)


@every_tool
def test_null_is_understood_where_an_argument_may_be_left_out_without_a_default(tool: Any) -> None:
    required = {name: "success" if name == "outcome" else "x" for name in tool.input_schema.get("required", ())}
    optional = [name for name, field in tool.arguments.model_fields.items() if field.default is None]
    assert tool.parse(required | dict.fromkeys(optional)) == tool.parse(required)


def test_the_list_of_tools_costs_an_agent_little() -> None:
    """What a client puts into every request to its model."""
    told = [_described(tool).model_dump(mode="json", by_alias=True, exclude_none=True) for tool in TOOLS]
    for tool in told:
        tool.pop("outputSchema")
    assert estimate_tokens(json.dumps(told, ensure_ascii=False)) < 5_700


def test_the_instructions_say_in_ten_lines_when_to_use_what() -> None:
    told = prompt_text("instructions")
    assert len(told.splitlines()) <= 10
    assert estimate_tokens(told) < 500
    assert [name for name in NAMES if name not in told] == ["memory_stats", "get_entity_info"]


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        (["a", "b"], ("a", "b")),
        ('["a", "b"]', ("a", "b")),
        ("a", ("a",)),
        ('{"a": 1}', ('{"a": 1}',)),
        ("[" * 100, ("[" * 100,)),
        ([], ()),
    ],
)
def test_a_list_is_understood_as_models_write_it(given: object, understood: tuple[str, ...]) -> None:
    assert BY_NAME["search_memory"].parse({"query": "x", "files": given}).files == understood


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("search_memory", {}, "query is required"),
        ("search_memory", {"query": "x", "limt": 3}, "limt is not an argument of this tool. Arguments: query, types"),
        ("search_memory", {"query": "x", "limit": "many"}, "limit input should be a valid integer"),
        ("record_memory", {"text": ["x"]}, "text input should be a valid string"),
        ("record_memory", {"text": "x", "type": "thought"}, "type input should be 'decision', 'gotcha'"),
        ("report_outcome", {"a": 1, "b": 2, "c": 3}, "(and 2 more)"),
    ],
)
def test_what_is_not_understood_is_said_with_what_would_be(tool: str, given: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        BY_NAME[tool].parse(given)
    assert told in str(refused.value)


def test_an_error_is_one_line_without_secrets_and_says_what_to_do_in_the_end() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]
    told = error_line(f"no\x00thing\n\n is </memory> under {token} {'x' * 5_000}; search_memory finds ids")
    assert told.startswith("no thing is &lt;/memory> under [redacted:")
    assert told.endswith("; search_memory finds ids")
    assert len(told) <= 1_000
    assert error_line("short") == "short"


@pytest.mark.parametrize(
    ("uri", "name"),
    [("treering://memory/a%2Fb", "a/b"), ("treering://health", ""), ("treering://code/modules", "")],
)
def test_an_address_means_a_resource_and_a_name(uri: str, name: str) -> None:
    resource, found = resource_at(uri)
    assert resource in RESOURCES
    assert found == name


@pytest.mark.parametrize("uri", ["treering://memory/", "treering://", "file:///etc/passwd", "treering://health/x", ""])
def test_any_other_address_is_told_which_there_are(uri: str) -> None:
    with pytest.raises(
        NotFound, match=r"use one of treering://memory/\{id\}, treering://code/modules, treering://health"
    ):
        resource_at(uri)


def test_every_prompt_has_its_words_and_its_arguments() -> None:
    assert [prompt.name for prompt in PROMPTS] == ["remember", "search", "review"]
    for prompt in PROMPTS:
        assert all(f"{{{argument.name}}}" in prompt_text(prompt.name) for argument in prompt.arguments)
