"""Answers in a form, from a language model: asked for, checked, and asked for once more where they are faulty."""

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
_LONGEST_PROMPT = 100_000
"""Characters; whoever asks with more has forgotten a limit."""
_SHOWN = 2_000
"""Characters of a faulty answer that its author is shown: enough to see what it was up to."""
_PER_TOKEN = 16
"""No tokenizer gets more characters out of a token in running text."""
_STARTS = 100
"""Braces at which an answer is tried; prose has a few."""
_REASONS, _NAME, _REASON = 3, 60, 200
"""Of what is wrong so many things are told, each within so many characters."""
_THOUGHT = "</think>"
"""Where models that think aloud begin to answer."""
# What a schema may not say where it is enforced to the letter, or need not.
_UNSAID = frozenset({"title", "default", "description"})

T = TypeVar("T", bound=Value)


class _Faulty(Exception):
    """An answer that came and cannot be used."""

    def __init__(self, text: str, wrong: str) -> None:
        super().__init__(wrong)
        self.text = text
        self.wrong = wrong


def ask_json(writer: Writer, prompt: str, answer: type[T], *, most_tokens: int) -> T:
    """What the model answers to `prompt`, as an `answer`; in two calls at most, each of `most_tokens` at most.

    `UnusableAnswer` where it refuses, or answers twice what is none (`AnswerCutOff` where both lack their end).
    """
    schema = answer_schema(answer)
    asked = _prompt(_ASK).format(task=prompt.strip(), schema=json.dumps(schema, ensure_ascii=False))
    if len(asked) > _LONGEST_PROMPT:
        raise ModelUnavailable(f"a prompt of {len(asked):,} characters is not sent to a model; ask in smaller pages")
    try:
        return _answered(writer, asked, answer, schema, most_tokens)
    except _Faulty as exc:
        first = exc
    shown = delimited(DATA, escaped(first.text[:_SHOWN]))
    try:
        again = _prompt(_REPAIR).format(asked=asked.strip(), answer=shown, wrong=first.wrong)
        return _answered(writer, again, answer, schema, most_tokens)
    except _Faulty as exc:
        told = f"{writer.model} answered twice what cannot be used ({exc.wrong}); choose another model"
        raise (
            AnswerCutOff(told, exc.text) if isinstance(exc.__cause__, AnswerCutOff) else UnusableAnswer(told)
        ) from exc


def answer_schema(answer: type[Value]) -> dict[str, Any]:
    """The JSON schema of a value, as strict servers want it: every field is required, and there are no others."""
    return {"title": answer.__name__, **_strict(answer.model_json_schema())}


def parse(text: str, answer: type[T]) -> T:
    """The first object in `text` that is an `answer`, whatever stands around it; else `UnusableAnswer` says why."""
    wrong = "it holds no JSON object"
    for found in _objects(text.rpartition(_THOUGHT)[2]):
        try:
            return answer.model_validate(found)
        except ValidationError as exc:
            wrong = _explained(exc)
    raise UnusableAnswer(wrong)


def _answered(writer: Writer, prompt: str, answer: type[T], schema: Mapping[str, Any], most_tokens: int) -> T:
    try:
        text = writer.write(prompt, max_tokens=most_tokens, schema=schema)
        if len(text) > most_tokens * _PER_TOKEN:
            raise AnswerCutOff("it is longer than allowed", text)
    except AnswerCutOff as exc:
        wrong = f"it is longer than the {most_tokens:,} tokens allowed; answer shorter, with what matters most"
        raise _Faulty(exc.text, wrong) from exc
    try:
        return parse(text, answer)
    except UnusableAnswer as exc:
        raise _Faulty(text, str(exc)) from exc


def _objects(text: str) -> Iterator[Any]:
    """Each JSON object in the text, from left to right; what is inside one is no other."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_STARTS):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            found, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
        else:
            yield found


def _explained(exc: ValidationError) -> str:
    """In one line, without what the answer says: that may be anything, and so may the names of its fields."""
    errors = exc.errors(include_url=False, include_context=False, include_input=False)[:_REASONS]
    reasons = [f"{'.'.join(map(str, each['loc']))[:_NAME] or 'it'}: {each['msg'][:_REASON]}" for each in errors]
    return one_line("; ".join(reasons))


def _strict(schema: Any, *, named: bool = False) -> Any:
    """`named` where the keys are names of fields, which may be called anything."""
    if isinstance(schema, list):
        return [_strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: item for key, item in schema.items() if named or key not in _UNSAID}
    strict = {key: _strict(item, named=key in ("properties", "$defs") and not named) for key, item in kept.items()}
    if not named and isinstance(strict.get("properties"), dict):
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    return strict


def _prompt(name: str) -> str:
    return files("treering.prompts").joinpath(name).read_text("utf-8")
