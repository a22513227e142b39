"""Requests drawn from the OpenAPI document: none is an internal error, and every answer fits its schema."""

import itertools
import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from schemathesis import checks
from schemathesis.core.transport import Response
from starlette.testclient import TestClient

import treering
from tests.golden import openapi
from tests.rest_server import rest_client
from treering.interfaces.rest.links import LINKS

_MORE = 10 if os.environ.get("TREERING_TEST_PROFILE") == "fuzz" else 1
EXAMPLES = 4 * _MORE
SEQUENCES = 40 * _MORE
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
LINKED: Any = SCHEMA.include(
    operation_id=sorted(LINKS.keys() | {name for _, names in LINKS.values() for name in names})
)


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
        if known is not None and "id" in case.path_parameters:
            case.path_parameters["id"] = known
        case.validate_response(sent(client, case), checks=CHECKED)

    check()


def sent(client: TestClient, case: Any, project: str = "demo") -> Any:
    """The answer of the server to a case, in the project and with the token of the tests."""
    if "project" in case.path_parameters:
        case.path_parameters["project"] = project
    request = case.as_transport_kwargs(base_url="http://here:80")
    own = {key: value for key, value in (request.pop("headers") or {}).items() if key.lower() != "authorization"}
    body = request.pop("data", None)
    return client.request(
        request["method"],
        request["url"],
        headers={**own, "authorization": client.headers["authorization"]},
        params=request.get("params"),
        **({"json": request["json"]} if "json" in request else {"content": body}),
    )


def test_sequences_of_linked_operations_fit_the_document(client: TestClient) -> None:
    """What one operation stores, others get, change and remove, in the order that the links of the document allow."""
    succeeded: set[str] = set()
    numbers = itertools.count()

    class Sequences(LINKED.as_state_machine()):  # type: ignore[misc]
        def setup(self) -> None:
            # What an earlier sequence stored would change the answers, and Hypothesis reports that as flaky.
            self.project = f"sequence-{next(numbers)}"
            client.put(f"/api/v1/projects/{self.project}")

        def call(self, case: Any, **_: Any) -> Response:
            response = Response.from_any(sent(client, case, self.project))
            if response.status_code < 300:
                succeeded.add(case.operation.definition.raw["operationId"])
            return response

        def validate_response(self, response: Response, case: Any, **_: Any) -> None:
            case.validate_response(response, checks=CHECKED)

    run_state_machine_as_test(
        Sequences,
        settings=settings(
            max_examples=SEQUENCES,
            stateful_step_count=8,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert succeeded & {"remember", "store_turn", "store_episode", "start_task"}
    assert succeeded & {target for _, targets in LINKS.values() for target in targets}


def test_links_lead_to_operations() -> None:
    assert LINKS.keys() <= OPERATIONS.keys()
    assert {target for _, targets in LINKS.values() for target in targets} <= OPERATIONS.keys()


def test_every_operation_is_drawn_or_named() -> None:
    assert OPERATIONS.keys() >= ELSEWHERE
