"""Recall with models on a server: what they add, and what is left when they fail, change or dawdle."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

import treering
from tests.integration.model_server import ModelServer, Reply, model_server, rerank_results
from tests.samples import NOW
from treering.core.settings import Settings
from treering.memory import Memory
from treering.search.answer import Answer

EMBEDDINGS, CHAT, RERANK = "/v1/embeddings", "/v1/chat/completions", "/v2/rerank"
MODEL = "openai/x"
REFUSED = Reply({"error": "no such model"}, 400)
DOWN = Reply({"error": "down"}, 503)
# Words that the model understands: those of one row mean the same.
_MEANINGS = (("car", "saloon", "automobile"), ("tea", "oolong", "kettle"), ("dog", "terrier", "hound"))

Open = Callable[..., Memory]


def meant(text: str, dimension: int) -> list[float]:
    """Near for texts that mean the same."""
    said = text.lower()
    understood = [float(any(word in said for word in row)) for row in _MEANINGS]
    return [0.1, *understood, *[0.0] * dimension][:dimension]


def embeddings(dimension: int = 8, *, hang: float = 0.0) -> Callable[[Any], Reply]:
    def made(body: Any) -> Reply:
        entries = [{"index": at, "embedding": meant(text, dimension)} for at, text in enumerate(body["input"])]
        return Reply({"data": entries}, hang_seconds=hang)

    return made


def written(text: str, *, hang: float = 0.0) -> Reply:
    return Reply({"choices": [{"message": {"role": "assistant", "content": text}}]}, hang_seconds=hang)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        server.answer(EMBEDDINGS, embeddings())
        yield server


@pytest.fixture
def open_file(tmp_path: Path) -> Iterator[Open]:
    """Opens the same file again and again, each time as another process would."""
    opened: list[Memory] = []

    def open_with(settings: Settings | None = None, **options: Any) -> Memory:
        opened.append(treering.open(tmp_path / "memory.db", project="p", settings=settings, **options))
        return opened[-1]

    yield open_with
    for memory in opened:
        memory.close()


def on(server: ModelServer, *, writer: bool = False, **embedder: Any) -> Settings:
    chosen = {"provider": "openai", "url": f"{server.url}/v1", "model": "x"} | embedder
    return Settings.make(embedder=chosen, writer={"url": f"{server.url}/v1", "model": "w"} if writer else {})


def ids(answer: Answer) -> list[str]:
    return [hit.id for hit in answer]


def asked_at(server: ModelServer, path: str) -> list[Any]:
    return [each.body for each in server.asked if each.path == path]


def texts_sent_after(server: ModelServer, place: int) -> list[str]:
    return [text for each in server.asked[place:] for text in each.body["input"]]


def vectors(memory: Memory, model: str = MODEL) -> int:
    with memory.store.reading(memory.scope, NOW) as tx:
        return tx.index.coverage(model).vectors


def models_of(memory: Memory) -> list[str]:
    with memory.store.reading(memory.scope, NOW) as tx:
        return list(tx.index.models())


def teach(memory: Memory, *more: str) -> None:
    """Three records that share no word with the questions about them, only what is meant."""
    memory.remember("Marta drives an old saloon", id="saloon")
    memory.remember("Paul pours oolong every morning", id="oolong")
    memory.remember("Anna walks her terrier", id="terrier")
    for text in more:
        memory.remember(text, id=text)


# An embedder on a server


def test_settling_embeds_in_batches_and_recall_then_finds_by_meaning(server: ModelServer, open_file: Open) -> None:
    memory = open_file(on(server, batch=2))
    teach(memory)

    settled = memory.settle()
    batches = [len(body["input"]) for body in asked_at(server, EMBEDDINGS)]
    answer = memory.search("automobile")

    assert (settled.waiting, settled.dead) == (0, 0)
    assert batches == [2, 1]
    assert answer[0].id == "saloon"
    assert answer.embedder == MODEL
    assert not {"meaning", "meaning of some"} & set(answer.missing)


def test_a_server_that_goes_away_costs_the_meaning_and_is_then_left_alone(server: ModelServer, open_file: Open) -> None:
    memory = open_file(on(server))
    teach(memory)
    memory.settle()
    assert memory.search("automobile")[0].id == "saloon"
    server.answer(EMBEDDINGS, DOWN)
    before = len(server.asked)

    first, second = memory.search("saloon"), memory.search("terrier")

    assert [first[0].id, second[0].id] == ["saloon", "terrier"]
    assert first.embedder == ""
    for answer in (first, second):
        assert server.url in answer.missing["meaning"]
        assert "; " in answer.missing["meaning"]
    assert len(server.asked) == before + 1


def test_doctor_sees_that_a_server_is_gone_though_its_queries_are_remembered(
    server: ModelServer, open_file: Open
) -> None:
    memory = open_file(on(server))
    memory.remember("the saloon is blue")
    memory.settle()
    memory.search("automobile")
    assert memory.doctor().healthy
    server.answer(EMBEDDINGS, DOWN)
    assert [check.name for check in memory.doctor().checks if not check.fine] == ["meaning"]


def test_forgetting_for_good_drops_the_vectors_of_queries(server: ModelServer, open_file: Open) -> None:
    memory = open_file(on(server))
    kept = memory.remember("the saloon is blue")
    memory.settle()
    memory.search("automobile")
    asked = len(server.asked)
    memory.search("automobile")
    assert len(server.asked) == asked
    memory.forget(kept.id, hard=True)
    memory.search("automobile")
    assert len(server.asked) == asked + 1


def test_a_server_is_asked_again_after_its_rest(server: ModelServer, open_file: Open) -> None:
    memory = open_file(on(server, rest_seconds=0.0))
    teach(memory)
    memory.settle()
    server.answer(EMBEDDINGS, DOWN, embeddings())

    assert memory.search("automobile").missing["meaning"]
    assert memory.search("automobile")[0].id == "saloon"


def test_a_server_that_was_never_there_costs_only_the_meaning(open_file: Open) -> None:
    with model_server() as gone:
        settings = on(gone)
    memory = open_file(settings)
    teach(memory)

    answer = memory.search("saloon")

    assert answer[0].id == "saloon"
    assert gone.url in answer.missing["meaning"]


@pytest.mark.parametrize("url", ["no url", "http://", "ftp://host/v1", "http://[::1", "http://host:port/v1"])
def test_a_malformed_address_costs_only_the_meaning(open_file: Open, url: str) -> None:
    memory = open_file(Settings.make(embedder={"provider": "openai", "model": "x", "url": url}))
    teach(memory)

    answer = memory.search("saloon")

    assert answer[0].id == "saloon"
    assert "address" in answer.missing["meaning"]


@pytest.mark.parametrize("reopened", [False, True])
def test_a_model_that_changes_its_dimension_is_not_mixed_with_what_it_was(
    server: ModelServer, open_file: Open, reopened: bool
) -> None:
    memory = open_file(on(server, rest_seconds=0.0))
    teach(memory)
    memory.settle()
    server.answer(EMBEDDINGS, embeddings(5))
    if reopened:
        memory = open_file(on(server, rest_seconds=0.0))

    answer = memory.search("saloon")
    memory.remember("Otto keeps a hound", id="hound")
    memory.settle(timeout=1)

    assert answer[0].id == "saloon"
    assert "5" in answer.missing["meaning"]
    assert "8" in answer.missing["meaning"]
    assert vectors(memory) == 3
    assert "meaning" in {check.name for check in memory.doctor().checks}
    server.answer(EMBEDDINGS, embeddings())
    assert open_file(on(server)).search("automobile")[0].id == "saloon"


# Staying with a model, and leaving it


@pytest.fixture
def left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody names an embedder."""
    monkeypatch.delenv("TREERING_EMBEDDER")


