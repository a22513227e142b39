"""What holds for a conversation whatever is said in it, under whatever rules, in whatever order things are done."""

from collections.abc import Iterator
from itertools import count, groupby
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

import treering
from tests.examples import examples
from tests.lengths import at_length
from tests.property.conversation_histories import (
    ODD,
    ORDINARY,
    QUARTER,
    Exchange,
    Quarter,
    Speaker,
    accepted_by_every_provider,
    assert_rounds_are_whole,
    assert_sound,
    histories,
    history_of,
    long_history,
    marker_counts,
    result_of,
    shown_ids,
    taken,
    unmatched,
)
from tests.provider_rules import check
from treering.conversation.api import Conversation
from treering.conversation.exchanges import ORPHAN
from treering.conversation.formats import read_all, write
from treering.conversation.strategies import STRATEGIES
from treering.conversation.window_context import ConversationContext
from treering.core.errors import ContextTooLarge, InvalidInput
from treering.core.messages import Message, MessageFormat, Role
from treering.memory import Memory

ROOMY = 10_000_000
# What explains a failure takes longer here than all the rest.
PHASES = tuple(phase for phase in Phase if phase is not Phase.explain)
PROVIDERS = (MessageFormat.CHAT, MessageFormat.RESPONSES, MessageFormat.ANTHROPIC)
LIMITS = st.one_of(st.integers(1, 400), st.integers(400, 6_000), st.just(100_000))
RULES = st.fixed_dictionaries(
    {
        "strategy": st.sampled_from(sorted(STRATEGIES)),
        "limit": LIMITS,
        "keep_recent": st.integers(0, 20),
        "max_messages": st.sampled_from([None, None, 1, 3, 12]),
        "oversize": st.sampled_from(["error", "truncate"]),
        "at_task_boundary": st.booleans(),
    }
)
names = map("conversation {}".format, count())


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with TemporaryDirectory() as folder, treering.open(f"{folder}/memory.db", project="p") as opened:
        yield opened


def opened_with(memory: Memory, said: list[Message], **rules: Any) -> Conversation:
    """A new conversation in which this was said; ids are a project's own, so each has its name before them."""
    talk = memory.conversation(next(names), **{"tokenizer": Quarter(), **rules})
    said[:] = [message.replace(id=f"{talk.id} {message.id}") for message in said]
    talk.extend(said)
    return talk


def built(talk: Conversation, *current: Message) -> ConversationContext | None:
    """None where what must stay is too large, which the rules may say."""
    try:
        return talk.build(*current)
    except ContextTooLarge:
        return None


@given(said=histories(), rules=RULES)
@examples(30, phases=PHASES)
def test_every_request_is_sound_and_nothing_said_is_lost(
    memory: Memory, said: list[Message], rules: dict[str, Any]
) -> None:
    talk = opened_with(memory, said, **rules)
    if (context := built(talk)) is not None:
        assert_sound(context, said, QUARTER, keep_recent=max(1, rules["keep_recent"]))
        accepted_by_every_provider(context)
    assert [message.id for message in talk.messages()] == [message.id for message in said]
    stats = talk.stats()
    assert stats.messages == len(said)
    assert stats.messages == stats.in_context + stats.removed + stats.left_out


