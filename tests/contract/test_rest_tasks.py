"""Working memory over HTTP: a task goes on in any process, and no change is lost."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.conftest import OpenMemory
from tests.rest_server import P, rest_client
from treering.core.errors import Conflict
from treering.interfaces.rest.nouns.task_schemas import STEP_FIELDS
from treering.interfaces.rest.nouns.tasks import _VERBS
from treering.memory import Memory

START = {
    "id": "auth",
    "description": "Add token authentication",
    "goals": ["users log in with a token"],
    "plan": [{"id": "choose", "description": "choose a library"}, {"id": "write", "uses": ["choose"]}],
}


@pytest.fixture
def client(open_memory: OpenMemory, tmp_path: Path) -> Iterator[TestClient]:
    with rest_client(open_memory, tmp_path) as client:
        yield client


def steps(client: TestClient, *given: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(f"{P}/tasks/auth/steps", json={"steps": list(given)})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_task_is_worked_on_and_finished_by_several_servers(open_memory: OpenMemory, tmp_path: Path) -> None:
    with rest_client(open_memory, tmp_path) as client:
        client.post(f"{P}/records", json={"text": "Tokens expire after one hour.", "type": "decision"})
        started = client.post(f"{P}/tasks", json=START)
        assert started.status_code == 201, started.text
        assert client.post(f"{P}/tasks", json=START).status_code == 409
        done = steps(
            client,
            {"do": "start", "subtask": "choose"},
            {"do": "add_intermediate", "subtask": "choose", "output": {"library": "PyJWT"}},
            {"do": "start", "subtask": "write"},
            {"do": "set", "key": "target", "value": "auth.py"},
            {"do": "accumulate", "key": "files", "value": "auth.py"},
            {"do": "push_state", "phase": "coding", "data": {"try": 1}},
            {"do": "retrieve_from_episodic", "query": "how long does a token live"},
        )
        assert done["results"][6][0]["text"] == "Tokens expire after one hour."
        assert [each["status"] for each in done["task"]["subtasks"]] == ["completed", "in_progress"]
    with rest_client(open_memory, tmp_path) as client:
        task = client.get(f"{P}/tasks/auth").json()
        assert (task["stack"][0]["phase"], task["stack"][0]["data"]) == ("coding", {"try": 1})
        prompt = client.get(f"{P}/tasks/auth/prompt", params={"budget": 1_000}).json()
        assert "Output choose" in prompt["text"]
        assert prompt["tokens"] <= prompt["budget"] == 1_000
        assert client.get(f"{P}/tasks/auth/variables/target").json()["value"] == "auth.py"
        assert client.get(f"{P}/tasks/auth/variables/none").status_code == 404
        assert client.get(f"{P}/tasks/auth/results/choose").json()["value"] == {"library": "PyJWT"}
        steps(client, {"do": "fail", "subtask": "write", "error": "ImportError: no module named jwt"})
        episode = client.post(f"{P}/tasks/auth/finish", json={"outcome": "FAILURE", "tools": ["pytest"]})
        assert episode.status_code == 201
        assert episode.json()["outcome"]["output"] == "ImportError: no module named jwt"
        assert client.get(f"{P}/tasks/auth").json()["description"] == ""


def test_steps_are_carried_out_together_or_not_at_all(client: TestClient) -> None:
    client.post(f"{P}/tasks", json=START)
    given = [{"do": "set", "key": "a", "value": 1}, {"do": "pop_state"}]
    failed = client.post(f"{P}/tasks/auth/steps", json={"steps": given})
    assert failed.status_code == 422
    assert "push_state" in failed.json()["detail"]
    assert client.get(f"{P}/tasks/auth/variables/a").status_code == 404


def test_a_save_can_be_restored(client: TestClient) -> None:
    client.post(f"{P}/tasks", json=START)
    steps(client, {"do": "set", "key": "a", "value": 1})
    assert client.post(f"{P}/tasks/auth/saves", json={"name": "before"}).status_code == 200
    steps(client, {"do": "set", "key": "a", "value": None})
    assert client.get(f"{P}/tasks/auth/variables/a").json()["value"] is None
    assert client.post(f"{P}/tasks/auth/restore", json={"name": "before"}).status_code == 200
    assert client.get(f"{P}/tasks/auth/variables/a").json()["value"] == 1
    assert client.post(f"{P}/tasks/auth/restore", json={"name": "none"}).status_code == 404


def test_what_was_moved_out_is_listed_and_resolved(client: TestClient) -> None:
    client.post(f"{P}/tasks", json=START)
    outputs = [{"do": "add_intermediate", "subtask": f"log{n}", "output": f"log {n}\n" * 30} for n in range(7)]
    steps(client, *outputs, {"do": "prune"})
    moved = client.get(f"{P}/tasks/auth/references").json()["items"]
    assert [each["subtask"] for each in moved] == ["log0", "log1"]
    assert client.get(f"{P}/tasks/auth/items/{moved[0]['id']}").json()["value"] == "log 0\n" * 30
    steps(client, {"do": "bring_back", "reference": moved[0]["id"]})
    assert client.get(f"{P}/tasks/auth/items/nothing").status_code == 404


WRONG: list[dict[str, Any]] = [
    {"do": "start"},
    {"do": "start", "subtask": None},
    {"do": "start", "subtask": "a", "text": "b"},
    {"do": "__init__"},
    {"do": "push_state", "phase": "coding", "data": {"phase": "other"}},
    {"do": "set", "key": "", "value": 1},
]


@pytest.mark.parametrize("step", WRONG)
def test_a_wrong_step_is_a_problem(client: TestClient, step: dict[str, Any]) -> None:
    client.post(f"{P}/tasks", json=START)
    assert client.post(f"{P}/tasks/auth/steps", json={"steps": [step]}).status_code == 422
    assert client.post(f"{P}/tasks/nothing/steps", json={"steps": [{"do": "prune"}]}).status_code == 404


def test_a_save_of_another_process_is_not_overwritten(open_memory: OpenMemory) -> None:
    memory: Memory = open_memory()
    memory.task("Add token authentication", id="auth").save()
    mine, other = memory.task(id="auth"), memory.task(id="auth")
    mine.set("a", 1)
    mine.save(if_unchanged=True)
    other.set("b", 2)
    with pytest.raises(Conflict, match="another process"):
        other.save(if_unchanged=True)
    mine.set("c", 3)
    mine.save(if_unchanged=True)
    assert [memory.task(id="auth").get(key) for key in "abc"] == [1, None, 3]


def test_every_step_has_its_verb_and_fields() -> None:
    assert _VERBS.keys() == STEP_FIELDS.keys()
