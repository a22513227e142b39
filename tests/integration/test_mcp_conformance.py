"""The official conformance suite against `treering mcp --http`, at the current protocol and the one before.

The suite was written for a reference server with tools, resources and prompts of its own (`test_simple_text`, …).
What asks for one of those is named here with what it asks for; everything else has to pass.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.integration.bearer_proxy import bearer_proxy
from tests.integration.http_service import http_service
from tests.integration.node_clients import run_conformance
from tests.integration.once import once_per_run

NO_SUCH_TOOL = "calls a tool of the reference server"
NO_SUCH_RESOURCE = "reads a resource of the reference server"
NO_SUCH_PROMPT = "gets a prompt of the reference server"
ASKS_BACK = "calls a tool of the reference server that asks the client something; none of ours does"
NOT_OFFERED = "asks for an optional capability, which we neither offer nor announce"

SCENARIOS_NOT_OURS = {
    "completion-complete": NOT_OFFERED,
    "logging-set-level": NOT_OFFERED,
    "resources-*subscribe": NOT_OFFERED,
    "tasks-*": NOT_OFFERED,
    "tools-call-*": NO_SUCH_TOOL,
    "json-schema-2020-12": NO_SUCH_TOOL,
    "http-custom-header-server-validation": "looks for a tool with arguments in HTTP headers; ours are in the body",
    "resources-read-*": NO_SUCH_RESOURCE,
    "resources-templates-read": NO_SUCH_RESOURCE,
    "prompts-get-*": NO_SUCH_PROMPT,
    "elicitation-*": ASKS_BACK,
    "input-required-result-*": ASKS_BACK,
}
CHECKS_NOT_OURS = {
    "sep-2575-server-rejects-undeclared-capability": NO_SUCH_TOOL,
    "sep-2575-missing-capability-http-400": NO_SUCH_TOOL,
    "sep-2575-http-server-no-independent-requests-on-stream": NO_SUCH_TOOL,
    "sep-2575-server-no-log-without-loglevel": NO_SUCH_TOOL,
}
FOR_EVERYBODY = {
    "2025-11-25": {
        "server-initialize",
        "server-session-lifecycle",
        "server-sse-multiple-streams",
        "ping",
        "tools-list",
        "resources-list",
        "prompts-list",
        "dns-rebinding-protection",
    },
    "2026-07-28": {
        "server-stateless",
        "server-sse-multiple-streams",
        "tools-list",
        "resources-list",
        "sep-2164-resource-not-found",
        "prompts-list",
        "dns-rebinding-protection",
        "caching",
        "http-header-validation",
    },
}


@dataclass(frozen=True)
class Check:
    """One thing that the suite looked at."""

    scenario: str
    name: str
    status: str
    message: str

    @property
    def has_failed(self) -> bool:
        """What a server should do counts like what it must."""
        return self.status in {"FAILURE", "WARNING"}

    def is_of(self, scenarios: Mapping[str, str]) -> bool:
        return any(fnmatch(self.scenario, pattern) for pattern in scenarios)


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[Check]]:
    """What the suite found, by the revision of the protocol that it spoke."""
    with once_per_run(tmp_path_factory, "conformance") as (folder, first):
        if first:
            _run_suite(folder)
        return {revision: _found(folder / revision) for revision in FOR_EVERYBODY}


def _run_suite(folder: Path) -> None:
    (folder / "project" / ".git").mkdir(parents=True)
    with http_service(folder / "project") as service, bearer_proxy(service.url, service.token) as url:
        for revision in FOR_EVERYBODY:
            reports = folder / revision
            reports.mkdir()
            done = run_conformance("server", "--url", url, "--requirements", revision, "-o", ".", folder=reports)
            assert [*reports.iterdir()], done


def _found(folder: Path) -> list[Check]:
    reports = {path: re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", path.parent.name) for path in folder.glob("*/*.json")}
    return [
        Check(scenario, check["id"], check["status"], check.get("errorMessage", ""))
        for path, scenario in reports.items()
        for check in json.loads(path.read_text())
    ]


@pytest.mark.parametrize("revision", FOR_EVERYBODY)
def test_what_the_protocol_asks_of_every_server_is_done(checks: Mapping[str, list[Check]], revision: str) -> None:
    failed = [check for check in checks[revision] if check.has_failed and check.name not in CHECKS_NOT_OURS]
    assert [check for check in failed if not check.is_of(SCENARIOS_NOT_OURS)] == []
    passed = {check.scenario for check in checks[revision] if check.status == "SUCCESS"}
    assert passed >= FOR_EVERYBODY[revision]


@pytest.mark.parametrize("revision", FOR_EVERYBODY)
def test_whatever_is_asked_is_answered_in_the_form_of_the_protocol(
    checks: Mapping[str, list[Check]], revision: str
) -> None:
    forms = [check for check in checks[revision] if check.name == "wire-schema-valid"]
    assert len(forms) > len(FOR_EVERYBODY[revision])
    assert [check for check in forms if check.status != "SUCCESS"] == []


def test_nothing_is_excused_that_passes(checks: Mapping[str, list[Check]]) -> None:
    failed = [check for found in checks.values() for check in found if check.has_failed]
    excused = {pattern for pattern in SCENARIOS_NOT_OURS for check in failed if fnmatch(check.scenario, pattern)}
    assert excused == set(SCENARIOS_NOT_OURS)
    assert {check.name for check in failed} >= set(CHECKS_NOT_OURS)
