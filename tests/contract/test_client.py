"""`treering.Client` behaves as `Memory` does: the same answers and the same errors, on both engines."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

import treering
from tests.conftest import OpenMemory
from tests.rest_server import ORIGIN, TOKEN, rest_client
from treering import Client, Memory, SearchFilter, Source, Taint
from treering.client import connection
from treering.core import errors
from treering.knowledge.authors import Author

Either = Memory | Client


class InProcess(httpx.BaseTransport):
    """Sends requests of a client to an application in this process; the first ones may be lost."""

    def __init__(self, served: TestClient) -> None:
        self.served = served
        self.lose_requests = 0
        self.lose_answers = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.lose_requests:
            self.lose_requests -= 1
            raise httpx.ConnectError("the server restarts")
        headers = {name: value for name, value in request.headers.items() if name != "host"}
        found = self.served.request(request.method, str(request.url), content=request.read(), headers=headers)
        if self.lose_answers:
            self.lose_answers -= 1
            raise httpx.ReadError("the server restarts")
        kept = {name: value for name, value in found.headers.items() if name != "content-length"}
        return httpx.Response(found.status_code, headers=kept, content=found.content)


@pytest.fixture
def transport(open_memory: OpenMemory, tmp_path: Path) -> Iterator[InProcess]:
    with rest_client(open_memory, tmp_path, token=None) as served:
        yield InProcess(served)


@pytest.fixture
def connect(transport: InProcess) -> Callable[..., Client]:
    return lambda **options: Client(ORIGIN, **{"token": TOKEN, "transport": transport, **options})


@pytest.fixture(params=["memory", "client"])
def either(request: pytest.FixtureRequest, open_memory: OpenMemory, tmp_path: Path) -> Iterator[Either]:
    """A memory, and a client of the same: each test below holds for both."""
    if request.param == "memory":
        yield open_memory()
        return
    with rest_client(open_memory, tmp_path, token=None) as served:
        yield Client(ORIGIN, token=TOKEN, transport=InProcess(served))


def test_remember_search_and_get(either: Either) -> None:
    record = either.remember(
        "Deploys happen on Fridays.", tags=["deploy"], files=["deploy.py"], confidence=0.9, source=Source.USER_TAUGHT
    )
    assert isinstance(record, treering.Knowledge)
    assert (record.tags, record.files, record.version) == (("deploy",), ("deploy.py",), 1)
    assert either.get(record.id).content == "Deploys happen on Fridays."
    answer = either.search("when do deploys happen?", explain=True)
    assert isinstance(answer, treering.Answer)
    assert [hit.id for hit in answer] == [record.id]
    assert answer[0].record.tags == ("deploy",)
    assert answer.confidence is treering.Confidence.HIGH
    assert answer.explanation.results[0].id == record.id
    assert not either.search("deploys", where=SearchFilter.make(tags=("other",)))


def test_the_same_words_strengthen_the_record(either: Either) -> None:
    first = either.remember("Tests run with pytest.")
    assert either.remember("Tests run with pytest.").id == first.id
    assert either.stats().records["knowledge"] == 1


def test_payload_and_taint(either: Either) -> None:
    payload = {"subject": "deploys", "attribute": "day", "value": "Friday"}
    record = either.remember("Deploys happen on Fridays.", payload=payload, taint=Taint(source="web"))
    assert record.taint.source == "web"
    assert record.payload.subject == "deploys"
    assert either.get(record.id) == record


def test_corrections_and_undo(either: Either) -> None:
    old = either.remember("The port is 8080.")
    new = either.correct(old.id, "outdated", text="The port is 9090.")
    assert new.content == "The port is 9090."
    assert either.get(old.id).superseded_by == new.id
    assert either.undo(old.id).superseded_by is None
    assert either.flag(old.id, "sure?").flagged
    assert either.confirm(old.id).user_verified
    assert either.pin(old.id).pinned
    assert not either.pin(old.id, pinned=False).pinned
    assert either.used([old.id, "nothing"]) == 1
    assert [each.action.value for each in either.history(old.id)][-1] == "create"
    assert either.audit(actions=["flag"])[0].subject == old.id


def test_an_agent_reports_a_correction(either: Either) -> None:
    old = either.remember("The port is 8080.")
    author = Author(source=Source.AGENT_EXPLICIT, session="s")
    assert either.correct(old.id, text="The port is 9090.", by=author).source is Source.AGENT_EXPLICIT


def test_forget(either: Either) -> None:
    record = either.remember("Zanzibar is the code name of the merger.")
    assert either.forget(record.id) is None
    with pytest.raises(errors.NotFound):
        either.get(record.id)
    assert either.undo(record.id).id == record.id
    receipt = either.forget(record.id, hard=True)
    assert receipt is not None
    assert receipt.prove().clean


def test_turns_and_episodes(either: Either) -> None:
    turn = either.turn(session="s", role="user", text="We deploy on Fridays.", id="t1", at="2026-05-08T13:56:00Z")
    assert (turn.id, turn.role.value, turn.at.year) == ("t1", "user", 2026)
    assert either.turn(session="s", role="user", text="We deploy on Fridays.", id="t1").id == "t1"
    episode = either.episode("fix the login test", outcome="FAILURE", session="s", tools=["pytest"], tags=["login"])
    assert episode.outcome.status.value == "FAILURE"
    assert either.episodes.get(episode.id).metadata.tools == ("pytest",)


def test_context(either: Either) -> None:
    record = either.remember("Deploys happen on Fridays.")
    built = either.context.build("when do we deploy?", budget=500)
    assert isinstance(built, treering.RenderedContext)
    assert [item.id for item in built.items] == [record.id]
    assert built.tokens <= built.budget == 500
    assert either.context.briefing().episodes == ()
    assert either.context.to_review() == ()


def test_mute_and_sessions(either: Either) -> None:
    record = either.remember("Deploys happen on Fridays.")
    assert either.knowledge.mute(record.id).muted
    assert not either.knowledge.mute(record.id, muted=False).muted
    assert either.sessions.list(limit=3, types=["build"], since="2026-05-08") == ()


def test_export_and_import(either: Either, tmp_path: Path) -> None:
    either.remember("Deploys happen on Fridays.")
    file = tmp_path / "export.jsonl"
    file.write_text("".join(f"{line}\n" for line in either.export_lines()))
    report = either.import_(file)
    assert (report.added, report.conflicts) == (0, ())
    assert report.known >= 1


def test_trust_and_projects(either: Either) -> None:
    either.remember("One fact.")
    assert either.trust.level.value == "cautious"
    assert either.trust.offered is None
    assert either.trust.set("standard").value == "standard"
    assert either.trust.since is not None
    assert [each.project for each in either.projects()] == ["p"]
    assert either.remember_many(["A first fact.", "A second fact."]) == 2
    assert either.settle().dead == 0


WRONG: list[tuple[type[Exception], Callable[[Any], object]]] = [
    (errors.NotFound, lambda each: each.get("nothing")),
    (errors.NotFound, lambda each: each.confirm("nothing")),
    (errors.NotFound, lambda each: each.history("nothing")),
    (errors.NotFound, lambda each: each.undo("nothing")),
    (errors.InvalidInput, lambda each: each.remember("x", type="no such type")),
    (errors.InvalidInput, lambda each: each.remember("")),
    (errors.InvalidInput, lambda each: each.remember("x", confidence=2)),
    (errors.InvalidInput, lambda each: each.remember("x", files=["../outside"])),
    (errors.InvalidInput, lambda each: each.turn(session="s", role="nobody", text="x")),
    (errors.InvalidInput, lambda each: each.search("x", limit=0)),
    (errors.InvalidInput, lambda each: each.search("x", as_of="no time")),
    (errors.InvalidInput, lambda each: each.audit(actions=["no action"])),
    (errors.InvalidInput, lambda each: each.trust.set("no level")),
]


@pytest.mark.parametrize(("error", "call"), WRONG)
def test_the_same_errors(either: Either, error: type[Exception], call: Callable[[Either], object]) -> None:
    with pytest.raises(error):
        call(either)


def test_ids_need_not_be_url_safe(either: Either) -> None:
    for id in ("a/b", "a?b#c", "ä ö"):
        either.turn(session="s", role="user", text=f"turn {id}", id=id)
        assert either.get(id).id == id


def test_a_name_of_dots_is_one_step_of_a_path() -> None:
    assert (connection.segment(".."), connection.segment("a.b")) == ("%2E%2E", "a.b")


def test_a_lost_connection_is_repaired_and_nothing_is_stored_twice(
    connect: Callable[..., Client], transport: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "RETRY_SECONDS", 0.001)
    client = connect()
    transport.lose_requests = 2
    first = client.remember("Stored after a restart.")
    client.pin(first.id)
    client.confirm(first.id)
    transport.lose_answers = 1
    assert client.undo(first.id).pinned
    transport.lose_answers = 1
    episode = client.episode("carried out once")
    assert client.stats().records["episodes"] == 1
    assert client.get(episode.id).id == episode.id
    transport.lose_requests = connection.ATTEMPTS
    with pytest.raises(errors.StoreUnavailable, match="treering serve"):
        client.stats()


def test_a_wrong_token_is_refused(connect: Callable[..., Client]) -> None:
    with pytest.raises(errors.StoreUnavailable, match="token"):
        connect(token="wrong" * 10)


def test_projects_stay_apart(connect: Callable[..., Client]) -> None:
    mine, other = connect(), connect(project="other")
    record = mine.remember("Only in my project.")
    assert (mine.scope.project, other.scope.project) == ("p", "other")
    assert not other.search("my project").hits
    with pytest.raises(errors.NotFound):
        other.get(record.id)


def test_what_needs_a_database_says_so(connect: Callable[..., Client]) -> None:
    client = connect()
    for call in (lambda: client.code, lambda: client.backup, lambda: client.episodes.trend, lambda: client.store):
        with pytest.raises(errors.InvalidInput, match="through a server"):
            call()