@pytest.mark.usefixtures("left_open")
def test_a_project_stays_with_the_model_it_has_vectors_of(server: ModelServer, open_file: Open) -> None:
    first = open_file(on(server))
    teach(first)
    first.settle()

    memory = open_file()
    memory.remember("Otto keeps a hound", id="hound")
    answers = [memory.search("saloon")]
    memory.settle(timeout=1)
    answers.append(memory.search("saloon"))

    for answer in answers:
        assert answer[0].id == "saloon"
        assert MODEL in answer.missing["meaning"]
    assert models_of(memory) == [MODEL]
    assert vectors(memory) == 3
    assert first.search("automobile")[0].id == "saloon"


def test_a_model_chosen_on_purpose_takes_over_and_search_works_meanwhile(server: ModelServer, open_file: Open) -> None:
    first = open_file(on(server))
    teach(first)
    first.settle()

    memory = open_file(Settings.make(embedder={"provider": "bundled", "inline": 0, "batch": 1}))
    during = memory.search("saloon")
    settled = memory.settle()
    after = memory.search("dog")

    assert during[0].id == "saloon"
    assert settled.waiting == 0
    assert after.embedder != MODEL
    assert vectors(memory, after.embedder) == 3
    assert after[0].id == "terrier"
    assert "meaning" not in after.missing


