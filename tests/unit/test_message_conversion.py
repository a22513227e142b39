"""A conversation crosses into the format of another provider with its meaning, and as that provider accepts it."""

import json
from itertools import product
from typing import Any

import pytest

from tests.provider_items import ITEMS, PDF, PNG, Item, call, use
from tests.provider_rules import check
from treering.conversation.formats import EARLIER, read, read_all, write
from treering.conversation.formats.arrangement import UNANSWERED
from treering.core.messages import CallPart, Message, MessageFormat, ResultPart, TextPart

PROVIDERS = (MessageFormat.CHAT, MessageFormat.RESPONSES, MessageFormat.ANTHROPIC)

TALK: dict[MessageFormat, list[Item]] = {
    MessageFormat.CHAT: [
        {"role": "developer", "content": "be brief"},
        {"role": "user", "content": "compare a and b"},
        {"role": "assistant", "content": "I look.", "tool_calls": [call("c1"), call("c2", arguments='{"path":"b"}')]},
        {"role": "tool", "tool_call_id": "c1", "content": "alpha"},
        {"role": "tool", "tool_call_id": "c2", "content": "beta"},
        {"role": "assistant", "content": "They differ."},
        {"role": "user", "content": "thanks"},
    ],
    MessageFormat.RESPONSES: [
        {"role": "developer", "content": "be brief"},
        {"role": "user", "content": "compare a and b"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"path": "a.txt"}', "id": "fc_1"},
        {"type": "function_call", "call_id": "c2", "name": "read", "arguments": '{"path":"b"}', "id": "fc_2"},
        {"type": "function_call_output", "call_id": "c1", "output": "alpha"},
        {"type": "function_call_output", "call_id": "c2", "output": "beta"},
        {"role": "assistant", "content": "They differ."},
        {"role": "user", "content": "thanks"},
    ],
    MessageFormat.ANTHROPIC: [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "compare a and b"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a.txt"}},
                {"type": "tool_use", "id": "c2", "name": "read", "input": {"path": "b"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "alpha"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "beta"},
            ],
        },
        {"role": "assistant", "content": "They differ."},
        {"role": "user", "content": "thanks"},
    ],
}


def said(items: list[Item], format: MessageFormat) -> list[Any]:
    """What a conversation says, whatever its format: roles, words, calls, results."""
    heard: list[Any] = []
    for message in read_all(items, format):
        for part in message.parts:
            if isinstance(part, TextPart):
                heard.append((message.role, part.text))
            elif isinstance(part, CallPart):
                heard.append((part.id, part.name, json.loads(part.arguments_text)))
            elif isinstance(part, ResultPart):
                heard.append((part.call_id, Message.make(role="tool", parts=part.parts).text))
    return heard


@pytest.mark.parametrize(("source", "target"), list(product(PROVIDERS, PROVIDERS)))
def test_a_conversation_crosses_with_its_meaning(source: MessageFormat, target: MessageFormat) -> None:
    written = write(read_all(TALK[source], source), target)
    if source is not target:
        check(written, target)
    system = [] if written.system is None else [{"role": "system", "content": written.system}]
    assert said(system + written.messages, target) == said(TALK[source], source)


def test_parallel_calls_of_responses_become_one_message_of_each_other_provider() -> None:
    messages = read_all(TALK[MessageFormat.RESPONSES])
    assert [item["role"] for item in write(messages, "anthropic").messages] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert [item["role"] for item in write(messages, "chat").messages] == [
        "developer",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "user",
    ]


def test_results_with_words_beside_them_split_for_chat() -> None:
    talk: list[Item] = [
        {"role": "assistant", "content": [use("t1"), use("t2")]},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "is_error": True,
                    "content": [
                        {"type": "text", "text": "broke"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                    ],
                },
                {"type": "tool_result", "tool_use_id": "t2"},
                {"type": "text", "text": "go on"},
            ],
        },
    ]
    written = write(read_all(talk), "chat")
    check(written, MessageFormat.CHAT)
    assert written.messages[1:] == [
        {
            "role": "tool",
            "tool_call_id": "t1",
            "content": [{"type": "text", "text": "[error] broke"}, {"type": "text", "text": "[image]"}],
        },
        {"role": "tool", "tool_call_id": "t2", "content": ""},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
                {"type": "text", "text": "go on"},
            ],
        },
    ]


