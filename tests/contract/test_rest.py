"""The REST API over both engines: verbs, versions, repeated requests, pages, and projects that stay apart."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.conftest import OpenMemory
from tests.rest_server import P, rest_client


@pytest.fixture
def client(open_memory: OpenMemory, tmp_path: Path) -> Iterator[TestClient]:
    with rest_client(open_memory, tmp_path) as client:
        yield client


def stored(client: TestClient, text: str, **fields: Any) -> dict[str, Any]:
    answer = client.post(f"{P}/records", json={"text": text, **fields})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_record_is_stored_found_corrected_and_undone(client: TestClient) -> None:
    record = stored(client, "Deploys happen on Fridays.", tags=["deploy"], source="user_taught")
    found = client.post(f"{P}/search", json={"query": "when are deploys?", "explain": True}).json()
    assert found["hits"][0]["id"] == record["id"]
    assert found["hits"][0]["record"]["tags"] == ["deploy"]
    assert found["explanation"]["results"][0]["id"] == record["id"]

    valid = client.post(f"{P}/records/{record['id']}/correct", json={"text": "Deploys happen on Mondays."}).json()
    assert valid["content"] == "Deploys happen on Mondays."
    old = client.get(f"{P}/records/{record['id']}").json()
    assert old["record"]["superseded_by"] == valid["id"]
    undone = client.post(f"{P}/records/{record['id']}/undo").json()
    assert undone["record"]["record"]["superseded_by"] is None
    actions = [each["action"] for each in client.get(f"{P}/records/{record['id']}/history").json()["entries"]]
    assert actions == ["undo", "correct", "create"]


def test_states_of_a_record(client: TestClient) -> None:
    id = stored(client, "The cache holds an hour.")["id"]
    assert client.post(f"{P}/records/{id}/flag", json={"note": "is it?"}).json()["flagged"]
    assert client.post(f"{P}/search", json={"query": "how long does the cache hold?"}).json()["hits"] == []
    assert client.get(f"{P}/records", params={"flagged": True}).json()["items"][0]["id"] == id
    assert client.post(f"{P}/records/{id}/confirm").json()["user_verified"]
    assert client.post(f"{P}/records/{id}/pin").json()["pinned"]
    assert not client.post(f"{P}/records/{id}/pin", json={"pinned": False}).json()["pinned"]
    assert client.delete(f"{P}/records/{id}").json() == {"forgotten": id, "hard": False, "proof": None}
    assert client.get(f"{P}/records/{id}").status_code == 404
    assert client.post(f"{P}/records/{id}/undo").json()["record"]["record"]["id"] == id


def test_a_purged_record_is_proven_gone(client: TestClient) -> None:
    id = stored(client, "Zanzibar is the code name of the merger.")["id"]
    proof = client.delete(f"{P}/records/{id}", params={"hard": True}).json()["proof"]
    assert proof["clean"]
    assert client.post(f"{P}/records/{id}/undo").status_code in (404, 409)


def test_a_stale_change_is_a_conflict_with_both_versions(client: TestClient) -> None:
    answer = client.post(f"{P}/records", json={"text": "The port is 8080."})
    id, first = answer.json()["id"], answer.headers["etag"]
    assert first == '"v1"'
    pinned = client.post(f"{P}/records/{id}/pin", headers={"If-Match": first})
    assert pinned.status_code == 200
    assert pinned.headers["etag"] == '"v2"'

    stale = client.post(f"{P}/records/{id}/correct", json={"text": "The port is 9090."}, headers={"If-Match": first})
    assert stale.status_code == 409
    assert stale.headers["content-type"] == "application/problem+json"
    problem = stale.json()
    assert problem["error"] == "StaleVersion"
    assert (problem["current"]["version"], problem["based_on"]["version"]) == (2, 1)
    assert problem["based_on"]["content"] == "The port is 8080."
    assert client.get(f"{P}/records/{id}").json()["record"]["superseded_by"] is None

    again = client.post(
        f"{P}/records/{id}/correct", json={"text": "The port is 9090."}, headers={"If-Match": pinned.headers["etag"]}
    )
    assert again.status_code == 200


def test_a_condition_given_twice_is_refused(client: TestClient) -> None:
    id = stored(client, "The port is 8080.")["id"]
    for name, values in (("If-Match", ('"v1"', '"v9"')), ("Idempotency-Key", ("one", "two"))):
        answer = client.post(f"{P}/records/{id}/pin", headers=[(name, value) for value in values])
        assert (answer.status_code, answer.json()["error"]) == (422, "InvalidInput"), answer.text
    assert not client.get(f"{P}/records/{id}").json()["record"]["pinned"]


def test_an_id_longer_than_any_is_not_found(client: TestClient) -> None:
    answer = client.get(f"{P}/records/{'a' * 60_000}")
    assert (answer.status_code, answer.json()["error"]) == (404, "NotFound"), answer.text[:300]


def test_a_known_version_is_not_sent_again(client: TestClient) -> None:
    id = stored(client, "The port is 8080.")["id"]
    first = client.get(f"{P}/records/{id}")
    same = client.get(f"{P}/records/{id}", headers={"If-None-Match": first.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")


WRITES: list[tuple[str, dict[str, Any]]] = [
    ("records", {"text": "Tests run with pytest."}),
    ("turns", {"session": "s", "role": "user", "text": "Hello there"}),
    ("episodes", {"task": "fix the login test", "outcome": "SUCCESS"}),
]


@pytest.mark.parametrize(("noun", "body"), WRITES)
def test_a_repeated_request_is_carried_out_once(
    open_memory: OpenMemory, tmp_path: Path, noun: str, body: dict[str, Any]
) -> None:
    key = {"Idempotency-Key": f"key of {noun}"}
    with rest_client(open_memory, tmp_path) as client:
        first = client.post(f"{P}/{noun}", json=body, headers=key)
        again = client.post(f"{P}/{noun}", json=body, headers=key)
    # Another process has nothing but the database.
    with rest_client(open_memory, tmp_path) as client:
        later = client.post(f"{P}/{noun}", json=body, headers=key)
        listed = client.get(f"{P}/{noun}", params={"total": True}).json()
        other = client.post(f"{P}/{noun}", json={**body, "session": "another"}, headers=key)
    assert [each.status_code for each in (first, again, later)] == [201, 201, 201]
    assert first.json()["id"] == again.json()["id"] == later.json()["id"]
    assert listed["total"] == 1
    assert other.status_code == 422
    assert "another request" in other.json()["detail"]


def test_a_repeated_undo_reverts_one_change(client: TestClient) -> None:
    id = stored(client, "The port is 8080.")["id"]
    client.post(f"{P}/records/{id}/pin")
    client.post(f"{P}/records/{id}/confirm")
    for _ in range(2):
        undone = client.post(f"{P}/records/{id}/undo", headers={"Idempotency-Key": "u"}).json()
        assert undone["record"]["record"]["pinned"]
        assert not undone["record"]["record"]["user_verified"]


def test_pages_have_every_record_once(client: TestClient) -> None:
    client.post(f"{P}/records/batch", json={"texts": [f"Fact number {number}" for number in range(25)]})
    seen: list[str] = []
    after: str | None = None
    while True:
        page = client.get(f"{P}/records", params={"limit": 10, "total": True, **({"after": after} if after else {})})
        assert page.json()["total"] == 25
        seen += [each["id"] for each in page.json()["items"]]
        after = page.json()["next"]
        if after is None:
            break
    assert len(seen) == len(set(seen)) == 25
    broken = client.get(f"{P}/records", params={"after": "no cursor"})
    assert broken.status_code == 422


def test_records_are_forgotten_by_a_filter_after_a_preview(client: TestClient) -> None:
    for number in range(3):
        stored(client, f"Temporary fact number {number}", tags=["temporary"])
    kept = stored(client, "A fact that stays")["id"]
    where = {"where": {"tags": ["temporary"]}}
    preview = client.post(f"{P}/records/forget", json=where).json()
    assert (len(preview["ids"]), preview["dry_run"]) == (3, True)
    assert client.get(f"{P}/records", params={"total": True}).json()["total"] == 4
    gone = client.post(f"{P}/records/forget", json={**where, "dry_run": False}).json()
    assert gone["ids"] == preview["ids"]
    assert [each["id"] for each in client.get(f"{P}/records").json()["items"]] == [kept]
    assert client.post(f"{P}/records/{gone['ids'][0]}/undo").status_code == 200
    assert client.post(f"{P}/records/forget", json={"where": {}, "dry_run": False}).status_code == 422


def test_projects_do_not_leak_into_each_other(client: TestClient) -> None:
    mine = stored(client, "The password of the mine is in the safe.")["id"]
    assert client.put("/api/v1/projects/other").status_code == 200
    other = "/api/v1/projects/other"
    assert client.post(f"{other}/search", json={"query": "password of the mine"}).json()["hits"] == []
    for path in (f"/records/{mine}", f"/records/{mine}/history"):
        assert client.get(f"{other}{path}").status_code == 404
    for verb in ("confirm", "pin", "undo", "flag"):
        assert client.post(f"{other}/records/{mine}/{verb}").status_code == 404
    assert client.delete(f"{other}/records/{mine}").status_code == 404
    assert mine not in client.get(f"{other}/audit").text
    assert mine not in client.get(f"{other}/export").text
    assert client.get(f"{P}/records/{mine}").status_code == 200


@pytest.mark.parametrize("name", ["nowhere", "*", "%", "..", "p%2F..", " "])
def test_an_unknown_project_is_not_found(client: TestClient, name: str) -> None:
    assert client.get(f"/api/v1/projects/{name}/stats").status_code == 404


def test_an_export_imported_elsewhere_has_the_same_records(client: TestClient) -> None:
    ids = {stored(client, f"Fact number {number}")["id"] for number in range(3)}
    lines = client.get(f"{P}/export")
    assert lines.headers["content-type"] == "application/x-ndjson"
    client.put("/api/v1/projects/copy")
    report = client.post("/api/v1/projects/copy/import", content=lines.content).json()
    assert report["added"] >= 3
    copied = client.get("/api/v1/projects/copy/records").json()["items"]
    assert {each["id"] for each in copied} == ids
    broken = client.post("/api/v1/projects/copy/import", content=b"not an export\n")
    assert broken.status_code == 422


def test_an_answer_is_quoted_or_not_found(client: TestClient) -> None:
    stored(client, "Deploys happen on Fridays.")
    answer = client.post(f"{P}/ask", json={"question": "When do deploys happen?"}).json()
    assert answer["found"]
    assert answer["text"] == "Deploys happen on Fridays. [1]"
    nothing = client.post(f"{P}/ask", json={"question": "Who painted the ceiling of the chapel?"}).json()
    assert (nothing["found"], nothing["text"], nothing["citations"]) == (False, "", [])


def test_a_session_is_observed_and_reviewed(client: TestClient) -> None:
    events = [
        {"kind": "prompt", "at": "2026-05-08T13:56:00Z", "text": "fix the login test", "id": "1"},
        {"kind": "tool_call", "at": "2026-05-08T13:56:01Z", "tool": "Read", "call_id": "c", "id": "2"},
    ]
    begun = client.post(f"{P}/sessions/s1/events", json={"events": events}).json()
    assert begun["report"] is None
    done = client.post(f"{P}/sessions/s1/events", json={"events": events, "finish": "success"}).json()
    assert done["report"]["session"]["outcome"] == "success"
    assert client.get(f"{P}/sessions").json()["items"][0]["id"] == "s1"
    assert client.get(f"{P}/sessions/s1").json()["session"]["prompts"] == ["fix the login test"]
    assert client.get(f"{P}/sessions/s1/review").json()["session"] == "s1"
    assert client.get(f"{P}/sessions/nothing").status_code == 404


def test_a_session_has_a_timeline_and_counts_of_what_it_was_given(client: TestClient) -> None:
    call = {"tool": "Bash", "call_id": "c", "arguments": {"command": "pytest -q"}}
    events = [
        {"kind": "prompt", "at": "2026-05-08T13:56:00Z", "text": "fix the login test", "id": "1"},
        {"kind": "tool_call", "at": "2026-05-08T13:56:01Z", "id": "2", **call},
        {"kind": "tool_result", "at": "2026-05-08T13:56:09Z", "id": "3", "text": "1 failed", "is_error": True, **call},
    ]
    client.post(f"{P}/sessions/s1/events", json={"events": events, "finish": "failure"})
    found = client.get(f"{P}/sessions/s1/timeline").json()
    assert [(each["kind"], each["at"]) for each in found["entries"]] == [
        ("prompt", "2026-05-08T13:56:00Z"),
        ("failed", "2026-05-08T13:56:09Z"),
    ]
    assert (found["entries"][1]["text"], found["dropped"]) == ("pytest", 0)
    assert client.get(f"{P}/sessions/nothing/timeline").status_code == 404
    assert client.get(f"{P}/given", params={"ids": ["s1"]}).json() == []


def test_a_conversation_is_built_and_explained(client: TestClient) -> None:
    body = {"messages": [{"role": "user", "content": "Hello"}], "rules": {"model": "gpt-4o"}}
    assert client.post(f"{P}/conversations/c/messages", json=body).status_code == 201
    built = client.post(f"{P}/conversations/c/build").json()
    assert built["messages"][0]["role"] == "user"
    assert client.get(f"{P}/conversations/c/stats").json()["messages"] == 1
    assert client.get(f"{P}/conversations/c/explanation").json()["lines"][0]["in_context"]
    assert client.get(f"{P}/conversations/none/stats").status_code == 404


def test_trust_rules_and_pauses(client: TestClient) -> None:
    assert client.get(f"{P}/trust").json()["level"] == "cautious"
    assert client.put(f"{P}/trust", json={"level": "confident"}).json()["min_confidence"] == 0.55
    rules = {"name": "CLAUDE.md", "text": "- Never print in the library.\n"}
    assert len(client.post(f"{P}/rules/import-file", json=rules).json()["added"]) == 1
    assert client.get(f"{P}/records", params={"total": True}).json()["total"] == 0
    client.post(f"{P}/rules/import-file", json={**rules, "dry_run": False})
    assert client.get(f"{P}/records", params={"total": True}).json()["total"] == 1
    assert client.post(f"{P}/rules/import-file", json={**rules, "name": "../x.md"}).status_code == 422
    assert client.get(f"{P}/pauses").json()["observe"] is None
    assert client.post(f"{P}/pauses").json()["observe"] == "forever"
    assert client.delete(f"{P}/pauses").json()["observe"] is None


def test_metrics_count_requests_and_records(client: TestClient) -> None:
    stored(client, "One fact.")
    text = client.get("/metrics").text
    assert 'treering_requests_total{method="POST",operation="remember",status="201"} 1' in text
    assert 'treering_records{project="p",kind="knowledge"} 1' in text
    assert 'treering_jobs{project="p",state="dead"} 0' in text
    assert 'treering_injections_total{project="p"}' in text
    assert 'treering_calls{queue="read",state="waiting"}' in text


def test_health_and_readiness(client: TestClient) -> None:
    assert client.get("/healthz").text == "ok\n"
    assert client.get("/readyz").text == "ready\n"


def test_an_annotation_of_code_is_a_record_that_impact_returns(
    client: TestClient, open_memory: OpenMemory, tmp_path: Path
) -> None:
    asked = {"node": "decode", "text": "Tokens are opaque", "kind": "decision", "source": "user_taught"}
    assert client.post(f"{P}/code/annotations", json=asked).status_code == 404
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "tokens.py").write_text("def decode(token):\n    return token\n")
    open_memory(project="p").code.index(tmp_path / "code", history=False)
    answer = client.post(f"{P}/code/annotations", json=asked)
    assert (answer.status_code, answer.json()["node"], answer.json()["type"]) == (201, "tokens.py::decode", "decision")
    found = client.get(f"{P}/code/impact", params={"node": "decode"}).json()
    assert [each["id"] for each in found["annotations"]] == [answer.json()["id"]]
    assert client.post(f"{P}/code/annotations", json={**asked, "kind": "rule"}).status_code == 422


def test_an_annotation_is_corrected_undone_and_forgotten_as_a_record(
    client: TestClient, open_memory: OpenMemory, tmp_path: Path
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "tokens.py").write_text("def decode(token):\n    return token\n")
    open_memory(project="p").code.index(tmp_path / "code", history=False)

    def shown() -> list[str]:
        found = client.get(f"{P}/code/impact", params={"node": "decode"}).json()
        return [each["content"] for each in found["annotations"]]

    asked = {"node": "decode", "text": "decode accepts text"}
    first = client.post(f"{P}/code/annotations", json=asked).json()["id"]
    second = client.post(f"{P}/records/{first}/correct", json={"text": "decode accepts bytes"}).json()["id"]
    assert shown() == ["decode accepts bytes"]
    assert client.post(f"{P}/records/{second}/undo").status_code == 200
    assert shown() == ["decode accepts text"]
    assert client.delete(f"{P}/records/{first}").status_code == 200
    assert shown() == []
    assert client.post(f"{P}/records/{first}/undo").status_code == 200
    assert shown() == ["decode accepts text"]