# Embedding that is interrupted


def test_embedding_goes_on_where_it_stopped(server: ModelServer, open_file: Open) -> None:
    moment = [NOW]
    memory = open_file(on(server, batch=4, rest_seconds=0.0), clock=lambda: moment[0])
    for place in range(10):
        memory.remember(f"note {place} about tea")
    server.answer(EMBEDDINGS, embeddings(), REFUSED)

    broken = memory.settle(timeout=2)
    kept, tried = vectors(memory), len(server.asked)
    server.answer(EMBEDDINGS, embeddings())
    moment[0] += timedelta(minutes=5)
    mended = memory.settle(timeout=2)

    assert (broken.waiting, kept) == (1, 4)
    first, second = asked_at(server, EMBEDDINGS)[0]["input"], texts_sent_after(server, tried)
    assert len(second) == 6
    assert set(first).isdisjoint(second)
    assert (mended.waiting, vectors(memory)) == (0, 10)


def with_work_left(server: ModelServer, open_file: Open) -> Memory:
    memory = open_file(on(server, batch=2))
    for place in range(40):
        memory.remember(f"note {place} about tea", id=f"n{place}")
    server.answer(EMBEDDINGS, embeddings(hang=0.3))
    return memory


def test_settling_returns_when_its_time_is_up(server: ModelServer, open_file: Open) -> None:
    memory = with_work_left(server, open_file)
    started = monotonic()

    settled = memory.settle(timeout=0.5)

    assert monotonic() - started < 2.5
    assert settled.waiting == 1
    assert 0 < vectors(memory) < 40


def test_what_was_left_when_time_was_up_is_done_by_the_next_who_settles(server: ModelServer, open_file: Open) -> None:
    memory = with_work_left(server, open_file)
    memory.settle(timeout=0.5)
    server.answer(EMBEDDINGS, embeddings())

    settled = memory.settle(timeout=2)

    assert settled.waiting == 0
    assert vectors(memory) == 40


def test_purging_does_not_embed_what_waits(server: ModelServer, open_file: Open) -> None:
    memory = with_work_left(server, open_file)
    memory.settle(timeout=0.5)
    asked, started = len(server.asked), monotonic()

    memory.forget("n39", hard=True)

    assert len(server.asked) == asked
    assert monotonic() - started < 1


# A reranker

KETTLES = ("blue", "green", "black", "white", "yellow", "purple")


def reading(server: ModelServer, **fields: Any) -> Settings:
    return Settings.make(reranker={"provider": "cohere", "url": server.url, "model": "r"} | fields)


def teach_kettles(memory: Memory) -> None:
    for place, colour in enumerate(KETTLES):
        memory.remember(f"the {colour} kettle stands on shelf {place}", id=colour, confidence=0.9 - place / 50)


def preferring(*colours: str) -> Callable[[Any], Reply]:
    """Those first, in this order; the others have nothing to do with the query."""

    def made(body: Any) -> Reply:
        marks = {colour: 1 - place / 10 for place, colour in enumerate(colours)}
        scores = [next((mark for name, mark in marks.items() if name in text), 0.0) for text in body["documents"]]
        return rerank_results(*scores)

    return made


