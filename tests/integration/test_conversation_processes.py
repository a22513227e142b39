"""Conversations and processes: killed at any moment, several at once, failing halfway, with a remote language model."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest

import treering
from tests.integration.crew import Crew
from tests.integration.fork_server import tell
from tests.integration.model_server import ModelServer, Reply
from tests.lengths import at_length
from tests.property.conversation_histories import (
    QUARTER,
    Quarter,
    accepted_by_every_provider,
    assert_sound,
    shown_ids,
)
from treering.conversation import markers, pruning
from treering.conversation.api import Conversation
from treering.core.errors import StoreUnavailable
from treering.core.messages import CallPart, Message, ResultPart, Role, TextPart
from treering.core.settings import Settings
from treering.memory import Memory

HEARD = 3
"""Messages that a process acknowledges at least before it is killed."""
KILLS = {"sqlite": at_length(3, full=12), "postgresql": at_length(2, full=8)}
ADDED = at_length(25, full=60)
LONG = "the parser reads src/shop/cart.py and keeps what it saw there. " * 4
CHAT = "/v1/chat/completions"


def open_place(place: str, tenant: str, blobs: str, settings: Settings | None = None) -> Memory:
    return treering.open(place, project="p", tenant=tenant, blobs=blobs, settings=settings)


def opened(memory: Memory, **rules: Any) -> Conversation:
    return memory.conversation("talk", **{"limit": 1_000, "tokenizer": Quarter(), "keep_recent": 4, **rules})


def said(name: str) -> list[Message]:
    """A question, a call, its result and an answer."""
    call = CallPart.make(id=f"{name}-call", name="read", arguments={"path": f"{name}.py"})
    result = ResultPart.make(call_id=call.id, parts=(TextPart.make(text=LONG),))
    return [
        Message.of(Role.USER, f"{name}: {LONG}", id=f"{name}-0"),
        Message.make(role=Role.ASSISTANT, id=f"{name}-1", parts=(call,)),
        Message.make(role=Role.TOOL, id=f"{name}-2", parts=(result,)),
        Message.of(Role.ASSISTANT, f"{name} is read.", id=f"{name}-3"),
    ]


def test_a_conversation_outlives_processes_that_are_killed_while_they_add_and_prune(
    place: dict[str, Any], engine: str, crew: Crew
) -> None:
    moments = random.Random(11)
    for kill in range(KILLS[engine]):
        news = len(crew.news)
        pid = crew.start(talk_on, name=str(kill), **place)
        crew.hear_of(news, added=HEARD)
        time.sleep(moments.uniform(0.0, 0.12))
        crew.kill(pid)
        with open_place(**place) as memory:
            talk = opened(memory)
            stored = list(talk.messages())
            assert {message.id for message in stored} >= set(crew.told("added"))
            context = talk.build()
            assert_sound(context, stored, QUARTER, keep_recent=4)
            accepted_by_every_provider(context)
            stats = talk.stats()
            assert stats.removed == sum(span.messages for span in stats.spans)


def test_two_processes_lose_nothing_and_agree_on_the_order(place: dict[str, Any], crew: Crew) -> None:
    for pid in [crew.start(add, name=name, **place) for name in ("ann", "bob")]:
        crew.join(pid)
    with open_place(**place) as memory, open_place(**place) as another:
        one, other = opened(memory), opened(another)
        ids = [str(message.id) for message in one.messages()]
        assert ids == [message.id for message in other.messages()]
        for name in ("ann", "bob"):
            assert [id for id in ids if id.startswith(name)] == [f"{name}-{number}" for number in range(ADDED)]
        assert shown_ids(one.build()) == shown_ids(other.build())
        assert_sound(one.build(), list(one.messages()), QUARTER, keep_recent=4)


def _broken_transaction(patch: pytest.MonkeyPatch, talk: Conversation) -> None:
    def refuse(*_: object, **__: object) -> object:
        raise StoreUnavailable("the disk is gone")

    patch.setattr(talk._services.store, "transaction", refuse)


def _broken_decision(patch: pytest.MonkeyPatch, talk: Conversation) -> None:
    def refuse(*_: object, **__: object) -> object:
        raise StoreUnavailable("undecided")

    patch.setattr(pruning, "decide", refuse)


def _broken_summary(patch: pytest.MonkeyPatch, talk: Conversation) -> None:
    def refuse(*_: object) -> object:
        raise StoreUnavailable("speechless")

    patch.setattr(markers, "with_summaries", refuse)


def _broken_commit(patch: pytest.MonkeyPatch, talk: Conversation) -> None:
    whole = talk._services.store.transaction

    @contextmanager
    def stopped(*arguments: Any, **options: Any) -> Iterator[Any]:
        with whole(*arguments, **options) as tx:
            yield tx
            raise StoreUnavailable("in the middle")

    patch.setattr(talk._services.store, "transaction", stopped)


@pytest.mark.parametrize("broken", [_broken_transaction, _broken_decision, _broken_summary, _broken_commit])
@pytest.mark.parametrize("verb", [Conversation.prune, Conversation.build])
def test_what_fails_halfway_leaves_the_window_as_it_was(
    place: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    broken: Callable[[pytest.MonkeyPatch, Conversation], None],
    verb: Callable[[Conversation], object],
) -> None:
    with open_place(**place) as memory:
        talk = opened(memory)
        for number in range(8):
            talk.extend(said(str(number)))
        before, everything = talk.stats().spans, talk.messages()
        with monkeypatch.context() as patch:
            broken(patch, talk)
            with pytest.raises(StoreUnavailable):
                verb(talk)
        assert talk.stats().spans == opened(memory).stats().spans == before == ()
        assert talk.messages() == everything
        talk.extend(said("after"))
        context = talk.build()
        assert_sound(context, list(talk.messages()), QUARTER, keep_recent=4)
        assert context == opened(memory).build()


def test_a_tokenizer_that_fails_now_and_then_stops_nothing(place: dict[str, Any]) -> None:
    class Moody(Quarter):
        moods = random.Random(5)

        def count(self, text: str) -> int:
            if self.moods.random() < 0.3:
                raise MemoryError("not now")
            return super().count(text)

    with open_place(**place) as memory:
        talk = opened(memory, tokenizer=Moody(), oversize="truncate")
        for number in range(12):
            talk.extend(said(str(number)))
            context = talk.build()
            assert context.tokens <= context.max_tokens
        assert len(talk.messages()) == 48
        assert talk.stats().counts_estimated > 0


def _written(text: str) -> Reply:
    return Reply({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]})


def _with_writer(server: ModelServer) -> Settings:
    return Settings.make(writer={"url": f"{server.url}/v1", "model": "w"})


def test_a_language_model_writes_the_summary_in_the_background(place: dict[str, Any], server: ModelServer) -> None:
    server.answer(CHAT, _written("The cart was read, part by part."))
    with open_place(**place, settings=_with_writer(server)) as memory:
        talk = opened(memory, strategy="rolling_window")
        for number in range(8):
            talk.extend(said(str(number)))
        first = talk.build(recall=True)
        assert server.asked == [], "nothing is asked over the network while a request is built"
        assert first.markers[0].summarised
        assert memory.settle().dead == 0
        (span,) = (each for each in talk.stats().spans if each.messages > 3)
        assert (span.summary, span.written_by) == ("The cart was read, part by part.", "openai/w")
        asked = len(server.asked)
        context = talk.build(recall=True)
        assert "The cart was read, part by part." in str(context.to("chat").messages)
        assert_sound(context, list(talk.messages()), QUARTER, keep_recent=4)
        assert len(server.asked) == asked > 0
        assert "… [" in opened(memory).build().messages[0].text


def test_a_summary_longer_than_it_may_be_does_not_overfill_the_window(
    place: dict[str, Any], server: ModelServer
) -> None:
    server.answer(CHAT, _written("and then the cart was read again " * 200))
    with open_place(**place, settings=_with_writer(server)) as memory:
        talk = opened(memory, strategy="rolling_window")
        for number in range(8):
            talk.extend(said(str(number)))
        shown = shown_ids(talk.build())
        memory.settle()
        context = talk.build()
        assert_sound(context, list(talk.messages()), QUARTER, keep_recent=4)
        assert shown_ids(context) == shown, "a better summary costs no message its place"


def test_a_failing_language_model_costs_only_its_summary(place: dict[str, Any], server: ModelServer) -> None:
    server.answer(CHAT, Reply({"error": "no"}, 400))
    with open_place(**place, settings=_with_writer(server)) as memory:
        talk = opened(memory, strategy="rolling_window")
        for number in range(8):
            talk.extend(said(str(number)))
        before = talk.build()
        memory.settle(timeout=10)
        assert server.asked
        assert talk.build() == before
        assert all(span.written_by is None for span in talk.stats().spans)
        assert any(span.summary for span in talk.stats().spans)


def talk_on(name: str, **place: Any) -> None:
    """Add and prune until killed; tell each id once it is stored."""
    talk = opened(open_place(**place))
    for number in count():
        for message in said(f"{name}.{number}"):
            tell(added=talk.add(message).id)
        if number % 2:
            talk.build()
        else:
            talk.prune()


def add(name: str, **place: Any) -> None:
    """Add one by one, and build now and then."""
    with open_place(**place) as memory:
        talk = opened(memory)
        for number in range(ADDED):
            talk.add(Message.of(Role.USER, f"{name} {number}: {LONG}", id=f"{name}-{number}"))
            if number % 7 == 0:
                talk.build()