def test_a_late_result_moves_to_its_call_and_a_missing_one_is_named() -> None:
    talk = [
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
        {"type": "function_call", "call_id": "c2", "name": "read", "arguments": "{}"},
        {"role": "user", "content": "still there?"},
        {"type": "function_call_output", "call_id": "c1", "output": "alpha"},
        {"type": "function_call_output", "call_id": "gone", "output": "lost"},
    ]
    for target in (MessageFormat.CHAT, MessageFormat.ANTHROPIC):
        written = write(read_all(talk, "responses"), target)
        check(written, target)
        assert UNANSWERED in json.dumps(written.messages)
        assert "[result of the earlier call gone]" in json.dumps(written.messages)
        assert "lost" in json.dumps(written.messages)
    assert [item["role"] for item in write(read_all(talk, "responses"), "chat").messages] == [
        "assistant",
        "tool",
        "tool",
        "user",
        "user",
    ]


def test_a_call_at_the_end_stays_open() -> None:
    [item] = write(read_all(TALK[MessageFormat.ANTHROPIC][2:3]), "chat").messages
    assert len(item["tool_calls"]) == 2


def test_foreign_messages_give_way_to_native_results() -> None:
    talk = [
        *read_all([{"role": "assistant", "content": None, "tool_calls": [call("c1"), call("c2")]}], "chat"),
        *read_all([{"type": "function_call_output", "call_id": "c1", "output": "alpha"}]),
        *read_all([{"role": "user", "content": [{"type": "text", "text": "wait"}]}], "anthropic"),
        *read_all([{"role": "tool", "tool_call_id": "c2", "content": "beta"}]),
    ]
    written = write(talk, "chat")
    check(written, MessageFormat.CHAT)
    assert [item["role"] for item in written.messages] == ["assistant", "tool", "tool", "user"]


def test_a_foreign_turn_waits_for_native_results() -> None:
    talk = [
        *read_all([{"role": "assistant", "content": None, "tool_calls": [call("c1")]}]),
        *read_all([{"role": "assistant", "content": [use("t1")]}]),
        *read_all([{"role": "tool", "tool_call_id": "c1", "content": "alpha"}]),
        *read_all([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "beta"}]}]),
    ]
    written = write(talk, "chat")
    check(written, MessageFormat.CHAT)
    assert [item["role"] for item in written.messages] == ["assistant", "tool", "assistant", "tool"]


def test_ids_that_the_target_refuses_are_replaced_in_both_places() -> None:
    talk: list[Item] = [
        {"role": "assistant", "content": None, "tool_calls": [call("functions.read:0")]},
        {"role": "tool", "tool_call_id": "functions.read:0", "content": "one"},
        {"role": "assistant", "content": None, "tool_calls": [call("functions.read:0")]},
        {"role": "tool", "tool_call_id": "functions.read:0", "content": "two"},
        {"role": "assistant", "content": None, "function_call": {"name": "now", "arguments": ""}},
        {"role": "function", "name": "now", "content": "12:00"},
    ]
    written = write(read_all(talk), "anthropic")
    check(written, MessageFormat.ANTHROPIC)
    assert written.messages[0] == {"role": "user", "content": EARLIER}
    blocks = [item["content"][0] for item in written.messages[1:]]
    uses, results = blocks[::2], blocks[1::2]
    assert [block["id"] for block in uses] == ["functions_read_0", "functions_read_0_2", "call_now"]
    assert [(block["tool_use_id"], block["content"]) for block in results] == [
        ("functions_read_0", "one"),
        ("functions_read_0_2", "two"),
        ("call_now", "12:00"),
    ]


def test_the_system_prompt_is_separate_for_anthropic() -> None:
    one = [{"role": "system", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}]
    assert write(read_all(one, "anthropic"), "anthropic").system == one[0]["content"]
    two = read_all(
        [{"role": "system", "content": "a"}, {"role": "user", "content": "x"}, {"role": "developer", "content": "b"}]
    )
    written = write(two, "anthropic")
    assert written.system == [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert written.messages == [{"role": "user", "content": "x"}]
    assert write([], "anthropic") == write(read_all([{"role": "user", "content": " "}]), "anthropic")


FILES = (
    (
        {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}},
        MessageFormat.CHAT,
    ),
    (
        {"type": "input_file", "filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
        MessageFormat.RESPONSES,
    ),
    (
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
            "title": "a.pdf",
        },
        MessageFormat.ANTHROPIC,
    ),
)