def test_a_reranker_changes_the_order(server: ModelServer, open_file: Open) -> None:
    server.answer(RERANK, preferring("purple", "white", "green"))
    memory = open_file(reading(server))
    teach_kettles(memory)

    answer = memory.search("kettle")

    (asked,) = asked_at(server, RERANK)
    assert asked["query"] == "kettle"
    assert len(asked["documents"]) == len(KETTLES)
    assert ids(answer)[:3] == ["purple", "white", "green"]
    assert "reranker" not in answer.missing


@pytest.mark.parametrize("preferred", [(), ("blue",), ("black", "blue")])
def test_scores_fall_also_from_what_was_read_to_what_was_not(
    server: ModelServer, open_file: Open, preferred: tuple[str, ...]
) -> None:
    server.answer(RERANK, preferring(*preferred))
    memory = open_file(reading(server, candidates=3))
    teach_kettles(memory)

    answer = memory.search("kettle")
    scores = [hit.score for hit in answer]

    assert len(scores) == len(KETTLES)
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1.0
    assert set(preferred) <= set(ids(answer)[:3])


def test_a_failing_reranker_keeps_the_order_and_is_then_left_alone(server: ModelServer, open_file: Open) -> None:
    server.answer(RERANK, DOWN)
    plain = open_file()
    teach_kettles(plain)
    memory = open_file(reading(server))

    answers = [memory.search("kettle") for _ in range(2)]

    assert [ids(answer) for answer in answers] == [ids(plain.search("kettle"))] * 2
    assert all(server.url in answer.missing["reranker"] for answer in answers)
    assert len(asked_at(server, RERANK)) == 1


# A hypothetical answer

QUESTION = "Which pleasure did they mention?"


@pytest.mark.parametrize(
    ("supposed", "found"), [("Perhaps an automobile.", "saloon"), ("A cup of tea.", "oolong"), ("A dog.", "terrier")]
)
def test_a_hypothetical_answer_leads_to_what_the_question_alone_does_not_find(
    server: ModelServer, open_file: Open, supposed: str, found: str
) -> None:
    server.answer(CHAT, written(supposed))
    memory = open_file(on(server, writer=True))
    teach(memory)
    memory.settle()

    answer = memory.search(QUESTION)

    (asked,) = asked_at(server, CHAT)
    assert QUESTION in asked["messages"][0]["content"]
    assert answer[0].id == found
    assert "hypothetical answer" not in answer.missing


def test_without_a_writer_the_answer_says_so(server: ModelServer, open_file: Open) -> None:
    memory = open_file(on(server))
    teach(memory)
    memory.settle()

    assert "no language model" in memory.search(QUESTION).missing["hypothetical answer"]


def test_a_writer_is_not_asked_where_enough_was_found(server: ModelServer, open_file: Open) -> None:
    server.answer(CHAT, written("An automobile."))
    memory = open_file(on(server, writer=True))
    teach(memory, *(f"the terrier sleeps on mat {place}" for place in range(5)))
    memory.settle()

    answer = memory.search("terrier sleeps")

    assert len(answer) >= 5
    assert asked_at(server, CHAT) == []
    assert "hypothetical answer" not in answer.missing


def test_a_slow_writer_is_not_waited_for(server: ModelServer, open_file: Open) -> None:
    server.answer(CHAT, written("An automobile.", hang=20))
    memory = open_file(on(server, writer=True, query_seconds=0.3))
    teach(memory)
    memory.settle()
    started = monotonic()

    answers = [memory.search(f"{QUESTION} saloon") for _ in range(2)]

    assert monotonic() - started < 1.5
    assert len(asked_at(server, CHAT)) == 1
    for answer in answers:
        assert answer[0].id == "saloon"
        assert server.url in answer.missing["hypothetical answer"]


def test_packing_never_asks_a_writer(server: ModelServer, open_file: Open) -> None:
    server.answer(CHAT, written("An automobile."))
    memory = open_file(on(server, writer=True))
    teach(memory)
    memory.settle()

    memory.context.build(QUESTION)
    memory.context.build(QUESTION, phase="implement")

    assert asked_at(server, CHAT) == []
