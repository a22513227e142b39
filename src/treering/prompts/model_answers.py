"""Structured answers from a language model: requested, validated, and requested once more if invalid."""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, TypeVar

from pydantic import ValidationError

from treering.core.delimiters import DATA, delimited, escaped, one_line
from treering.core.errors import AnswerCutOff, ModelUnavailable, UnusableAnswer
from treering.core.values import Value
from treering.ports.models import Writer

_ASK, _REPAIR = "json_answer.md", "json_repair.md"
_MAX_PROMPT = 100_000
"""Characters; a longer prompt means that a caller forgot a limit."""
_MAX_QUOTED = 2_000
"""Characters of an invalid answer that the repair prompt quotes."""
_MAX_CHARACTERS_PER_TOKEN = 16
"""Upper bound of characters per token in running text, for any tokenizer."""
_MAX_STARTS = 100
"""Opening braces at which parsing is tried; prose has a few."""
_MAX_ERRORS, _MAX_NAME, _MAX_MESSAGE = 3, 60, 200
"""Number of validation errors in the repair prompt, and characters of each field name and message."""
_END_OF_REASONING = "</think>"
"""End of the reasoning that some models write before the answer."""
# Keys that strict servers reject or do not need.
_OMITTED_KEYS = frozenset({"title", "default", "description"})

T = TypeVar("T", bound=Value)


class _InvalidAnswer(Exception):
    """An invalid answer."""

    def __init__(self, text: str, problem: str) -> None:
        super().__init__(problem)
        self.text = text
        self.problem = problem


def ask_json(writer: Writer, prompt: str, answer: type[T], *, most_tokens: int) -> T:
    """The model's answer to `prompt` as an `answer`, in at most two calls of at most `most_tokens` each.

    Raises `UnusableAnswer` if the model refuses or both answers are invalid, `AnswerCutOff` if they were cut off.
    """
    schema = answer_schema(answer)
    asked = _prompt(_ASK).format(task=prompt.strip(), schema=json.dumps(schema, ensure_ascii=False))
    if len(asked) > _MAX_PROMPT:
        raise ModelUnavailable(
            f"the prompt has {len(asked):,} characters, the limit is {_MAX_PROMPT:,}; split it into pages"
        )
    try:
        return _request(writer, asked, answer, schema, most_tokens)
    except _InvalidAnswer as exc:
        first = exc
    shown = delimited(DATA, escaped(first.text[:_MAX_QUOTED]))
    try:
        again = _prompt(_REPAIR).format(asked=asked.strip(), answer=shown, wrong=first.problem)
        return _request(writer, again, answer, schema, most_tokens)
    except _InvalidAnswer as exc:
        message = f"{writer.model} gave two invalid answers ({exc.problem}); choose another model"
        raise (
            AnswerCutOff(message, exc.text) if isinstance(exc.__cause__, AnswerCutOff) else UnusableAnswer(message)
        ) from exc


def answer_schema(answer: type[Value]) -> dict[str, Any]:
    """JSON schema of a value in strict form: every field is required, and no others are allowed."""
    return {"title": answer.__name__, **_strict(answer.model_json_schema())}


def parse(text: str, answer: type[T]) -> T:
    """The first object in `text` that is a valid `answer`. Raises `UnusableAnswer` with the reason if there is none."""
    problem = "it contains no JSON object"
    for found in _objects(text.rpartition(_END_OF_REASONING)[2]):
        try:
            return answer.model_validate(found)
        except ValidationError as exc:
            problem = _error_text(exc)
    raise UnusableAnswer(problem)


def _request(writer: Writer, prompt: str, answer: type[T], schema: Mapping[str, Any], most_tokens: int) -> T:
    try:
        text = writer.write(prompt, max_tokens=most_tokens, schema=schema)
        if len(text) > most_tokens * _MAX_CHARACTERS_PER_TOKEN:
            raise AnswerCutOff("it is longer than allowed", text)
    except AnswerCutOff as exc:
        problem = f"it is longer than the {most_tokens:,} tokens allowed; answer shorter, with what matters most"
        raise _InvalidAnswer(exc.text, problem) from exc
    try:
        return parse(text, answer)
    except UnusableAnswer as exc:
        raise _InvalidAnswer(text, str(exc)) from exc


def _objects(text: str) -> Iterator[Any]:
    """Outermost JSON objects in the text, from left to right."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_MAX_STARTS):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            found, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
        else:
            yield found


def _error_text(exc: ValidationError) -> str:
    """The validation errors on one line, without values from the answer, which are untrusted."""
    errors = exc.errors(include_url=False, include_context=False, include_input=False)[:_MAX_ERRORS]
    reasons = [
        f"{'.'.join(map(str, each['loc']))[:_MAX_NAME] or 'it'}: {each['msg'][:_MAX_MESSAGE]}" for each in errors
    ]
    return one_line("; ".join(reasons))


def _strict(schema: Any, *, named: bool = False) -> Any:
    """The schema in strict form; with `named`, its keys are field names and are all kept."""
    if isinstance(schema, list):
        return [_strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    items = {key: item for key, item in schema.items() if named or key not in _OMITTED_KEYS}
    strict = {key: _strict(item, named=key in ("properties", "$defs") and not named) for key, item in items.items()}
    if not named and isinstance(strict.get("properties"), dict):
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    return strict


def _prompt(name: str) -> str:
    return files("treering.prompts").joinpath(name).read_text("utf-8")