@given(said=histories(ORDINARY, most=40), rules=RULES)
@examples(30, phases=PHASES)
def test_a_question_leaves_with_its_answer_and_the_calls_between(
    memory: Memory, said: list[Message], rules: dict[str, Any]
) -> None:
    talk = opened_with(memory, said, **rules)
    if (context := built(talk)) is not None:
        stays = {line.id for line in talk.explain().lines if line.protected}
        assert_rounds_are_whole(context, said, stays)


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
@pytest.mark.parametrize(("keep_recent", "calls", "limit"), [(10, 1, 900), (3, 2, 900), (0, 3, 1_500), (7, 2, 1_800)])
def test_no_answer_is_stranded(memory: Memory, strategy: str, keep_recent: int, calls: int, limit: int) -> None:
    """Nor where the last messages that never leave begin in the middle of a round: there is room for all of it."""
    speaker = Speaker()
    for number in range(12):
        speaker.say(Role.USER, f"What does part {number} of the shop do when the invoice fails?")
        for _ in range(calls):
            call = speaker.call()
            speaker.say(Role.ASSISTANT, "", call)
            speaker.say(Role.TOOL, "", result_of(call.id, f"part {number}: ok"))
        speaker.say(Role.ASSISTANT, f"Part {number} writes the invoice to disk and tells the cart.")
    talk = opened_with(memory, speaker.said, limit=limit, keep_recent=keep_recent, strategy=strategy)
    context = talk.build()
    assert context.markers
    assert_rounds_are_whole(context, speaker.said, set())


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_many_gaps_take_a_bounded_share_of_the_window(memory: Memory, strategy: str) -> None:
    said = list[Message]()
    for number in range(40):
        rule = f"Never deploy part_{number}.py on Fridays, always ask first." if number % 2 else "Thanks!"
        said += [Message.of("user", rule, id=f"q{number}"), Message.of("assistant", "Noted, fine.", id=f"a{number}")]
    talk = opened_with(memory, said, limit=800, keep_recent=2, strategy=strategy)
    for message in said[2:20:4]:
        talk.pin(str(message.id))
    context = talk.build()
    assert_sound(context, said, QUARTER, keep_recent=2)
    assert talk.stats().marker_tokens <= 0.15 * context.max_tokens
    assert talk.stats().removed == sum(marker_counts(context)) > 0


@given(said=histories(), rules=RULES)
@examples(30, phases=PHASES)
def test_an_error_is_raised_only_where_what_must_stay_is_too_large(
    memory: Memory, said: list[Message], rules: dict[str, Any]
) -> None:
    talk = opened_with(memory, said, **rules)
    if built(talk) is not None:
        return
    marker = QUARTER.message(Message.of(Role.USER, "… [9,999,999 messages removed] …"))
    sent = [line for line in talk.explain().lines if line.why != ORPHAN]
    stays = sum(line.tokens for line in sent if line.protected)
    between = sum(1 for protected, _ in groupby(sent, key=lambda line: line.protected) if not protected)
    assert stays + between * marker + QUARTER.priming > talk.rules.max_tokens, "more could have left"


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_messages_smaller_than_a_marker_leave_too(memory: Memory, strategy: str) -> None:
    said = [Message.of("user", "yes", id=str(number)) for number in range(300)]
    talk = opened_with(memory, said, limit=400, keep_recent=2, strategy=strategy)
    assert_sound(talk.build(), said, QUARTER, keep_recent=2)


@given(said=histories(ORDINARY), strategy=st.sampled_from(sorted(STRATEGIES)))
@examples(30, phases=PHASES)
def test_a_history_that_fits_is_sent_as_it_is(memory: Memory, said: list[Message], strategy: str) -> None:
    talk = opened_with(memory, said, limit=ROOMY, strategy=strategy)
    sent = talk.build()
    assert [message.replace(at=None) for message in sent.messages] == said
    assert talk.prune() == 0
    assert not sent.markers
    assert not sent.left_out


@given(said=histories(), rules=RULES)
@examples(30, phases=PHASES)
def test_pruning_twice_is_pruning_once(memory: Memory, said: list[Message], rules: dict[str, Any]) -> None:
    talk = opened_with(memory, said, **rules)
    talk.prune()
    before = talk.stats()
    assert talk.prune() == 0
    assert talk.stats().spans == before.spans
    first = built(talk)
    assert built(talk) == first
    again = memory.conversation(talk.id, tokenizer=Quarter())
    assert built(again) == first


