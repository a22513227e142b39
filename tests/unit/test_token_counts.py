"""A meter counts what a request takes: words, what providers add, pictures, tools; and goes on whatever fails."""

import base64
import struct
import threading
import zlib
from typing import Any

import pytest

from treering.adapters.tokenizers import tokenizer
from treering.core.errors import InvalidInput
from treering.core.messages import CallPart, ImagePart, Message, OtherPart, ResultPart, TextPart
from treering.core.tokens import estimate_tokens
from treering.render.token_counts import RULES, Meter, rules_of
from treering.render.token_counts.images import Patches, Tiles, image_tokens, size_of
from treering.render.token_counts.rules import CountingRules

OPENAI, ANTHROPIC, OTHER = RULES["openai"], RULES["anthropic"], RULES["other"]


class Words:
    """Counts words, and how often it was asked."""

    name, exact = "words", True

    def __init__(self) -> None:
        self.asked = 0

    def count(self, text: str) -> int:
        self.asked += 1
        return len(text.split())


def meter(rules: CountingRules = OPENAI, **fields: Any) -> Meter:
    return Meter(Words(), rules, **fields)


def asked(meter: Meter) -> int:
    assert isinstance(meter.tokenizer, Words)
    return meter.tokenizer.asked


def words(text: str) -> int:
    return Words().count(text)


def png(width: int, height: int) -> str:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunk + b"\0" * 50_000).decode()


def test_openai_messages_count_as_in_the_cookbook() -> None:
    """The cookbook's example: gpt-4o answers that this prompt has 124 tokens, gpt-4 that it has 129."""
    messages = [
        (
            "system",
            None,
            "You are a helpful, pattern-following assistant that translates corporate jargon into plain English.",
        ),
        ("system", "example_user", "New synergies will help drive top-line growth."),
        ("system", "example_assistant", "Things working well together will increase revenue."),
        (
            "system",
            "example_user",
            "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
        ),
        ("system", "example_assistant", "Let's talk later when we're less busy about how to do better."),
        ("user", None, "This late pivot means we don't have time to boil the ocean for the client deliverable."),
    ]
    for name, rules, answered in (("o200k_base", OPENAI, 124), ("cl100k_base", RULES["openai-old"], 129)):
        counter = Meter(tokenizer(name), rules)
        total = sum(counter.message(Message.of(role, text, speaker=speaker)) for role, speaker, text in messages)
        assert counter.priming + total == answered


def test_openai_tools_count_as_in_the_cookbook() -> None:
    """The cookbook's example: gpt-4o answers 101 tokens for these two messages and this tool, gpt-4 105."""
    tools = [
        {
            "type": "function",
            "function": {
                "name": "get_current_weather",
                "description": "Get the current weather in a given location",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
                        "unit": {
                            "type": "string",
                            "description": "The unit of temperature to return",
                            "enum": ["celsius", "fahrenheit"],
                        },
                    },
                    "required": ["location"],
                },
            },
        }
    ]
    said = (
        ("system", "You are a helpful assistant that can answer to questions about the weather."),
        ("user", "What's the weather like in San Francisco?"),
    )
    for name, rules, answered in (("o200k_base", "openai", 101), ("cl100k_base", "openai-old", 105)):
        counter = Meter(tokenizer(name), RULES[rules])
        total = counter.priming + sum(counter.message(Message.of(*each)) for each in said) + counter.tools(tools)
        assert total == answered


TOOL = {"name": "find", "description": "Finds things.", "parameters": {"properties": {"what": {"type": "string"}}}}
SHAPES = {
    "chat": {"type": "function", "function": TOOL},
    "responses": {"type": "function", **TOOL},
    "anthropic": {"name": "find", "description": "Finds things.", "input_schema": TOOL["parameters"]},
}


def test_tools_cost_the_same_in_every_shape() -> None:
    costs = {shape: Meter(tokenizer("o200k_base"), OPENAI).tools([tool]) for shape, tool in SHAPES.items()}
    assert len(set(costs.values())) == 1
    assert costs["chat"] > 20


def test_nested_and_strange_schemas_are_counted() -> None:
    counter = meter()
    nested = {
        "name": "f",
        "parameters": {"properties": {"a": {"type": "array", "items": {"enum": ["x y z"]}}, "b": True}},
    }
    assert counter.tools([nested]) > counter.tools([{"name": "f", "parameters": {"properties": {"a": {}}}}])
    assert counter.tools([{"type": "web_search"}]) > 0
    assert counter.tools([{"name": "f", "parameters": {"anyOf": [{"type": "string"}]}}]) > counter.tools(
        [{"name": "f"}]
    )


def test_anthropic_tools_bring_a_system_prompt() -> None:
    assert meter(ANTHROPIC).tools([]) == 0
    assert meter(ANTHROPIC).tools([SHAPES["anthropic"]]) > 346


def test_the_example_of_anthropic_is_not_undercounted() -> None:
    """count_tokens answers 403 for this tool and question, and 14 for a greeting with a system prompt."""
    place = {"type": "string", "description": "The city and state, e.g. San Francisco, CA"}
    schema = {"type": "object", "properties": {"location": place}, "required": ["location"]}
    tool = {"name": "get_weather", "description": "Get the current weather in a given location", "input_schema": schema}
    counter = Meter(tokenizer("estimate:claude"), ANTHROPIC)
    question = counter.message(Message.of("user", "What's the weather like in San Francisco?"))
    assert 403 <= counter.priming + question + counter.tools([tool]) <= 520
    greeting = [Message.of("system", "You are a scientist"), Message.of("user", "Hello, Claude")]
    assert 14 <= counter.priming + sum(map(counter.message, greeting)) <= 28


