"""The OpenAPI document is complete, and changes on purpose only."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.golden import openapi


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(openapi.shown())
    return found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_the_document_is_the_golden_one() -> None:
    """After a change on purpose: `.venv/bin/python -m tests.golden.rewrite`, then read the diff."""
    assert openapi.shown() == openapi.GOLDEN.read_text(encoding="utf-8")


def test_every_operation_is_described(document: dict[str, Any]) -> None:
    tags = {tag["name"] for tag in document["tags"]}
    for name, operation in operations(document):
        assert operation["summary"], name
        assert operation["description"], name
        assert operation["operationId"], name
        assert set(operation["tags"]) <= tags, name
        assert any(status.startswith("2") for status in operation["responses"]), name
        assert operation["responses"]["404"] == {"$ref": "#/components/responses/Problem404"}, name


def test_operation_ids_are_unique(document: dict[str, Any]) -> None:
    ids = [operation["operationId"] for _, operation in operations(document)]
    assert len(ids) == len(set(ids))


def test_answers_promise_all_their_fields(document: dict[str, Any]) -> None:
    record = document["components"]["schemas"]["Knowledge"]
    assert record["required"] == list(record["properties"])


def test_every_reference_exists(document: dict[str, Any]) -> None:
    def references(part: Any) -> Iterator[str]:
        if isinstance(part, dict):
            if isinstance(part.get("$ref"), str):
                yield part["$ref"]
            for each in part.values():
                yield from references(each)
        elif isinstance(part, list):
            for each in part:
                yield from references(each)

    for reference in references(document):
        kind, _, name = reference.removeprefix("#/components/").partition("/")
        assert name in document["components"][kind], reference