@given(said=histories(), rules=RULES, data=st.data())
@examples(30, phases=PHASES)
def test_what_is_pinned_stays_and_what_had_left_comes_back(
    memory: Memory, said: list[Message], rules: dict[str, Any], data: st.DataObject
) -> None:
    talk = opened_with(memory, said, **rules)
    pinned = set[str]()
    for message in data.draw(st.lists(st.sampled_from(said), max_size=3, unique=True)) if said else ():
        talk.prune()
        talk.pin(str(message.id))
        pinned.add(str(message.id))
    talk.prune()
    if (context := built(talk)) is not None:
        assert_sound(context, said, QUARTER, keep_recent=max(1, rules["keep_recent"]), pinned=pinned)
        assert not pinned & set(context.truncated)


@given(said=histories((*ORDINARY, Speaker.calls_apart, Speaker.unanswered), most=12), rules=RULES, data=st.data())
@examples(30, phases=PHASES)
def test_what_came_from_a_provider_is_taken_by_it_again(
    memory: Memory, said: list[Message], rules: dict[str, Any], data: st.DataObject
) -> None:
    format = data.draw(st.sampled_from(PROVIDERS))
    written = write(said, format)
    native = read_all(written.messages, format)
    talk = opened_with(memory, [each.replace(id=str(at)) for at, each in enumerate(native)], **rules)
    context = built(talk)
    if context is None:
        return
    accepted_by_every_provider(context)
    if not context.markers and not context.truncated and not context.left_out:
        assert context.to(format).messages == written.messages


@given(said=histories(most=12), current=st.sampled_from(["Where is total_of?", "x" * 3_000, ""]), rules=RULES)
@examples(30, phases=PHASES)
def test_what_is_asked_now_and_what_is_recalled_fit_in_too(
    memory: Memory, said: list[Message], current: str, rules: dict[str, Any]
) -> None:
    talk = opened_with(memory, said, **rules)
    talk.prune()
    asked = Message.of(Role.USER, current)
    try:
        context = talk.build(asked, recall=True)
    except ContextTooLarge:
        return
    assert context.messages[-1] == asked or "current" in context.truncated
    quotations = [at for at, each in enumerate(context.messages) if each.id is None and "<recalled>" in each.text]
    assert quotations == ([len(context.messages) - 2] if context.recalled else [])
    assert context.tokens <= context.max_tokens
    assert taken(context) <= context.tokens
    gone = {line.id for line in talk.explain().lines if not line.in_context}
    assert {each.id for each in context.recalled} <= gone
    assert {message.id for message in talk.messages()} == {message.id for message in said}
    accepted_by_every_provider(context)


@given(said=histories(most=10), limit=st.integers(400, 3_000), factor=st.floats(1.0, 3.0))
@examples(30, phases=PHASES)
def test_what_the_provider_counts_stays_under_the_limit(
    memory: Memory, said: list[Message], limit: int, factor: float
) -> None:
    """A provider that counts more than we do: once it said so, its own count fits too."""
    talk = opened_with(memory, said, limit=limit, keep_recent=2, oversize="truncate")
    if (first := built(talk)) is None:
        return
    theirs = int(taken(first) * factor)
    scale = talk.reported(theirs)
    assert scale in (1.0, theirs / taken(first))
    if (second := built(talk)) is not None:
        assert taken(second) * scale <= second.max_tokens + 1e-6
        assert second.tokens <= second.max_tokens


def test_a_message_that_answers_a_known_and_an_unknown_call_is_taken_by_its_provider(memory: Memory) -> None:
    talk = opened_with(memory, [Message.of("user", "read it", id="0")], limit=ROOMY)
    talk.add({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {}}]})
    results = [{"type": "tool_result", "tool_use_id": id, "content": id} for id in ("a", "nobody")]
    talk.add({"role": "user", "content": results})
    context = talk.build()
    check(context.to("anthropic"), MessageFormat.ANTHROPIC)
    assert not unmatched(context.messages)


@pytest.mark.parametrize("exchange", ODD)
@pytest.mark.parametrize("seed", range(2))
def test_each_odd_exchange_alone_is_sent_once_and_whole(memory: Memory, exchange: Exchange, seed: int) -> None:
    """A random history would hide one behind another."""
    said = history_of([(Speaker.exchange, 0), (exchange, seed), (exchange, seed + 1), (Speaker.late, 0)])
    context = opened_with(memory, said, limit=ROOMY).build()
    assert_sound(context, said, QUARTER, keep_recent=len(said))
    assert len(set(shown_ids(context))) == len(shown_ids(context))
    accepted_by_every_provider(context)


