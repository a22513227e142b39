"""Definition of a tool: its arguments, its result, its schemas and its error messages."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from treering.core.delimiters import escaped, escaped_values
from treering.core.errors import InvalidInput
from treering.core.secrets import redact
from treering.core.settings.agents import AgentSettings
from treering.core.values import KEY_BYTES
from treering.core.visible_text import visible

if TYPE_CHECKING:
    from treering.interfaces.mcp.host import CallContext

MAX_NAME = 1_000
"""Characters of a name, a label or a path."""
MAX_QUESTION = 10_000
"""Characters of a question or a sentence."""
MAX_TEXT = 200_000
"""Characters of a text to store: some 50,000 tokens. A longer text belongs in a file."""
MAX_ITEMS = 100
"""Files, tags or ids in one call."""
MAX_QUERY = 2_000
"""Characters of a text used as a query; its subject is clear by then."""
MIN_BUDGET = 300
"""Tokens of an answer: with fewer, hardly one item fits beside the notes."""


class Arguments(BaseModel):
    """Arguments of a tool. Unknown ones are refused, so that a misspelt argument is not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Result(BaseModel):
    """A part of the structured content of an answer."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    def sent(self) -> dict[str, Any]:
        """The values as sent to the client, every text escaped, because clients show them to a model."""
        values: dict[str, Any] = escaped_values(self.model_dump(mode="json"))
        return values

    def sent_json(self) -> str:
        return as_json(self.sent())


def as_json(values: dict[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


class Reply(Result):
    """The structured content of an answer. Some clients show a model nothing else, so it begins with the notes that the
    text has too."""

    notes: tuple[str, ...] = ()


def listed_items(given: object) -> object:
    """Accept a list written as JSON in a string, a single item without a list, or null for an empty list."""
    if not isinstance(given, str):
        return () if given is None else given
    try:
        parsed = json.loads(given)
    except (ValueError, RecursionError):
        return [given]
    return parsed if isinstance(parsed, list) else [given]


Question = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION)]
StoredText = Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Id = Annotated[str, Field(min_length=1, max_length=KEY_BYTES)]
Names = Annotated[tuple[Name, ...], Field(max_length=MAX_ITEMS), BeforeValidator(listed_items)]
Sentences = Annotated[tuple[Question, ...], Field(max_length=MAX_ITEMS), BeforeValidator(listed_items)]
Ids = Annotated[tuple[Id, ...], Field(max_length=MAX_ITEMS), BeforeValidator(listed_items)]
Outside = Annotated[bool, Field(description="Include unconfirmed text from outside.")]
Budget = Annotated[
    int | None,
    Field(
        ge=MIN_BUDGET,
        description=f"Maximum tokens of the answer; default {AgentSettings().answer_tokens}.",
    ),
]


@dataclass(frozen=True, slots=True)
class Hints:
    """Hints to clients: whether a call reads only, may delete something, and has the same effect when repeated."""

    reads: bool = False
    destroys: bool = False
    repeatable: bool = False


READS = Hints(reads=True, repeatable=True)


A = TypeVar("A", bound=Arguments)
R = TypeVar("R", bound=Reply)


@dataclass(frozen=True)
class ToolAnswer(Generic[R]):
    """The answer to a call: text for a model, without invisible characters, and structured content."""

    text: str
    result: R

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", visible(self.text))

    @cached_property
    def sent(self) -> dict[str, Any]:
        """The structured content as sent to the client; made once, to be measured and sent."""
        return self.result.sent()


@dataclass(frozen=True, slots=True)
class Tool(Generic[A, R]):
    """A tool: its description, arguments, result and function."""

    name: str
    title: str
    about: str
    arguments: type[A]
    result: type[R]
    work: Callable[["CallContext", A], ToolAnswer[R]]
    hints: Hints = field(default_factory=Hints)
    lengthy: bool = False
    """Whether it may take seconds, so that quick calls must not wait behind it."""

    @property
    def input_schema(self) -> dict[str, Any]:
        return _without_nulls(_plain(self.arguments.model_json_schema()))

    @property
    def output_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = _plain(self.result.model_json_schema(mode="serialization"))
        return schema

    def parse(self, given: Mapping[str, Any]) -> A:
        """The arguments; `InvalidInput` names the wrong ones and lists those that exist."""
        try:
            return self.arguments.model_validate(given)
        except ValidationError as exc:
            raise InvalidInput(self._explained(exc)) from None

    def _explained(self, exc: ValidationError) -> str:
        problems = [_reason(each) for each in exc.errors(include_url=False, include_context=False)[:3]]
        more = f" (and {exc.error_count() - 3} more)" if exc.error_count() > 3 else ""
        known = ", ".join(self.arguments.model_fields)
        return f"{self.name}: {'; '.join(problems)}{more}. Arguments: {known}"


_REASONS = {
    "missing": "is required",
    "tuple_type": "should be a list",
    "extra_forbidden": "is not an argument of this tool",
}


def _reason(error: Mapping[str, Any]) -> str:
    """The error without the given value, which may be long."""
    where = ".".join(str(part)[:60] for part in error["loc"]) or "the arguments"
    return f"{where} {_REASONS.get(error['type'], error['msg'][:1].lower() + error['msg'][1:])}"


_MAX_ERROR = 1_000


def error_line(message: str) -> str:
    """An error message on one line for a model: redacted, escaped, and cut in the middle if it is long.

    The end stays, because it says what to do.
    """
    printable = "".join(each if each.isprintable() else " " for each in redact(message).text)
    line = escaped(" ".join(printable.split()))
    half = _MAX_ERROR // 2 - 1
    return line if len(line) <= _MAX_ERROR else f"{line[:half]}…{line[-half:]}"


_OMITTED_KEYS = ("title", "minLength", "maxLength", "maxItems")
"""Keys that only cost tokens: titles that pydantic derives from names, and limits that are rarely reached."""


def _plain(schema: Any, *, named: bool = False) -> Any:
    """The schema without omitted keys."""
    if isinstance(schema, dict):
        kept = {key: value for key, value in schema.items() if named or key not in _OMITTED_KEYS}
        return {key: _plain(value, named=not named and key in ("properties", "$defs")) for key, value in kept.items()}
    return [_plain(each) for each in schema] if isinstance(schema, list) else schema


def _without_nulls(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without null as an alternative: optional arguments are omitted. Null is still accepted."""
    return schema | {"properties": {name: _without_null(each) for name, each in schema["properties"].items()}}


def _without_null(argument: dict[str, Any]) -> dict[str, Any]:
    kinds = [kind for kind in argument.get("anyOf", ()) if kind.get("type") != "null"]
    if len(kinds) != 1:
        return argument
    kind: dict[str, Any] = kinds[0]
    return kind | {key: value for key, value in argument.items() if key not in ("anyOf", "default")}
