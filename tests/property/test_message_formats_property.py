"""Whatever an item holds, it comes back as it came; whatever was said, every provider accepts it in its format."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.provider_rules import check
from treering.conversation.formats import ProviderMessages, read, read_all, write
from treering.core.errors import InvalidInput
from treering.core.messages import CallPart, Message, MessageFormat, ResultPart, TextPart

Item = dict[str, Any]
PROVIDERS = (MessageFormat.CHAT, MessageFormat.RESPONSES, MessageFormat.ANTHROPIC)

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
words = texts.filter(str.strip)
names = st.from_regex(r"[a-z][a-z_-]{0,8}", fullmatch=True)
ids = st.one_of(names, words.filter(str.isprintable))
leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts)
json_values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2), max_leaves=4
)
objects = st.dictionaries(texts, json_values, max_size=2)
# Fields nobody knows, also under the words that we use for notes of our own.
unknown_keys = st.sampled_from(("x", "patch", "set", "unset", "in", "as", "shape", "plain", "field", "fields", "0"))
unknown = st.dictionaries(unknown_keys, json_values, max_size=2)


def some(required: dict[str, st.SearchStrategy[Any]], **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Item]:
    """Objects with these fields, and with unknown ones."""
    fixed = st.fixed_dictionaries(required, optional=optional)
    return st.builds(lambda known, more: {**more, **known}, fixed, unknown)


def typed(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Item]:
    return some({"type": st.just(kind), **fields})


def content(parts: st.SearchStrategy[Item]) -> st.SearchStrategy[str | list[Item]]:
    return texts | st.lists(parts, max_size=3)


urls = st.one_of(
    st.just("https://example.org/a.png"), st.just("data:image/png;base64,AAAA"), texts.map(lambda text: f"data:{text}")
)
anything = typed("of_the_future", data=json_values)

chat_parts = st.one_of(
    typed("text", text=texts),
    typed("refusal", refusal=texts),
    typed("image_url", image_url=some({"url": urls}, detail=texts | st.none())),
    typed("input_audio", input_audio=objects),
    typed("file", file=objects),
    anything,
)
chat_calls = st.one_of(
    some(
        {"id": ids, "function": some({"name": names}, arguments=texts | json_values)},
        type=st.just("function"),
    ),
    some({"id": ids, "type": st.just("custom"), "custom": some({"name": names}, input=texts)}),
)
chat_items = st.one_of(
    some(
        {"role": st.sampled_from(("user", "system", "developer")), "content": content(chat_parts)},
        name=names | texts | st.none(),
    ),
    some(
        {"role": st.just("assistant"), "content": content(chat_parts) | st.none()},
        tool_calls=st.lists(chat_calls, max_size=3) | st.none(),
        function_call=some({"name": names, "arguments": texts}) | st.none(),
        refusal=texts | st.none(),
        audio=some({"id": texts}, transcript=texts | st.none()) | st.none(),
    ),
    some({"role": st.just("assistant"), "tool_calls": st.lists(chat_calls, min_size=1, max_size=3)}),
    some({"role": st.just("tool"), "tool_call_id": ids, "content": content(chat_parts) | st.none()}, name=names),
    some({"role": st.just("function"), "name": names, "content": content(chat_parts)}),
)

responses_parts = st.one_of(
    typed("input_text", text=texts),
    typed("output_text", text=texts, annotations=st.lists(objects, max_size=1)),
    typed("refusal", refusal=texts),
    some({"type": st.just("input_image")}, image_url=urls | st.none(), file_id=texts, detail=texts),
    some({"type": st.just("input_file")}, filename=texts, file_data=urls),
    anything,
)
responses_items = st.one_of(
    some(
        {"role": st.sampled_from(("user", "system", "developer", "assistant")), "content": content(responses_parts)},
        type=st.just("message"),
        id=texts,
        status=texts,
    ),
    typed("function_call", call_id=ids, name=names, arguments=texts | json_values),
    typed("custom_tool_call", call_id=ids, name=names, input=texts),
    some(
        {
            "type": st.sampled_from(("function_call_output", "custom_tool_call_output")),
            "call_id": ids,
            "output": content(responses_parts),
        },
        status=texts | st.none(),
    ),
    typed("reasoning", summary=st.lists(objects, max_size=1), encrypted_content=texts | st.none()),
    typed("computer_call_output", output=json_values),
    anything,
)

plain_blocks = st.one_of(
    some({"type": st.just("text"), "text": texts}, citations=st.lists(objects, max_size=1) | st.none()),
    typed("image", source=some({"type": st.just("base64"), "media_type": texts, "data": texts})),
    typed("image", source=some({"type": st.just("url"), "url": urls})),
    typed("image", source=objects),
    typed("document", source=objects, title=texts | st.none()),
    anything,
)
blocks = st.one_of(
    plain_blocks,
    some({"type": st.just("tool_use"), "id": ids, "name": names}, input=objects),
    some(
        {"type": st.just("tool_result"), "tool_use_id": ids},
        content=content(plain_blocks) | st.none(),
        is_error=st.booleans() | st.none(),
    ),
    typed("thinking", thinking=texts, signature=texts),
    typed("redacted_thinking", data=texts),
)
anthropic_items = some(
    {"role": st.sampled_from(("user", "assistant")), "content": content(blocks)},
    id=texts,
    stop_reason=texts | st.none(),
)

said_parts = st.one_of(
    st.fixed_dictionaries({"kind": st.just("text"), "text": texts}, optional={"extra": objects}),
    st.fixed_dictionaries({"kind": st.just("image"), "url": urls}, optional={"width": st.just(3), "data": st.none()}),
    st.fixed_dictionaries({"kind": st.just("other"), "type": names}, optional={"data": objects}),
)
own_parts = st.one_of(
    said_parts,
    st.fixed_dictionaries({"kind": st.just("call"), "id": ids, "name": names}, optional={"arguments": json_values}),
    st.fixed_dictionaries(
        {"kind": st.just("result"), "call_id": ids},
        optional={"parts": st.lists(said_parts, max_size=2), "is_error": st.booleans()},
    ),
)
plain_items = st.one_of(
    some(
        {"role": st.sampled_from(("user", "assistant", "system")), "content": texts},
        speaker=names | st.none(),
        id=names,
    ),
    some(
        {"role": st.sampled_from(("user", "assistant", "system", "tool")), "parts": st.lists(own_parts, max_size=3)},
        at=st.sampled_from(("2026-05-01T10:00:00Z", "2026-05-01T10:00:00+02:00", None)),
        origin=st.sampled_from([*MessageFormat]),
        extra=unknown,
    ),
)
ITEMS = {
    MessageFormat.CHAT: chat_items,
    MessageFormat.RESPONSES: responses_items,
    MessageFormat.ANTHROPIC: anthropic_items,
    MessageFormat.PLAIN: plain_items,
}
items_of = st.sampled_from([*ITEMS]).flatmap(
    lambda format: st.tuples(st.just(format), st.lists(ITEMS[format], max_size=4))
)


@given(items_of)
def test_items_come_back_as_they_came(given_items: tuple[MessageFormat, list[Item]]) -> None:
    format, items = given_items
    before = json.dumps(items)
    messages = read_all(items, format)
    stored = [Message.from_json(message.to_json()) for message in messages]
    assert write(messages, format) == write(stored, format) == ProviderMessages(items)
    assert json.loads(json.dumps(write(messages, format).messages)) == json.loads(before)
    assert json.dumps(items) == before


@given(items_of)
def test_our_own_json_keeps_messages_of_every_origin(given_items: tuple[MessageFormat, list[Item]]) -> None:
    format, items = given_items
    messages = read_all(items, format)
    own = json.loads(json.dumps(write(messages, MessageFormat.PLAIN).messages))
    again = read_all(own, MessageFormat.PLAIN)
    assert write(again, format).messages == items
    if format is not MessageFormat.PLAIN:
        assert again == messages


@given(items_of, st.sampled_from(PROVIDERS))
def test_items_of_any_kind_cross_into_a_valid_request(
    given_items: tuple[MessageFormat, list[Item]], target: MessageFormat
) -> None:
    format, items = given_items
    messages = [message for message in read_all(items, format) if message.origin is not target]
    check(write([*messages, Message.of("user", "go on")], target), target)


nonsense = st.dictionaries(
    st.sampled_from(("role", "content", "type", "id", "tool_calls", "parts", "output", "call_id", "origin", "extra")),
    json_values | st.sampled_from(("user", "assistant", "tool", "message", "chat", "anthropic")),
)


@given(st.sampled_from([*MessageFormat, None]), nonsense)
def test_nonsense_is_read_or_refused(format: MessageFormat | None, item: Item) -> None:
    with suppress(InvalidInput):
        message = read(item, format)
        for wanted in MessageFormat:
            write([message], wanted)


@dataclass(frozen=True)
class Said:
    """Some words of the user, or a turn of the assistant: words, calls with their results in any order."""

    user: bool
    text: str
    calls: tuple[tuple[str, str, Item], ...] = ()
    results: tuple[tuple[str, str, bool], ...] = ()
    thinks: bool = False


@st.composite
def talks(draw: st.DrawFn) -> list[Said]:
    talk = [Said(user=True, text=draw(words))]
    for number in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            talk.append(Said(user=True, text=draw(words)))
            continue
        count = draw(st.integers(0, 3))
        calls = tuple((f"call_{number}_{n}", draw(names), draw(objects)) for n in range(count))
        results = tuple((id, draw(words), draw(st.booleans())) for id, _, _ in draw(st.permutations(calls)))
        text = draw(texts) if calls else draw(words)
        talk.append(Said(False, text, calls, results, thinks=draw(st.booleans())))
    return talk


def chat_of(said: Said) -> tuple[list[Item], list[Item]]:
    calls = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for id, name, arguments in said.calls
    ]
    item: Item = {"role": "user" if said.user else "assistant", "content": said.text}
    results = [{"role": "tool", "tool_call_id": id, "content": text} for id, text, _ in said.results]
    return [{**item, "tool_calls": calls} if calls else item], results


def responses_of(said: Said) -> tuple[list[Item], list[Item]]:
    items: list[Item] = [{"type": "reasoning", "id": "rs", "summary": []}] if said.thinks else []
    if said.text:
        items.append({"role": "user" if said.user else "assistant", "content": said.text})
    for id, name, arguments in said.calls:
        items.append({"type": "function_call", "call_id": id, "name": name, "arguments": json.dumps(arguments)})
    return items, [{"type": "function_call_output", "call_id": id, "output": text} for id, text, _ in said.results]


def anthropic_of(said: Said) -> tuple[list[Item], list[Item]]:
    parts: list[Item] = [{"type": "thinking", "thinking": "hm", "signature": "s"}] if said.thinks else []
    if said.text.strip():
        parts.append({"type": "text", "text": said.text})
    parts += [{"type": "tool_use", "id": id, "name": name, "input": given} for id, name, given in said.calls]
    results: list[Item] = [
        {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}
        for id, text, failed in said.results
    ]
    turn = {"role": "user" if said.user else "assistant", "content": parts}
    return [turn], [{"role": "user", "content": [*results, {"type": "text", "text": "note"}]}] if results else []


def plain_of(said: Said) -> tuple[list[Item], list[Item]]:
    parts: list[Item] = [{"kind": "text", "text": said.text}]
    parts += [{"kind": "call", "id": id, "name": name, "arguments": given} for id, name, given in said.calls]
    results = [
        {"kind": "result", "call_id": id, "parts": [{"kind": "text", "text": text}], "is_error": failed}
        for id, text, failed in said.results
    ]
    turn = {"role": "user" if said.user else "assistant", "parts": parts}
    return [turn], [{"role": "tool", "parts": [result]} for result in results]


RENDER: dict[MessageFormat, Callable[[Said], tuple[list[Item], list[Item]]]] = {
    MessageFormat.CHAT: chat_of,
    MessageFormat.RESPONSES: responses_of,
    MessageFormat.ANTHROPIC: anthropic_of,
    MessageFormat.PLAIN: plain_of,
}


def rendered(talk: list[Said], format: MessageFormat) -> list[Message]:
    items = [item for said in talk for half in RENDER[format](said) for item in half]
    return [*read_all(items, format)]


def meaning(messages: tuple[Message, ...]) -> tuple[list[Any], list[Any], list[Any]]:
    """What was said, asked and answered, in order."""
    parts = [part for message in messages for part in message.parts]
    heard = [(part.text or "") for part in parts if isinstance(part, TextPart)]
    calls = [(part.id, part.name, json.loads(part.arguments_text)) for part in parts if isinstance(part, CallPart)]
    answers = [
        (
            part.call_id,
            "".join(str(inner.text).removeprefix("[error] ") for inner in part.parts if inner.kind == "text"),
        )
        for part in parts
        if isinstance(part, ResultPart)
    ]
    return [text for text in heard if text.strip() and text != "note"], calls, sorted(answers)


@given(talks(), st.sampled_from([*MessageFormat]), st.sampled_from(PROVIDERS))
def test_a_talk_keeps_its_meaning_in_every_format(
    talk: list[Said], source: MessageFormat, target: MessageFormat
) -> None:
    messages = rendered(talk, source)
    written = write(messages, target)
    if source is not target:
        check(written, target)
    assert meaning(read_all(written.messages, target)) == meaning(tuple(messages))


@given(talks(), st.data(), st.sampled_from([*MessageFormat]), st.sampled_from(PROVIDERS))
def test_a_piece_of_a_talk_is_still_valid(
    talk: list[Said], data: st.DataObject, source: MessageFormat, target: MessageFormat
) -> None:
    messages = rendered(talk, source)
    kept = [message for message in messages if data.draw(st.booleans())]
    if source is not target:
        check(write(kept, target), target)


@given(talks(), st.data(), st.sampled_from(PROVIDERS))
def test_a_talk_of_many_origins_is_valid_everywhere(
    talk: list[Said], data: st.DataObject, target: MessageFormat
) -> None:
    messages: list[Message] = []
    for said in talk:
        asking, answering = (data.draw(st.sampled_from([*MessageFormat])) for _ in range(2))
        messages += read_all(RENDER[asking](said)[0], asking)
        messages += read_all(RENDER[answering](said)[1], answering)
    check(write(messages, target), target)
