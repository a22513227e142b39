"""What a conversation promises, on both engines."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.property.conversation_histories import Quarter, marker_counts, shown_ids, unmatched
from tests.provider_items import ITEMS, Item
from tests.provider_rules import check
from treering.conversation.api import Conversation
from treering.conversation.views import ConversationEvent
from treering.core.errors import Conflict, ContextTooLarge, InvalidInput, NotFound, SecretRefused
from treering.core.messages import CallPart, Message, MessageFormat, ResultPart, Role, TextPart
from treering.memory import Memory

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LONG = "the parser reads one token after another and keeps what it saw. " * 4
NATIVE = [(format, place) for format, items in ITEMS.items() for place in range(len(items))]


def opened(memory: Memory, id: str = "talk", **rules: Any) -> Conversation:
    return memory.conversation(id, **{"limit": 1_000, "tokenizer": Quarter(), "keep_recent": 2, **rules})


def chatted(talk: Conversation, pairs: int = 12, text: str = LONG) -> list[str]:
    """Questions and answers, with ids that say which."""
    said = [
        Message.of(role, f"{role.value} {number}: {text}", id=f"{talk.id}-{role.value[0]}{number}")
        for number in range(pairs)
        for role in (Role.USER, Role.ASSISTANT)
    ]
    return [str(message.id) for message in talk.extend(said)]


def call(id: str, *, message: str) -> Message:
    return Message.make(role=Role.ASSISTANT, id=message, parts=(CallPart.make(id=id, name="read"),))


def result(*ids: str, message: str | None = None) -> Message:
    parts = [ResultPart.make(call_id=id, parts=(TextPart.make(text=f"result of {id}"),)) for id in ids]
    return Message.make(role=Role.TOOL, id=message, parts=parts)


@pytest.fixture
def talk(memory: Memory) -> Conversation:
    return opened(memory)


@pytest.mark.parametrize(("format", "place"), NATIVE, ids=str)
def test_an_item_comes_back_as_it_was_from_the_store_and_in_a_fresh_memory(
    open_memory: OpenMemory, format: MessageFormat, place: int
) -> None:
    item: Item = ITEMS[format][place]
    talk = opened(open_memory(), limit=1_000_000)
    added = talk.add(item, format=format)
    again = open_memory().conversation("talk")
    for messages in (talk.messages(), again.messages()):
        assert [message.replace(id=None, at=None) for message in messages] == [added.replace(id=None, at=None)]
    if not added.calls and added.role is not Role.TOOL:
        written = again.build().to(format)
        assert written == talk.build().to(format)
        assert format is MessageFormat.PLAIN or written.system or written.messages == [item]


@pytest.mark.parametrize("format", [MessageFormat.CHAT, MessageFormat.RESPONSES, MessageFormat.ANTHROPIC])
def test_a_history_with_calls_comes_back_in_its_own_format(open_memory: OpenMemory, format: MessageFormat) -> None:
    said: Any = {
        MessageFormat.CHAT: [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "read it"},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": name, "type": "function", "function": {"name": "read", "arguments": "{}"}} for name in "ab"]},
            *({"role": "tool", "tool_call_id": name, "content": name} for name in "ab"),
        ],
        MessageFormat.RESPONSES: [
            {"role": "user", "content": "read it"},
            *({"type": "function_call", "call_id": name, "name": "read", "arguments": "{}"} for name in "ab"),
            *({"type": "function_call_output", "call_id": name, "output": name} for name in "ab"),
        ],
        MessageFormat.ANTHROPIC: [
            {"role": "user", "content": "read it"},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": name, "name": "read", "input": {}} for name in "ab"]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": name, "content": name} for name in "ab"]},
        ],
    }[format]  # fmt: skip
    opened(open_memory()).extend(said, format=format)
    written = open_memory().conversation("talk").build().to(format)
    assert written.messages == said
    check(written, format)


def test_the_same_message_delivered_twice_is_one_and_another_under_its_id_a_conflict(talk: Conversation) -> None:
    message = Message.of("user", "hello", id="m1")
    assert talk.add(message) == talk.add(message)
    with pytest.raises(Conflict, match="m1"):
        talk.extend([Message.of("user", "new", id="m2"), Message.of("user", "other", id="m1")])
    assert [message.id for message in talk.messages()] == ["m1"]
    with pytest.raises(InvalidInput, match="same id"):
        talk.extend([Message.of("user", "x", id="m3"), Message.of("user", "x", id="m3")])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda talk: talk.add("narrator", "once upon a time"),
        lambda talk: talk.add({"role": "narrator", "content": "once"}),
        lambda talk: talk.add("user"),
        lambda talk: talk.extend("hello"),
        lambda talk: talk.extend([{"role": "user", "content": "fine"}, {"content": "no role"}]),
        lambda talk: talk.reported(10),
        lambda talk: talk.reported(0),
    ],
)
def test_bad_input_is_a_clear_error_and_stores_nothing(talk: Conversation, wrong: Callable[..., object]) -> None:
    with pytest.raises(InvalidInput):
        wrong(talk)
    assert talk.messages() == ()
    assert talk.build().messages == ()


def test_a_new_conversation_needs_a_model_that_is_known(memory: Memory) -> None:
    for wrong in ({}, {"limit": 0}, {"limit": 10, "max_tokens": 11}, {"limit": 9, "strategy": "x"}):
        with pytest.raises(InvalidInput):
            memory.conversation("new", **wrong)
    with pytest.raises(InvalidInput, match="gpt-4o"):
        memory.conversation("new", model="gtp-4o")


def test_timestamps_out_of_order_are_kept_and_the_order_is_that_of_adding(talk: Conversation) -> None:
    moments = [datetime(2026, 1, day, tzinfo=UTC) for day in (9, 3, 6)]
    talk.extend([Message.of("user", f"day {at.day}", at=at) for at in moments])
    assert [message.at for message in talk.build().messages] == moments
    assert talk.stats().oldest == moments[0]


def test_a_result_without_its_call_is_kept_but_not_sent(talk: Conversation) -> None:
    talk.add("user", "hello")
    talk.add(result("nobody", message="alone"))
    context = talk.build()
    assert "alone" in context.left_out
    assert [message.text for message in context.messages] == ["hello"]
    assert [message.id for message in talk.messages()][-1] == "alone"


def test_a_result_given_as_what_is_said_now_is_refused_with_advice(talk: Conversation) -> None:
    talk.add("user", "read it")
    talk.add(call("a", message="ca"))
    assert "ca" in talk.build().left_out
    with pytest.raises(InvalidInput, match="add them, then build"):
        talk.build(result("a"))


@pytest.mark.parametrize("strategy", ["rolling_window", "importance", "hybrid"])
def test_a_result_that_comes_after_its_call_left_is_sent_with_it(memory: Memory, strategy: str) -> None:
    talk = opened(memory, strategy=strategy)
    talk.add(call("slow", message="call"))
    chatted(talk)
    talk.unimportant("call")
    talk.build()
    talk.add(result("slow", message="late"))
    context = talk.build()
    assert "late" in shown_ids(context), "the last message is never left out"
    assert not unmatched(context.messages)


def test_a_limit_smaller_than_the_system_prompt_is_an_error_and_nothing_is_lost(memory: Memory) -> None:
    for oversize in ("error", "truncate"):
        talk = opened(memory, oversize, limit=100, oversize=oversize)
        talk.add("system", LONG * 4)
        talk.add("user", "hello")
        with pytest.raises(ContextTooLarge, match="All messages are stored"):
            talk.build()
        assert [message.role for message in talk.messages()] == [Role.SYSTEM, Role.USER]


@pytest.mark.parametrize("format", ["plain", "chat", "anthropic"])
def test_a_message_larger_than_the_window_is_an_error_or_cut_as_the_rules_say(memory: Memory, format: str) -> None:
    item = {"role": "user", "content": LONG * 100}
    strict = opened(memory, "strict")
    whole = strict.add(item, format=format)
    with pytest.raises(ContextTooLarge, match=str(whole.id)):
        strict.build()
    heard = list[ConversationEvent]()
    lenient = opened(memory, "lenient", oversize="truncate", on_event=heard.append)
    cut = lenient.add(item, format=format)
    context = lenient.build()
    assert context.truncated == (cut.id,)
    assert context.tokens <= context.max_tokens
    assert "characters cut" in str(context.to(format).messages)
    assert len(str(context.to(format).messages)) < 4 * context.max_tokens
    assert [each.kind for each in heard] == ["warning", "truncated"]
    assert lenient.messages()[0].text == LONG * 100


def test_a_forgotten_message_leaves_the_open_conversation_and_undo_brings_it_back(
    memory: Memory, talk: Conversation
) -> None:
    ids = chatted(talk, 3)
    assert ids[2] in shown_ids(talk.build())
    memory.forget(ids[2])
    assert shown_ids(talk.build()) == [id for id in ids if id != ids[2]]
    with pytest.raises(NotFound, match=ids[2]):
        talk.pin(ids[2])
    with pytest.raises(Conflict, match="is taken"):
        talk.add(Message.of("user", f"user 1: {LONG}", id=ids[2]))
    memory.undo(ids[2])
    assert shown_ids(talk.build()) == ids


def test_what_stays_still_stays_when_a_message_beside_it_is_forgotten(memory: Memory) -> None:
    talk = opened(memory, limit=400)
    ids = chatted(talk)
    assert shown_ids(talk.build()) == ids[-2:]
    memory.forget(ids[-2])
    assert shown_ids(talk.build()) == ids[-1:]


def test_secrets_are_redacted_before_they_are_stored_and_sent(open_memory: OpenMemory) -> None:
    talk = opened(open_memory())
    talk.add("user", f"my token is {SECRET}")
    asked = {"name": "login", "arguments": f'{{"token": "{SECRET}"}}'}
    talk.add({"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": asked}]})
    talk.add({"role": "tool", "tool_call_id": "c", "content": f"token={SECRET}"})
    for each in (talk, open_memory().conversation("talk")):
        context = each.build()
        assert len(context.messages) == 3
        assert SECRET not in str((context, context.to("chat"), context.to("anthropic")))
        assert SECRET not in str((each.messages(), each.explain()))
    with pytest.raises(SecretRefused):
        talk.add(Message.of("user", "hello", id=SECRET))


def test_two_hands_on_one_conversation_see_each_other(open_memory: OpenMemory) -> None:
    one, other = opened(open_memory()), opened(open_memory())
    for number in range(12):
        one.add("user", f"{number} {LONG}")
        if number % 3 == 0:
            other.prune()
        other.add("assistant", f"{number} {LONG}")
        if number % 4 == 0:
            one.build()
        assert one.build() == other.build()
    assert len(one.messages()) == len(other.messages()) == 24
    assert one.stats().spans == other.stats().spans


def test_pins_survive_pruning_clearing_and_reopening(open_memory: OpenMemory) -> None:
    talk = opened(open_memory())
    ids = chatted(talk)
    talk.prune()
    assert ids[4] not in shown_ids(talk.build())
    talk.pin(ids[4])
    talk.clear()
    talk.add("assistant", "and on")
    again = open_memory().conversation("talk", tokenizer=Quarter())
    for each in (talk, again):
        assert shown_ids(each.build())[:2] == ids[4:6], "a question and its answer stay together"
    again.pin(ids[4], pinned=False)
    again.clear()
    assert shown_ids(talk.build()) == []


def test_what_was_pinned_between_two_clearings_is_there_after_reopening(open_memory: OpenMemory) -> None:
    talk = opened(open_memory())
    talk.add("user", "first")
    talk.clear()
    pinned = talk.add("assistant", "second")
    talk.pin(str(pinned.id))
    talk.clear()
    again = open_memory().conversation("talk", tokenizer=Quarter())
    assert shown_ids(talk.build()) == shown_ids(again.build()) == [pinned.id]


def test_clearing_leaves_system_prompts_and_a_marker_and_search_finds_the_rest(talk: Conversation) -> None:
    system = talk.add("system", "be brief")
    ids = chatted(talk, 3)
    assert talk.clear() == 6
    assert talk.clear() == 0
    context = talk.build()
    assert shown_ids(context) == [system.id]
    assert marker_counts(context) == [6]
    assert {each.id for each in talk.search("what does the parser read?")} <= set(ids)
    assert talk.search("what does the parser read?", limit=1)
    assert len(talk.messages()) == 7


def test_the_numbers_of_the_window_add_up(talk: Conversation) -> None:
    talk.add("system", "be brief")
    chatted(talk)
    talk.add(result("nobody"))
    context, stats = talk.build(), talk.stats()
    assert (stats.messages, stats.left_out) == (26, 1)
    assert stats.in_context + stats.removed == 25
    assert stats.removed == sum(span.messages for span in stats.spans) == sum(marker_counts(context))
    assert stats.tokens == context.tokens <= stats.rules.max_tokens == 800
    assert stats.tokens == sum(stats.tokens_by_role.values()) + stats.marker_tokens + 8
    assert stats.percent == context.percent == 100 * stats.tokens / 1_000
    assert stats.total_tokens > stats.tokens
    assert stats.last_removal is not None
    assert stats.oldest == talk.messages()[0].at


def test_each_message_says_why_it_is_in_or_out(talk: Conversation) -> None:
    ids = chatted(talk)
    talk.pin(ids[0])
    talk.unimportant(ids[2])
    talk.build()
    lines = {line.id: line for line in talk.explain().lines}
    assert (lines[ids[0]].pinned, lines[ids[0]].in_context) == (True, True)
    assert lines[ids[1]].protected
    assert dict(lines[ids[2]].importance.modifiers) == {"marked unimportant": 0.0}
    assert dict(lines[ids[-1]].importance.modifiers)["recent"] == 0.4
    out = [line for line in lines.values() if not line.in_context]
    assert {"% full" in line.why for line in out} == {True}
    assert all(not line.why for line in lines.values() if line.in_context)


def test_what_left_comes_back_as_a_quotation_before_the_question(memory: Memory) -> None:
    talk = opened(memory, strategy="rolling_window")
    kept = talk.add("user", "The staging password rotates every Tuesday at noon in Lisbon.")
    chatted(talk)
    talk.build()
    assert str(kept.id) not in shown_ids(talk.build())
    assert talk.search("when does the staging password rotate?")[0].id == kept.id
    context = talk.build({"role": "user", "content": "When does the staging password rotate?"}, recall=True)
    assert kept.id in [each.id for each in context.recalled]
    (quotation,) = [message for message in context.messages if "From earlier" in message.text]
    assert "Lisbon" in quotation.text
    assert context.messages[-2] == quotation, "directly before what is asked now"
    assert context.tokens <= context.max_tokens
    assert quotation.id is None
    assert len(talk.messages()) == 25


def test_events_tell_once_that_the_window_fills_and_what_left(memory: Memory) -> None:
    heard = list[ConversationEvent]()
    talk = opened(memory, on_event=heard.append)
    for number in range(30):
        talk.add("user", f"{number} {LONG}")
        full = talk.stats().percent >= 80
        assert [each.kind for each in heard] == ["warning"] * full
        if full and number % 2:
            break
    talk.add("user", LONG)
    talk.build()
    assert [each.kind for each in heard] == ["warning", "removed"]
    assert heard[0].percent >= 80 > heard[1].percent
    chatted(talk, 6)
    assert [each.kind for each in heard] == ["warning", "removed", "warning"]


def test_a_tokenizer_failure_is_reported_and_replaced_by_an_estimate(memory: Memory) -> None:
    class Failing(Quarter):
        def count(self, text: str) -> int:
            raise RuntimeError("out of vocabulary")

    heard = list[ConversationEvent]()
    talk = opened(memory, tokenizer=Failing(), on_event=heard.append)
    chatted(talk)
    context = talk.build()
    assert context.tokens <= context.max_tokens
    assert {each.kind for each in heard} >= {"tokenizer_failed", "removed"}
    assert talk.stats().counts_estimated > 0


def test_another_model_brings_its_window_and_reopening_by_name_keeps_the_rules(open_memory: OpenMemory) -> None:
    first = open_memory().conversation("talk", model="gpt-4o", keep_recent=3, strategy="importance")
    first.add("user", "hello")
    again = open_memory().conversation("talk")
    assert again.rules == first.rules
    moved = open_memory().conversation("talk", model="claude-sonnet-4-5")
    moved.add("assistant", "hello")
    assert (moved.rules.keep_recent, moved.rules.strategy) == (3, "importance")
    assert moved.rules.limit != first.rules.limit
    assert open_memory().conversation("talk").rules == moved.rules
    assert [message.text for message in moved.build().messages] == ["hello", "hello"]


def test_other_projects_and_tenants_do_not_see_it_and_personal_turns_stay_personal(open_memory: OpenMemory) -> None:
    mine = open_memory(principal="ann")
    talk = opened(mine)
    talk.add("user", "hello")
    own = mine.turn(session="talk", role="user", text="only mine", visibility="personal")
    assert [message.text for message in talk.build().messages] == ["hello", "only mine"]
    for scope in ({"project": "another"}, {"tenant": "another"}):
        other = opened(open_memory(**scope))
        assert other.build().messages == ()
        assert other.search("hello") == ()
    colleague = opened(open_memory(principal="bob"))
    colleague.add("assistant", "hi, ann")
    assert [message.text for message in colleague.build().messages] == ["hello", "hi, ann"]
    colleague.clear()
    assert mine.get(own.id) == own
    assert own.visibility.value == "personal"
