"""Answers that a language model writes: streamed, cited, checked, and honest when there is none."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.integration.model_server import (
    KEY,
    ModelServer,
    Reply,
    another_address,
    chat,
    chat_stream,
    message,
    message_stream,
    model_server,
)
from tests.rest_server import P, rest_client
from treering.core.answers import AnswerEnd, AnswerSentence, AnswerStatus
from treering.core.runs import token_run
from treering.core.settings import Settings
from treering.memory import Memory
from treering.prompts.token_budget import tokens_used

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
FACT = "Access tokens expire after 24 hours."
QUESTION = "When do access tokens expire?"
STREAMS: dict[str, tuple[str, Callable[..., Reply]]] = {
    "openai": (CHAT, chat_stream),
    "anthropic": (MESSAGES, message_stream),
}


def settings(server: ModelServer, provider: str = "openai", **learn: Any) -> Settings:
    return Settings.make(writer={"url": f"{server.url}/v1", "model": "w", "provider": provider}, learn=learn)


def written(memory: Memory, question: str = QUESTION) -> tuple[list[AnswerSentence], AnswerEnd]:
    parts = list(memory.context.write_answer(memory.context.answer(question, thorough=False)))
    *sentences, end = parts
    assert isinstance(end, AnswerEnd)
    assert all(isinstance(each, AnswerSentence) for each in sentences)
    return sentences, end  # type: ignore[return-value]


def spent(memory: Memory) -> int:
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        return tokens_used(tx)


def calls(memory: Memory) -> int:
    with memory.store.reading(memory.scope, now := memory._parts.clock()) as tx:
        run = tx.runs.get(token_run(now))
    assert run is not None
    count: int = run.counts["calls"]
    return count


@pytest.mark.parametrize("provider", STREAMS)
def test_sentences_are_streamed_with_their_citations_and_tokens_are_counted(
    provider: str, server: ModelServer, open_memory: OpenMemory
) -> None:
    path, stream = STREAMS[provider]
    server.answer(path, stream("They expire after ", "24 hours [", "1]. That is ", "a day.", tokens=(90, 12)))
    memory = open_memory(settings=settings(server, provider))
    memory.remember(FACT)
    sentences, end = written(memory)
    assert sentences == [AnswerSentence("They expire after 24 hours.", (1,))]
    assert (end.status, end.left_out) == (AnswerStatus.WRITTEN, ("That is a day.",))
    assert spent(memory) == 102
    (asked,) = server.bodies()
    assert asked["stream"] is True
    assert FACT in asked["messages"][0]["content"]
    written(memory)
    assert (spent(memory), calls(memory)) == (204, 2)


@pytest.mark.parametrize("provider", STREAMS)
def test_a_server_that_does_not_stream_gives_the_same_answer(
    provider: str, server: ModelServer, open_memory: OpenMemory
) -> None:
    whole = "They expire after 24 hours [1]."
    server.answer(CHAT, chat(whole))
    answered = {**message(whole, ended="end_turn").body, "type": "message"}
    server.answer(MESSAGES, Reply(answered))
    memory = open_memory(settings=settings(server, provider))
    memory.remember(FACT)
    assert written(memory)[0] == [AnswerSentence("They expire after 24 hours.", (1,))]


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("NOT_FOUND", AnswerStatus.NOT_FOUND),
        ("<think>Hm [1].</think>\nNOT_FOUND.", AnswerStatus.NOT_FOUND),
        ("They expire after 24 hours.", AnswerStatus.UNSUPPORTED),
        ("They expire after 24 hours [9].", AnswerStatus.UNSUPPORTED),
        ("They expire after 12 hours [1].", AnswerStatus.UNSUPPORTED),
        ("<think>They expire [1].\nStill thinking", AnswerStatus.UNSUPPORTED),
    ],
)
def test_nothing_is_shown_that_no_passage_states(
    answer: str, status: AnswerStatus, server: ModelServer, open_memory: OpenMemory
) -> None:
    server.answer(CHAT, chat_stream(*answer))
    memory = open_memory(settings=settings(server))
    memory.remember(FACT)
    sentences, end = written(memory)
    assert (sentences, end.status) == ([], status)


def test_a_question_that_nothing_stored_answers_is_not_sent(server: ModelServer, open_memory: OpenMemory) -> None:
    memory = open_memory(settings=settings(server))
    memory.remember(FACT)
    question = "Who painted the ceiling of the chapel?"
    sentences, end = written(memory, question)
    assert (sentences, end.status) == ([], AnswerStatus.NOT_FOUND)
    assert server.asked == []


@pytest.mark.parametrize(
    "reply",
    [
        Reply({"error": "down"}, 400),
        Reply(b"data: {broken\n\n", headers={"Content-Type": "text/event-stream"}),
        Reply(b'data: {"error": {"message": "overloaded"}}\n\n', headers={"Content-Type": "text/event-stream"}),
        Reply(b"data: [DONE]\n\n", headers={"Content-Type": "text/event-stream"}),
        Reply(b'data: ["odd"]\n\n', headers={"Content-Type": "text/event-stream"}),
        chat(None, refusal="I cannot help with that."),
    ],
)
def test_a_model_that_fails_ends_the_answer_with_the_reason(
    reply: Reply, server: ModelServer, open_memory: OpenMemory
) -> None:
    server.answer(CHAT, reply)
    memory = open_memory(settings=settings(server))
    memory.remember(FACT)
    sentences, end = written(memory)
    assert (sentences, end.status) == ([], AnswerStatus.UNAVAILABLE)
    assert "the writing server" in end.reason


def test_without_a_model_the_answer_says_so(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.remember(FACT)
    assert written(memory) == ([], AnswerEnd(AnswerStatus.UNAVAILABLE, "no language model is configured"))


def test_the_token_budget_of_the_day_holds_for_answers(server: ModelServer, open_memory: OpenMemory) -> None:
    server.answer(CHAT, chat_stream("They expire after 24 hours [1].", tokens=(90, 20)))
    memory = open_memory(settings=settings(server, max_tokens_per_day=100))
    memory.remember(FACT)
    assert written(memory)[1].status is AnswerStatus.WRITTEN
    sentences, end = written(memory)
    assert (sentences, end.status) == ([], AnswerStatus.UNAVAILABLE)
    assert "learn.max_tokens_per_day" in end.reason


def test_a_reader_that_stops_ends_the_request_and_pays_for_what_was_written(
    server: ModelServer, open_memory: OpenMemory
) -> None:
    server.answer(CHAT, chat_stream("They expire after 24 hours [1].\n", *["And on. "] * 200, drip_seconds=0.001))
    memory = open_memory(settings=settings(server))
    memory.remember(FACT)
    parts = memory.context.write_answer(memory.context.answer(QUESTION, thorough=False))
    assert next(parts) == AnswerSentence("They expire after 24 hours.", (1,))
    parts.close()  # type: ignore[attr-defined]
    assert spent(memory) > 0
    memory.close()
    assert server.soon_without_connections()


def test_a_parameter_that_the_server_rejects_is_left_out(server: ModelServer, open_memory: OpenMemory) -> None:
    rejected = Reply({"error": {"message": "unknown field: stream_options"}}, 400)
    server.answer(CHAT, rejected, chat_stream("They expire after 24 hours [1]."))
    memory = open_memory(settings=settings(server))
    memory.remember(FACT)
    assert written(memory)[1].status is AnswerStatus.WRITTEN
    assert ["stream_options" in body for body in server.bodies()] == [True, False]


def test_private_passages_are_not_sent_to_another_machine(open_memory: OpenMemory) -> None:
    with model_server(another_address()) as server:
        server.answer(CHAT, chat_stream("They expire after 24 hours [1]. [2]"))
        memory = open_memory(settings=settings(server))
        memory.remember(FACT)
        memory.remember("Access tokens of Ada expire in June.", visibility="personal")
        quoted = memory.context.answer(QUESTION, thorough=False)
        *_, end = memory.context.write_answer(quoted)
        assert end.withheld == 1
        assert "Ada" not in json.dumps(server.bodies())


def events(body: str) -> list[tuple[str, Any]]:
    found = []
    for event in body.strip().split("\n\n"):
        name, data = event.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_the_api_streams_quotations_sentences_and_the_end(
    server: ModelServer, open_memory: OpenMemory, tmp_path: Any
) -> None:
    server.answer(CHAT, chat_stream("They expire after 24 hours [1].\nNot so."))
    configured = settings(server)
    with rest_client(lambda **options: open_memory(settings=configured, **options), tmp_path) as client:
        client.post(f"{P}/records", json={"text": FACT})
        answer = client.post(f"{P}/ask/stream", json={"question": QUESTION})
        empty = client.post(f"{P}/ask/stream", json={"question": "  "})
    assert answer.headers["content-type"].startswith("text/event-stream")
    (first, quoted), (second, sentence), (third, end) = events(answer.text)
    assert (first, second, third) == ("quotations", "sentence", "end")
    assert quoted["citations"][0]["text"] == FACT
    assert sentence == {"text": "They expire after 24 hours.", "numbers": [1]}
    assert (end["status"], end["left_out"], end["model"]) == ("written", ["Not so."], "openai/w")
    assert KEY not in answer.text
    assert empty.status_code == 422