def test_a_message_that_is_not_sent_keeps_no_two_markers_apart(memory: Memory) -> None:
    said = history_of([(Speaker.error, 0), (Speaker.unanswered, 0), (Speaker.huge, 0), (Speaker.question, 0)])
    talk = opened_with(memory, said, limit=ROOMY, keep_recent=1, max_messages=2)
    talk.pin(str(said[2].id))
    context = talk.build()
    assert said[2].id in context.left_out
    assert marker_counts(context) == [4]


def test_a_result_for_two_calls_of_which_one_left_takes_nothing_that_stays_with_it(memory: Memory) -> None:
    plan = [(Speaker.put_off, 0), *[(Speaker.exchange, 0)] * 9, (Speaker.question, 0), (Speaker.put_off, 0)]
    said = history_of([*plan, (Speaker.late, 0)])
    *before, result = said
    talk = opened_with(memory, before, limit=400, keep_recent=2, strategy="rolling_window")
    talk.pin(str(before[-1].id))
    talk.build()
    late = result.replace(id=f"{talk.id} late")
    talk.add(late)
    assert_sound(talk.build(), [*before, late], QUARTER, keep_recent=2, pinned={str(before[-1].id)})


@pytest.mark.parametrize(("limit", "ours", "theirs"), [(1_200, 1_117, 1_200), (1_274, 1_130, 1_274)])
def test_a_correction_never_rounds_a_request_over_its_limit(memory: Memory, limit: int, ours: int, theirs: int) -> None:
    class Said(Quarter):
        def count(self, text: str) -> int:
            return int(text)

    talk = memory.conversation(next(names), limit=limit, max_tokens=limit, tokenizer=Said())
    talk.add("user", str(ours - QUARTER.priming - QUARTER.rules.message))
    assert talk.build().tokens == ours
    talk.reported(theirs)
    assert talk.build().tokens == theirs


