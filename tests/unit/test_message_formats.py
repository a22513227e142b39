"""Items of every format come back as they came, and those that make no sense say what to do."""

import json
from typing import Any

import pytest
from anthropic.types import Message as Answer
from anthropic.types import TextBlock, ToolUseBlock
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import ResponseFunctionToolCall

from tests.provider_items import ANTHROPIC, CHAT, ITEMS, PNG, RESPONSES, Item, call, use
from treering.conversation.formats import read, read_all, write
from treering.core.errors import InvalidInput
from treering.core.messages import CallPart, ImagePart, Message, MessageFormat, OtherPart, Role, TextPart

PROVIDERS = (MessageFormat.CHAT, MessageFormat.RESPONSES, MessageFormat.ANTHROPIC)
EACH = [(format, item) for format, items in ITEMS.items() for item in items]


@pytest.mark.parametrize(("format", "item"), EACH)
def test_an_item_comes_back_as_it_came(format: MessageFormat, item: Item) -> None:
    message = read(item, format)
    opening = [Message.of("user", "before")] if format is MessageFormat.ANTHROPIC else []
    for kept in (message, Message.from_json(message.to_json())):
        assert kept == message
        assert write([*opening, kept], format).messages[len(opening) :] == [item]
        assert json.dumps(write([kept], MessageFormat.PLAIN).messages)


@pytest.mark.parametrize(("format", "item"), EACH)
def test_our_own_json_keeps_a_message_whole(format: MessageFormat, item: Item) -> None:
    message = read(item, format)
    [written] = write([message], MessageFormat.PLAIN).messages
    again = read(json.loads(json.dumps(written)), MessageFormat.PLAIN)
    assert write([again], MessageFormat.PLAIN).messages == [written]
    if format is not MessageFormat.PLAIN:
        assert again == message


@pytest.mark.parametrize("format", list(ITEMS))
def test_a_whole_conversation_comes_back_as_it_came(format: MessageFormat) -> None:
    items = [item for item in ITEMS[format] if format is not MessageFormat.ANTHROPIC or item["role"] != "system"]
    assert write(read_all(items, format), format).messages == items


@pytest.mark.parametrize(("format", "item"), EACH)
def test_no_words_are_kept_twice(format: MessageFormat, item: Item) -> None:
    message = read(item, format)
    words = [part.text for part in message.parts if isinstance(part, TextPart)]
    words += [call.arguments for call in message.calls if isinstance(call.arguments, str)]
    for word in (json.dumps(word)[1:-1] for word in words if word and len(word) > 5):
        assert message.to_json().count(word) == json.dumps(item).count(word)


@pytest.mark.parametrize("format", list(MessageFormat))
def test_plain_words_read_the_same_in_every_format(format: MessageFormat) -> None:
    message = read({"role": "user", "content": "hi"}, format)
    assert message == Message.of(Role.USER, "hi", origin=format)


def test_parts_are_what_the_items_say() -> None:
    assistant = read(CHAT[10])
    assert assistant.calls[0] == CallPart.make(id="call_1", name="read", arguments='{"path": "a.txt"}')
    assert read(ANTHROPIC[4]).calls[0].arguments == {"path": "a.txt"}
    tool = read(ANTHROPIC[5])
    assert (tool.role, [result.is_error for result in tool.results][:2]) == (Role.TOOL, [False, True])
    assert tool.parts[-1] == TextPart.make(text="<system-reminder>\nbe kind\n</system-reminder>")
    assert read(CHAT[9]).parts[2] == ImagePart.make(data=PNG, media_type="image/png")
    assert isinstance(read(RESPONSES[12]).parts[0], OtherPart)
    assert (read(CHAT[3]).role, read(CHAT[4]).speaker) == (Role.SYSTEM, "alice")
    assert "hello" in read(CHAT[22]).text
    assert "I cannot" in read(CHAT[19]).text


TOLD = (
    (MessageFormat.PLAIN, {"role": "user", "content": "hi"}),
    (MessageFormat.PLAIN, {"role": "user", "parts": []}),
    (MessageFormat.CHAT, {"role": "user", "content": [{"type": "text", "text": "hi"}]}),
    (MessageFormat.CHAT, CHAT[9]),
    (MessageFormat.CHAT, CHAT[10]),
    (MessageFormat.CHAT, {"role": "tool", "tool_call_id": "c", "content": "x"}),
    (MessageFormat.CHAT, {"role": "developer", "content": "x"}),
    (MessageFormat.RESPONSES, RESPONSES[2]),
    (MessageFormat.RESPONSES, RESPONSES[6]),
    (MessageFormat.RESPONSES, RESPONSES[12]),
    (MessageFormat.RESPONSES, {"type": "message", "role": "assistant", "content": "x"}),
    (MessageFormat.ANTHROPIC, ANTHROPIC[3]),
    (MessageFormat.ANTHROPIC, ANTHROPIC[5]),
    (MessageFormat.ANTHROPIC, ANTHROPIC[7]),
)


@pytest.mark.parametrize(("format", "item"), TOLD)
def test_the_format_is_detected_from_the_item(format: MessageFormat, item: Item) -> None:
    assert read(item).origin is format


