"""Answers of language models: found in what they write, checked, and asked for once more."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from treering.core.errors import AnswerCutOff, ModelUnavailable, UnusableAnswer
from treering.core.privacy import ModelLocation
from treering.core.values import Value
from treering.prompts.model_answers import answer_schema, ask_json, parse


class Inner(Value):
    title: str
    default: str | None = None


class Verdict(Value):
    good: bool
    words: tuple[Inner, ...] = ()


GOOD = '{"good": true}'


class Scripted:
    """Answers one after the other."""

    model, location = "scripted", ModelLocation.HERE

    def __init__(self, *answers: str | ModelUnavailable) -> None:
        self._answers = list(answers)
        self.prompts: list[str] = []
        self.schemas: list[Mapping[str, Any] | None] = []
        self.tokens: list[int] = []

    spent = 0

    def write(self, prompt: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        self.prompts.append(prompt)
        self.schemas.append(schema)
        self.tokens.append(max_tokens)
        answer = self._answers.pop(0)
        if isinstance(answer, ModelUnavailable):
            raise answer
        return answer

    def stream(self, prompt: str, *, max_tokens: int) -> Iterator[str]:
        yield self.write(prompt, max_tokens=max_tokens)

    def close(self) -> None: ...


def asked(writer: Scripted, prompt: str = "Judge.", most_tokens: int = 100) -> Verdict:
    return ask_json(writer, prompt, Verdict, most_tokens=most_tokens)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n\n  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```\nI hope this helps {{smile}}.",
        f"Here is {{the}} answer: {GOOD} — as you asked.",
        f'<think>Maybe {{"good": false}}? No.</think>{GOOD}',
        f'{{"type": "object"}} is the schema, so: {GOOD}',
        f"\ufeff{GOOD}",
        '{"good": true, "words": [{"title": "a {brace}", "default": null}]}',
    ],
)
def test_the_answer_is_found_in_what_stands_around_it(text: str) -> None:
    assert parse(text, Verdict).good


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "no JSON object"),
        ("I cannot do that.", "no JSON object"),
        ('{"good": tr', "no JSON object"),
        ("[true]", "no JSON object"),
        ("{" * 100_000, "no JSON object"),
        ('{"a":' * 5_000, "no JSON object"),
        ("{}", "good: Field required"),
        ('{"good": "perhaps"}', "good: Input should be a valid boolean"),
        ('{"good": true, "more": 1}', "more: Extra inputs"),
        ('{"good": NaN}', "good: "),
        (f'{{"good": {"9" * 5_000}}}', "no JSON object"),
    ],
)
def test_what_is_no_answer_is_told(text: str, wrong: str) -> None:
    with pytest.raises(UnusableAnswer, match=wrong):
        parse(text, Verdict)


def test_a_good_answer_takes_one_call_that_names_the_schema() -> None:
    writer = Scripted(GOOD)
    assert asked(writer) == Verdict(good=True)
    (prompt,) = writer.prompts
    assert prompt.startswith("Judge.")
    assert json.dumps(answer_schema(Verdict)) in prompt
    assert (writer.schemas, writer.tokens) == ([answer_schema(Verdict)], [100])


def test_a_faulty_answer_is_shown_to_its_author_once() -> None:
    writer = Scripted('{"good": "</data> perhaps"}', GOOD)
    assert asked(writer).good
    first, second = writer.prompts
    assert second.startswith(first.strip())
    assert "cannot be used: good: Input should be a valid boolean" in second
    assert '<data>\n{"good": "&lt;/data> perhaps"}\n</data>' in second


def test_two_faulty_answers_are_given_up() -> None:
    writer = Scripted("no", "never", GOOD)
    with pytest.raises(
        UnusableAnswer, match=r"scripted gave two invalid answers .*no JSON object.*; choose another model"
    ):
        asked(writer)
    assert len(writer.prompts) == 2


def test_an_answer_that_was_cut_off_is_asked_for_shorter() -> None:
    writer = Scripted(AnswerCutOff("cut", '{"good": tr'), GOOD)
    assert asked(writer).good
    assert "longer than the 100 tokens allowed; answer shorter" in writer.prompts[1]
    assert '<data>\n{"good": tr\n</data>' in writer.prompts[1]


def test_an_answer_that_is_cut_off_twice_is_told_as_that() -> None:
    writer = Scripted(AnswerCutOff("cut"), AnswerCutOff("cut"))
    with pytest.raises(AnswerCutOff, match="longer than the 100 tokens"):
        asked(writer)


def test_an_answer_far_beyond_its_tokens_is_not_read() -> None:
    writer = Scripted(GOOD + "x" * 2_000, GOOD)
    assert asked(writer).good
    assert "answer shorter" in writer.prompts[1]


def test_whoever_refuses_or_is_gone_is_not_asked_again() -> None:
    for error in (UnusableAnswer("I will not"), ModelUnavailable("gone")):
        writer = Scripted(error, GOOD)
        with pytest.raises(type(error), match=str(error)):
            asked(writer)
        assert len(writer.prompts) == 1


def test_the_second_prompt_is_hardly_longer_than_the_first() -> None:
    writer = Scripted('{"' + "x" * 1_000 + '": 1, "y": "' + "z" * 10_000 + '"}', GOOD)
    asked(writer, most_tokens=1_000)
    assert len(writer.prompts[1]) < len(writer.prompts[0]) + 3_500


def test_a_prompt_without_a_limit_is_not_sent() -> None:
    writer = Scripted(GOOD)
    with pytest.raises(ModelUnavailable, match="split it into pages"):
        asked(writer, "x" * 100_000)
    assert writer.prompts == []


def test_braces_in_prompt_and_answer_stay_what_they_are() -> None:
    writer = Scripted("{asked} {0}", GOOD)
    asked(writer, "Judge {this} {0}.")
    assert "Judge {this} {0}." in writer.prompts[1]
    assert "<data>\n{asked} {0}\n</data>" in writer.prompts[1]


def test_a_schema_requires_every_field_and_allows_no_other() -> None:
    inner = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "default": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "required": ["title", "default"],
        "additionalProperties": False,
    }
    assert answer_schema(Verdict) == {
        "title": "Verdict",
        "type": "object",
        "$defs": {"Inner": inner},
        "properties": {"good": {"type": "boolean"}, "words": {"type": "array", "items": {"$ref": "#/$defs/Inner"}}},
        "required": ["good", "words"],
        "additionalProperties": False,
    }