@pytest.mark.parametrize(("source", "target"), list(product(FILES, FILES)))
def test_a_file_crosses(source: tuple[Item, MessageFormat], target: tuple[Item, MessageFormat]) -> None:
    message = read({"role": "user", "content": [source[0]]}, source[1])
    assert write([message], target[1]).messages == [{"role": "user", "content": [target[0]]}]


LEFT = (
    (
        MessageFormat.ANTHROPIC,
        {"type": "document", "title": "notes", "source": {"type": "file", "file_id": "f"}},
        "[document: notes]",
    ),
    (
        MessageFormat.ANTHROPIC,
        {"type": "document", "title": "notes", "source": {"type": "text", "media_type": "text/plain", "data": "words"}},
        "[document: notes]\nwords",
    ),
    (
        MessageFormat.ANTHROPIC,
        {"type": "search_result", "source": "wiki", "title": "oaks", "content": [{"type": "text", "text": "old"}]},
        "[document: oaks]\nold",
    ),
    (MessageFormat.ANTHROPIC, {"type": "image", "source": {"type": "file", "file_id": "f"}}, "[image]"),
    (MessageFormat.RESPONSES, {"type": "input_file", "file_id": "file-1"}, "[document: file-1]"),
    (MessageFormat.RESPONSES, {"type": "input_image", "image_url": "data:image/tiff;base64,AA"}, "[image]"),
)


@pytest.mark.parametrize(("source", "part", "text"), LEFT)
def test_what_cannot_cross_leaves_its_name(source: MessageFormat, part: Item, text: str) -> None:
    message = read({"role": "user", "content": [part]}, source)
    assert write([message], "chat").messages == [{"role": "user", "content": text}]


def test_sounds_of_chat_leave_their_words() -> None:
    for audio, text in (({"id": "a", "transcript": "hello"}, "hello"), ({"id": "a"}, "[audio]")):
        message = read({"role": "assistant", "content": None, "audio": audio})
        assert write([message], "responses").messages == [{"role": "assistant", "content": text}]


def test_thoughts_and_fields_of_another_provider_are_left_out() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    messages = read_all([thought, search, {"role": "assistant", "content": "x", "phase": "commentary"}])
    assert write(messages, "chat").messages == [{"role": "assistant", "content": "x"}]


def test_free_text_for_a_tool_stays_free_among_openai_and_becomes_an_argument_elsewhere() -> None:
    custom = {"id": "call_1", "type": "custom", "custom": {"name": "python", "input": "print(1)"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [custom]}
    talk = read_all([asked, {"role": "tool", "tool_call_id": "call_1", "content": "1"}])
    items = write(talk, "responses").messages
    assert items == [
        {"type": "custom_tool_call", "call_id": "call_1", "name": "python", "input": "print(1)"},
        {"type": "custom_tool_call_output", "call_id": "call_1", "output": "1"},
    ]
    assert write(talk, "anthropic").messages[1]["content"][0]["input"] == {"input": "print(1)"}


ARGUMENTS: tuple[tuple[str, Item], ...] = (
    ("", {}),
    ("{}", {}),
    ('{"a": [1]}', {"a": [1]}),
    ("[1]", {"input": "[1]"}),
    ("not json", {"input": "not json"}),
    ('{"a": NaN}', {"input": '{"a": NaN}'}),
    ('{"a": "\\ud800"}', {"input": '{"a": "\\ud800"}'}),
    ("[" * 100_000, {"input": "[" * 100_000}),
)


@pytest.mark.parametrize(("text", "expected"), ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_arguments_cross_as_an_object(text: str, expected: Item) -> None:
    message = read({"role": "assistant", "content": None, "tool_calls": [call("c1", arguments=text)]})
    assert write([message], "anthropic").messages[1]["content"][0]["input"] == expected
    [item] = write([message], "responses").messages
    assert json.loads(item["arguments"]) == expected


def test_every_listed_item_crosses_into_a_valid_request() -> None:
    for source, target in product(ITEMS, PROVIDERS):
        if source is not target:
            opening = Message.of("user", "hi")
            check(write([opening, *read_all(ITEMS[source], source), Message.of("user", "bye")], target), target)