def test_an_unclear_item_has_the_format_of_its_neighbours() -> None:
    items = [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [use("t1")]},
    ]
    assert [message.origin for message in read_all(items)] == [MessageFormat.ANTHROPIC] * 2


def test_a_message_is_taken_as_it_is() -> None:
    message = Message.of("user", "hi")
    assert read(message, "chat") is message
    assert read_all([message, {"role": "user", "content": "x"}], "chat")[0] is message


WRONG: tuple[tuple[MessageFormat | str | None, Any, str], ...] = (
    (None, {"role": "wizard", "content": "x"}, "use one of"),
    ("chat", {"role": "wizard", "content": "x"}, "system, developer, user"),
    ("anthropic", {"role": "tool", "content": "x"}, "pass another format"),
    (None, {"content": "x"}, "has no role"),
    (None, "hi", "a message must be a dict"),
    (None, {"role": "user"}, "has no content"),
    ("chat", {"role": "assistant"}, "has no content"),
    ("chat", {"role": "tool", "tool_call_id": "c"}, "has no content"),
    ("anthropic", {"role": "user"}, "has no content"),
    ("responses", {"role": "user"}, "has no content"),
    ("responses", {"type": "function_call_output", "call_id": "c"}, "has no output"),
    ("chat", {"role": "user", "content": 3}, "give a text or a list"),
    ("chat", {"role": "user", "content": ["hi"]}, "give a text or a list"),
    ("chat", {"role": "user", "content": {"text": "hi"}}, "give a text or a list"),
    ("chat", {"role": "user", "content": [{"text": "hi"}]}, "'type'"),
    ("chat", {"role": "user", "content": [{"type": "text"}]}, "'text'"),
    ("chat", {"role": "user", "content": [{"type": "image_url", "image_url": "u"}]}, "'image_url'"),
    ("chat", {"role": "tool", "content": "x"}, "'tool_call_id'"),
    ("chat", {"role": "tool", "content": "x", "tool_call_id": ""}, "'tool_call_id'"),
    ("chat", {"role": "function", "content": "x"}, "'name'"),
    ("chat", {"role": "assistant", "tool_calls": [call("")]}, "'id'"),
    ("chat", {"role": "assistant", "tool_calls": [call("c", name="")]}, "'name'"),
    ("chat", {"role": "assistant", "tool_calls": [{"id": "c"}]}, "'function'"),
    ("chat", {"role": "assistant", "tool_calls": "c"}, "'tool_calls'"),
    ("chat", {"role": "assistant", "tool_calls": [call("c" * 201)]}, "the limit is 200"),
    ("responses", {"type": "function_call_output", "output": "x"}, "'call_id'"),
    ("responses", {"type": "function_call_output", "call_id": None, "output": "x"}, "'call_id'"),
    ("responses", {"type": "function_call", "call_id": "c", "name": ""}, "'name'"),
    ("responses", {"type": 3}, "'type'"),
    ("anthropic", {"role": "user", "content": [{"type": "tool_result", "content": "x"}]}, "'tool_use_id'"),
    ("anthropic", {"role": "assistant", "content": [{**use("x"), "id": ""}]}, "'id'"),
    ("plain", {"role": "tool", "content": "x"}, "call_id"),
    ("plain", {"role": "user", "content": [{"type": "text", "text": "x"}]}, "'parts'"),
    ("plain", {"role": "user", "parts": [{"kind": "text", "text": "x", "odd": 1}]}, "odd"),
    ("chat", {"role": "user", "content": "a\x00b"}, "NUL"),
    ("chat", {"role": "user", "content": "x", "when": object()}, "not JSON"),
    ("morse", {"role": "user", "content": "x"}, "plain, chat, responses, anthropic"),
)


@pytest.mark.parametrize(("format", "item", "hint"), WRONG)
def test_what_cannot_be_read_says_what_to_do(format: str | None, item: Any, hint: str) -> None:
    with pytest.raises(InvalidInput, match=hint):
        read(item, format)


def test_a_wrong_item_is_named_by_its_place() -> None:
    with pytest.raises(InvalidInput, match="message 1: "):
        read_all([{"role": "user", "content": "x"}, {"role": "user", "content": 1}], "chat")
    with pytest.raises(InvalidInput, match="wrap a single message in a list"):
        read_all({"role": "user", "content": "x"})  # type: ignore[dict-item]


def test_what_the_sdks_return_comes_back_as_it_came() -> None:
    usage: Any = {"input_tokens": 1, "output_tokens": 1}
    answers = (
        ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": [call("c1")]}),
        ResponseFunctionToolCall(type="function_call", call_id="c1", name="now", arguments="{}"),
        Answer.model_construct(
            id="msg_1",
            role="assistant",
            type="message",
            model="m",
            stop_reason="tool_use",
            usage=usage,
            content=[
                TextBlock.model_construct(type="text", text="x", citations=None),
                ToolUseBlock.model_construct(type="tool_use", id="t1", name="now", input={}),
            ],
        ),
    )
    for answer, format in zip(answers, PROVIDERS, strict=True):
        item = answer.model_dump(mode="json", warnings=False)
        assert read(item).origin is format
        assert write([read(item)], format).messages == [item]