def test_every_part_of_a_message_is_counted() -> None:
    call = CallPart.make(id="c1", name="grep", arguments={"pattern": "a b"})
    inner = (TextPart.make(text="one two"), OtherPart.make(type="document", data={"words": "three four"}))
    result = ResultPart.make(call_id="c1", parts=inner)
    other = OtherPart.make(type="reasoning", data={"summary": "five six"})
    counter = meter()
    parts = {"call": call, "result": result, "other": other}
    costs = {name: counter.message(Message.make(role="assistant", parts=(part,))) for name, part in parts.items()}
    bare = counter.message(Message.make(role="assistant"))
    assert bare == OPENAI.message
    assert costs["call"] == bare + OPENAI.call + 1 + words('{"pattern": "a b"}')
    assert costs["result"] == bare + OPENAI.result + 2 + words('{"type": "document", "words": "three four"}')
    assert costs["other"] == bare + words('{"type": "reasoning", "summary": "five six"}')
    everything = counter.message(Message.make(role="assistant", parts=tuple(parts.values())))
    assert everything - bare == sum(cost - bare for cost in costs.values())


def test_a_name_costs_its_words_and_a_token() -> None:
    counter = meter()
    plain, named = Message.of("user", "hi"), Message.of("user", "hi", speaker="Anna Berg")
    assert counter.message(named) == counter.message(plain) + OPENAI.speaker + 2


def test_arguments_that_came_as_text_count_as_that_text() -> None:
    as_text = CallPart.make(id="c", name="f", arguments="{ not json")
    assert meter().message(Message.make(role="assistant", parts=(as_text,))) == OPENAI.message + OPENAI.call + 1 + 3


@pytest.mark.parametrize(
    ("rules", "size", "detail", "tokens"),
    [
        ("openai", (1024, 1024), "high", 765),
        ("openai", (2048, 4096), "high", 1105),
        ("openai", (4096, 8192), "low", 85),
        ("openai", (100, 100), None, 255),
        ("openai-o", (1024, 1024), None, 75 + 4 * 150),
        ("openai-5", (1024, 1024), None, 70 + 4 * 140),
        ("openai-4o-mini", (1024, 1024), None, 2833 + 4 * 5667),
        ("openai-mini", (1024, 1024), None, 1659),
        ("openai-nano", (1800, 2400), None, 3779),
        ("openai-5.4", (1024, 1024), None, 1229),
        ("anthropic", (200, 200), None, 64),
        ("anthropic", (1000, 1000), None, 1334),
        ("anthropic", (4032, 3024), None, 1600),
        ("anthropic-4.7", (1920, 1080), None, 2765),
        ("gemini", (256, 256), None, 1120),
    ],
)
def test_pictures_cost_what_providers_say(rules: str, size: tuple[int, int], detail: str | None, tokens: int) -> None:
    part = ImagePart.make(url="https://example.com/a.png", width=size[0], height=size[1], detail=detail)
    assert image_tokens(part, RULES[rules].images) == tokens


def test_the_size_of_a_picture_is_read_from_its_first_bytes() -> None:
    assert size_of(ImagePart.make(data=png(640, 480))) == (640, 480)
    assert size_of(ImagePart.make(url=f"data:image/png;base64,{png(32, 16)}")) == (32, 16)


@pytest.mark.parametrize("data", ["", "!!!!", "AAAA", "aGVsbG8gd29ybGQ", "é"])
def test_an_unreadable_image_counts_the_maximum(data: str) -> None:
    part = ImagePart.make(data=data)
    assert size_of(part) is None
    for rules in RULES.values():
        assert image_tokens(part, rules.images) == rules.images.max_tokens


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("size", [(1, 1), (8000, 8000), (8000, 10), (2048, 768), (513, 5000)])
def test_no_picture_costs_more_than_the_most(rules: CountingRules, size: tuple[int, int]) -> None:
    assert isinstance(rules.images, Tiles | Patches)
    assert 0 < rules.images.cost(size) <= rules.images.max_tokens


def test_a_text_is_counted_once() -> None:
    counter = meter()
    for _ in range(3):
        assert counter.text("one two three") == 3
    assert (asked(counter), counter.hits, counter.misses) == (1, 2, 1)


def test_the_longest_unused_count_is_forgotten_first() -> None:
    counter = meter(max_cached=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        counter.text(text)
    assert asked(counter) == 4


def test_long_texts_are_not_kept_alive() -> None:
    counter = meter()
    counter.text("word " * 100_000)
    assert all(isinstance(part, int) for key in counter._counts for part in key)


class Failing:
    name, exact = "failing", True

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def count(self, text: str) -> int:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]


@pytest.mark.parametrize("answer", [ValueError("no such word"), OSError("gone"), None, -1, 2.5, "3"])
def test_a_tokenizer_that_fails_is_replaced_by_the_estimate_and_remembered(answer: object) -> None:
    counter = Meter(Failing(answer), OTHER)
    assert counter.text("what now") == estimate_tokens("what now")
    assert counter.failures.count == 1
    assert counter.failures.last
    counter.text("and then")
    assert counter.failures.count == 2


def test_threads_share_one_meter() -> None:
    counter = meter()
    texts = [f"text number {number}" for number in range(50)]
    wrong: list[int] = []

    def work() -> None:
        wrong.extend(count for text in texts * 20 if (count := counter.text(text)) != 3)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert counter.hits + counter.misses == 8 * 20 * 50


def test_unknown_rules_say_which_are_known() -> None:
    with pytest.raises(InvalidInput, match="anthropic"):
        rules_of("nobody")
