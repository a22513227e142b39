"""Requests drawn from the OpenAPI document: none is an internal error, and every answer fits its schema."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import checks
from starlette.testclient import TestClient

import treering
from tests.golden import openapi
from tests.rest_server import rest_client

EXAMPLES = 4
ELSEWHERE = {
    # They work for seconds, stream without an end, or write into the user's data folder: their own tests call them.
    "index_code",
    "run_stages",
    "settle",
    "update_vectors",
    "stream_events",
    "backup",
    "repair",
    "get_doctor",
    "create_project",
    "import_",
    "replay",
}
CHECKED = [
    checks.not_a_server_error,
    checks.response_schema_conformance,
    checks.status_code_conformance,
    checks.content_type_conformance,
]
SCHEMA: Any = schemathesis.openapi.from_path(openapi.GOLDEN)
OPERATIONS: dict[str, Any] = {
    found.definition.raw["operationId"]: found for found in (each.ok() for each in SCHEMA.get_all_operations())
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("rest")

    def opened(project: str) -> treering.Memory:
        return treering.open(folder / "memory.db", project=project, background=False)

    with rest_client(opened, folder) as client:
        client.put("/api/v1/projects/demo")
        client.post("/api/v1/projects/demo/records", json={"text": "A fact to begin with.", "id": "known"})
        client.post("/api/v1/projects/demo/episodes", json={"task": "a task to begin with", "id": "episode"})
        client.post(
            "/api/v1/projects/demo/conversations/known/messages",
            json={"messages": [{"role": "user", "content": "Hello"}], "rules": {"model": "gpt-4o"}},
        )
        yield client


@pytest.mark.parametrize("name", sorted(OPERATIONS.keys() - ELSEWHERE))
def test_answers_fit_the_document(client: TestClient, name: str) -> None:
    operation = OPERATIONS[name]

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), known=st.sampled_from(["known", "episode", None]))
    def check(case: Any, known: str | None) -> None:
        if "project" in case.path_parameters:
            case.path_parameters["project"] = "demo"
        if known is not None and "id" in case.path_parameters:
            case.path_parameters["id"] = known
        request = case.as_transport_kwargs(base_url="http://here:80")
        own = {key: value for key, value in (request.pop("headers") or {}).items() if key.lower() != "authorization"}
        body = request.pop("data", None)
        response = client.request(
            request["method"],
            request["url"],
            headers={**own, "authorization": client.headers["authorization"]},
            params=request.get("params"),
            **({"json": request["json"]} if "json" in request else {"content": body}),
        )
        case.validate_response(response, checks=CHECKED)

    check()


def test_every_operation_is_drawn_or_named() -> None:
    assert OPERATIONS.keys() >= ELSEWHERE
