"""What a tool is, and how a call of it becomes an answer or an error that says what to do."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from treering.core.delimiters import escaped, escaped_values
from treering.core.errors import InvalidInput
from treering.core.secrets import redact
from treering.core.settings.agents import AgentSettings
from treering.core.values import KEY_BYTES
from treering.core.visible_text import visible

if TYPE_CHECKING:
    from treering.interfaces.mcp.host import Call

LONGEST_NAME = 1_000
"""Characters of a name, a label or a path."""
LONGEST_QUESTION = 10_000
"""Characters of a question or a sentence; whoever says more means a text to be kept."""
LONGEST_TEXT = 200_000
"""Characters of a text to be kept: some 50,000 tokens. What is longer is a file; remember where it is."""
MOST_NAMED = 100
"""Files, tags or ids in one call."""
LONGEST_SEARCH = 2_000
"""Characters of a text that is searched for; what it is about is said by then."""
LEAST_BUDGET = 300
"""Tokens of an answer: below, hardly one piece fits beside what is said about it."""


class Arguments(BaseModel):
    """What a tool takes. Whatever it does not know is refused: a misspelt argument must not pass for a wish."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Result(BaseModel):
    """A part of what a tool gives to programs."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    def sent(self) -> dict[str, Any]:
        """As it leaves the server: clients show it to a model too, so every text in it is escaped."""
        values: dict[str, Any] = escaped_values(self.model_dump(mode="json"))
        return values

    def sent_json(self) -> str:
        return json.dumps(self.sent(), ensure_ascii=False, separators=(",", ":"))


class Reply(Result):
    """All of what a tool gives to programs. Some clients show a model nothing else, so what the text says about the
    answer is here too, before the answer."""

    notes: tuple[str, ...] = ()


def listed_items(given: object) -> object:
    """Some models write a list as JSON in a string, a single item without its list, or null for none."""
    if not isinstance(given, str):
        return () if given is None else given
    try:
        read = json.loads(given)
    except (ValueError, RecursionError):
        return [given]
    return read if isinstance(read, list) else [given]


Question = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]
Told = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Id = Annotated[str, Field(min_length=1, max_length=KEY_BYTES)]
Names = Annotated[tuple[Name, ...], Field(max_length=MOST_NAMED), BeforeValidator(listed_items)]
Sentences = Annotated[tuple[Question, ...], Field(max_length=MOST_NAMED), BeforeValidator(listed_items)]
Ids = Annotated[tuple[Id, ...], Field(max_length=MOST_NAMED), BeforeValidator(listed_items)]
Outside = Annotated[bool, Field(description="Also unconfirmed text from outside.")]
Budget = Annotated[
    int | None,
    Field(
        ge=LEAST_BUDGET,
        description=f"How many tokens the answer may take; {AgentSettings().answer_tokens} without it.",
    ),
]


@dataclass(frozen=True, slots=True)
class Hints:
    """What a client may tell its user before a call: whether it changes anything, takes anything away, and whether
    calling it twice is calling it once."""

    reads: bool = False
    destroys: bool = False
    repeatable: bool = False


READS = Hints(reads=True, repeatable=True)


A = TypeVar("A", bound=Arguments)
R = TypeVar("R", bound=Reply)


@dataclass(frozen=True, slots=True)
class Answer(Generic[R]):
    """What a call came to: text that a model reads, with nothing invisible in it, and the same for programs."""

    text: str
    result: R

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", visible(self.text))


@dataclass(frozen=True, slots=True)
class Tool(Generic[A, R]):
    """One tool: what an agent is told of it, what it takes and gives, and what it does."""

    name: str
    title: str
    about: str
    arguments: type[A]
    result: type[R]
    work: Callable[["Call", A], Answer[R]]
    hints: Hints = field(default_factory=Hints)
    lengthy: bool = False
    """It may take seconds, so that it must not stand before others."""

    @property
    def input_schema(self) -> dict[str, Any]:
        return _may_be_left_out(_plain(self.arguments.model_json_schema()))

    @property
    def output_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = _plain(self.result.model_json_schema(mode="serialization"))
        return schema

    def understood(self, given: Mapping[str, Any]) -> A:
        """The arguments; what cannot be understood is `InvalidInput` with what the tool takes."""
        try:
            return self.arguments.model_validate(given)
        except ValidationError as exc:
            raise InvalidInput(self._explained(exc)) from None

    def _explained(self, exc: ValidationError) -> str:
        wrong = [_reason(each) for each in exc.errors(include_url=False, include_context=False)[:3]]
        more = f" (and {exc.error_count() - 3} more)" if exc.error_count() > 3 else ""
        takes = ", ".join(self.arguments.model_fields)
        return f"{self.name}: {'; '.join(wrong)}{more}. It takes {takes}"


_WORDS = {
    "missing": "is required",
    "tuple_type": "should be a list",
    "extra_forbidden": "is not an argument of this tool",
}


def _reason(error: Mapping[str, Any]) -> str:
    """Without what was given: it may be long, and the caller knows it."""
    where = ".".join(str(part)[:60] for part in error["loc"]) or "the arguments"
    return f"{where} {_WORDS.get(error['type'], error['msg'][:1].lower() + error['msg'][1:])}"


_LONGEST_ERROR = 1_000


def one_clear_line(told: str) -> str:
    """What went wrong, as a model should read it: no secret, nothing that closes a block, nothing endless. Where it
    is cut the end stays, which says what to do."""
    said = escaped(" ".join("".join(each if each.isprintable() else " " for each in redact(told).text).split()))
    half = _LONGEST_ERROR // 2 - 1
    return said if len(said) <= _LONGEST_ERROR else f"{said[:half]}…{said[-half:]}"


_UNSAID = ("title", "minLength", "maxLength", "maxItems")
"""What every client would pay for in tokens: titles that pydantic makes of names, and limits that few ever meet."""


def _plain(schema: Any, *, named: bool = False) -> Any:
    """The schema without what need not be said."""
    if isinstance(schema, dict):
        kept = {key: value for key, value in schema.items() if named or key not in _UNSAID}
        return {key: _plain(value, named=not named and key in ("properties", "$defs")) for key, value in kept.items()}
    return [_plain(each) for each in schema] if isinstance(schema, list) else schema


def _may_be_left_out(schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments as an agent gives them: what need not be said is left out, and nobody has to say null. Still, null is
    understood."""
    return schema | {"properties": {name: _without_null(each) for name, each in schema["properties"].items()}}


def _without_null(argument: dict[str, Any]) -> dict[str, Any]:
    kinds = [kind for kind in argument.get("anyOf", ()) if kind.get("type") != "null"]
    if len(kinds) != 1:
        return argument
    kind: dict[str, Any] = kinds[0]
    return kind | {key: value for key, value in argument.items() if key not in ("anyOf", "default")}