def test_a_report_that_cannot_be_true_is_refused(memory: Memory) -> None:
    """Some providers report only what was not in their cache."""
    talk = opened_with(memory, long_history(3, 20, ORDINARY), limit=ROOMY, tokenizer="estimate:other")
    tokens = talk.build().tokens
    for wrong in (-1, 0, 1, tokens // 20, tokens * 20):
        with pytest.raises(InvalidInput):
            talk.reported(wrong)
    assert talk.build().tokens == tokens


def test_an_estimate_that_stood_in_is_not_taken_for_the_count_of_the_tokenizer_later(memory: Memory) -> None:
    class Failing(Quarter):
        def count(self, text: str) -> int:
            raise RuntimeError("not today")

    said = [Message.of("user", "what does the parser read? " * 20, id="0")]
    broken = opened_with(memory, said, limit=ROOMY, tokenizer=Failing())
    mended = memory.conversation(broken.id, tokenizer=Quarter())
    assert mended.stats().tokens == QUARTER.priming + QUARTER.message(said[0])


@pytest.mark.parametrize("seed", range(4))
def test_the_vocabulary_of_a_model_counts_as_the_stand_in_does(memory: Memory, seed: int) -> None:
    said = long_history(seed, 120)
    options = {"model": "gpt-4o", "tokenizer": None, "oversize": "truncate"}
    talk = opened_with(memory, said, limit=2_000, keep_recent=3, **options)
    context = talk.build()
    assert talk.rules.tokenizer == "o200k_base"
    assert_sound(context, said, talk._meter, keep_recent=3)
    accepted_by_every_provider(context)


@pytest.mark.parametrize(("seed", "strategy"), list(enumerate(sorted(STRATEGIES))))
def test_a_long_history_is_sound_while_the_window_gets_smaller(memory: Memory, seed: int, strategy: str) -> None:
    length = at_length(1_000, full=3_000)
    said = long_history(seed, length)
    talk = opened_with(memory, said, limit=20 * length, strategy=strategy, oversize="truncate")
    for tokens in (20 * length, 4 * length, length):
        talk.rules = talk._stored.rules = talk.rules.replace(limit=tokens, max_tokens=tokens * 4 // 5)
        talk._stored._state = None
        context = talk.build()
        assert_sound(context, said, QUARTER, keep_recent=10)
        accepted_by_every_provider(context)
        assert sum(marker_counts(context)) == talk.stats().removed > 0
    assert talk.prune() == talk.prune() == 0


class Talking(RuleBasedStateMachine):
    """Two hands on one conversation, beside a plain list of what was said."""

    memory: Memory

    @initialize(rules=RULES)
    def begin(self, rules: dict[str, Any]) -> None:
        self.options = rules
        self.id = next(names)
        self.hands = [self.memory.conversation(self.id, tokenizer=Quarter(), **rules) for _ in range(2)]
        self.said: list[Message] = []
        self.pinned: set[str] = set()
        self.batches = 0

    @property
    def present(self) -> bool:
        return bool(self.said)

    @rule(hand=st.integers(0, 1), said=histories(most=4, prefix=""), one_by_one=st.booleans())
    def extend(self, hand: int, said: list[Message], one_by_one: bool) -> None:
        self.batches += 1
        named = [message.replace(id=f"{self.id} {self.batches} {message.id}") for message in said]
        if one_by_one:
            for message in named:
                self.hands[hand].add(message)
        else:
            self.hands[hand].extend(named)
        self.said += named

    @precondition(lambda self: self.present)
    @rule(hand=st.integers(0, 1), data=st.data())
    def deliver_again(self, hand: int, data: st.DataObject) -> None:
        self.hands[hand].add(data.draw(st.sampled_from(self.said)))

    @rule(hand=st.integers(0, 1))
    def prune(self, hand: int) -> None:
        self.hands[hand].prune()
        assert self.hands[hand].prune() == 0

    @rule(hand=st.integers(0, 1))
    def clear(self, hand: int) -> None:
        self.hands[hand].clear()
        assert self.hands[hand].clear() == 0

    @precondition(lambda self: self.present)
    @rule(hand=st.integers(0, 1), data=st.data(), pinned=st.booleans())
    def pin(self, hand: int, data: st.DataObject, pinned: bool) -> None:
        id = str(data.draw(st.sampled_from(self.said)).id)
        self.hands[hand].pin(id, pinned=pinned)
        self.pinned = self.pinned | {id} if pinned else self.pinned - {id}

    @precondition(lambda self: self.present)
    @rule(hand=st.integers(0, 1), data=st.data(), marked=st.booleans())
    def mark(self, hand: int, data: st.DataObject, marked: bool) -> None:
        self.hands[hand].unimportant(str(data.draw(st.sampled_from(self.said)).id), marked=marked)

    @rule(hand=st.integers(0, 1))
    def reopen(self, hand: int) -> None:
        before = built(self.hands[hand])
        self.hands[hand] = self.memory.conversation(self.id, tokenizer=Quarter(), **self.options)
        assert built(self.hands[hand]) == before

    @rule(hand=st.integers(0, 1), factor=st.sampled_from([None, None, 1.0, 1.2]))
    def build(self, hand: int, factor: float | None) -> None:
        context = built(self.hands[hand])
        assert [message.id for message in self.hands[hand].messages()] == [message.id for message in self.said]
        if context is None:
            return
        assert_sound(context, self.said, QUARTER, keep_recent=0, pinned=self.pinned)
        accepted_by_every_provider(context)
        other = built(self.hands[1 - hand])
        assert other is not None
        assert shown_ids(other) == shown_ids(context)
        if factor is not None:
            self.hands[hand].reported(int(taken(context) * factor))


def test_whatever_is_done_in_whatever_order_the_window_is_sound(memory: Memory) -> None:
    Talking.memory = memory
    run_state_machine_as_test(Talking, settings=examples(12, stateful_step_count=15, phases=PHASES))
