"""The OpenAPI document, and a page that shows it without loading anything else."""

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from html import escape
from typing import Any

from fastapi import FastAPI
from pydantic.json_schema import PydanticJsonSchemaWarning
from starlette.requests import Request
from starlette.responses import Response

from treering.interfaces.rest.links import add_links
from treering.interfaces.rest.problems import MEDIA_TYPE, Problem

DESCRIPTION = """Memory for AI agents: every verb of the library over HTTP.

- Send the token as `Authorization: Bearer TOKEN`; `treering serve` prints its file.
- Errors are problem details (RFC 9457); `error` names the error class of the library.
- Lists are pages: pass `next` as `after`.
- Records have an `ETag`; a change with `If-Match` of an older version is a 409 with both versions.
- A request with an `Idempotency-Key` is carried out once.
"""
TAGS = [
    {"name": "projects", "description": "Projects of the database."},
    {"name": "records", "description": "Records of knowledge, and of any kind."},
    {"name": "search", "description": "Search and extractive answers."},
    {"name": "context", "description": "Text for a model within a token budget."},
    {"name": "turns", "description": "Messages, word for word."},
    {"name": "episodes", "description": "Task executions."},
    {"name": "patterns", "description": "What works, with evidence."},
    {"name": "entities", "description": "People, projects, places and other names."},
    {"name": "code", "description": "The code graph."},
    {"name": "conversations", "description": "The window of a conversation with a model."},
    {"name": "sessions", "description": "Observed sessions of coding agents."},
    {"name": "tasks", "description": "Working memory of tasks."},
    {"name": "rules", "description": "Rule files such as CLAUDE.md."},
    {"name": "pauses", "description": "Pauses of the hooks of coding agents."},
    {"name": "trust", "description": "Trust level and settings."},
    {"name": "maintenance", "description": "Stages, runs, jobs and vectors."},
    {"name": "health", "description": "Counts, health, diagnosis and the audit log."},
    {"name": "archive", "description": "Export, import and backup."},
    {"name": "events", "description": "Server-sent events."},
    {"name": "server", "description": "The server itself."},
]
_ERRORS = {
    400: "The request cannot be read.",
    401: "No valid token.",
    403: "Not allowed: a foreign Origin, or a read-only memory.",
    404: "No such project or record.",
    409: "Conflict with the present state, such as a stale version.",
    413: "The request is too large.",
    422: "Invalid input.",
    500: "Internal error.",
    501: "An optional part is not installed.",
    502: "A model is not available.",
    503: "The store is not available.",
    504: "The call took too long.",
    507: "The disk is full.",
}
_REFERENCE = re.compile(r'#/components/schemas/([^"]+)"')
_PAGE = re.compile(r"\bListPage_(\w+?)_(?=\b)")
_OPEN = {"type": "object", "additionalProperties": True}


class ApiDocument:
    """The document, made when it is first read."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    @cached_property
    def content(self) -> Mapping[str, Any]:
        with warnings.catch_warnings():
            # The default of a frozen mapping is not a dict, so schemas leave it out.
            warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
            document = self._app.openapi()
        schemas = document["components"]["schemas"]
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(schemas["Problem"].pop("$defs", {}))
        # Payloads are values of many types, also of plug-ins; the base class has no fields.
        schemas["Payload"] = {**_OPEN, "title": "Payload", "description": "Fields of the knowledge type."}
        _require_answered_fields(document)
        _add_errors(document)
        add_links(_operations(document))
        document["components"]["securitySchemes"] = {
            "token": {"type": "http", "scheme": "bearer", "description": "The token of the server."}
        }
        document["security"] = [{"token": []}]
        document["paths"]["/api/v1/sign-in"]["post"]["security"] = []
        # `ListPage[Knowledge]` is `KnowledgePage` for clients that are generated from the document.
        named: Mapping[str, Any] = json.loads(_PAGE.sub(r"\1Page", json.dumps(document)))
        return named

    async def get(self, request: Request) -> Response:
        return Response(self.text, media_type="application/json")

    @cached_property
    def text(self) -> str:
        return json.dumps(self.content, ensure_ascii=False)


def _operations(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for path in document["paths"].values():
        yield from path.values()


def _require_answered_fields(document: Mapping[str, Any]) -> None:
    """Answers have all their fields, also those with a default: say so, unless a request has the same schema."""
    schemas = document["components"]["schemas"]
    asked = _reached(schemas, [operation.get("requestBody") for operation in _operations(document)])
    for name, schema in schemas.items():
        if name not in asked and name != "Problem" and "properties" in schema:
            schema["required"] = list(schema["properties"])


def _reached(schemas: Mapping[str, Any], begin: Any) -> set[str]:
    """Names of the schemas that a part of the document refers to, directly or through others."""
    found: set[str] = set()
    waiting = _REFERENCE.findall(json.dumps(begin))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _REFERENCE.findall(json.dumps(schemas.get(name)))
    return found


def _add_errors(document: dict[str, Any]) -> None:
    """Every operation may answer with a problem."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    document["components"]["responses"] = {
        f"Problem{status}": {"description": text, "content": content} for status, text in _ERRORS.items()
    }
    for operation in _operations(document):
        errors = {str(status): {"$ref": f"#/components/responses/Problem{status}"} for status in _ERRORS}
        operation["responses"] = {**operation["responses"], **errors}
        for status, response in operation["responses"].items():
            if response.get("description") == "Successful Response":
                response["description"] = operation["summary"] if status != "201" else "Stored."


def completed(app: FastAPI) -> ApiDocument:
    return ApiDocument(app)


def docs_page(document: Mapping[str, Any]) -> str:
    """A list of all operations, by noun."""
    parts = []
    for tag in document["tags"]:
        rows = [
            f"<li><code>{method.upper()} {escape(path)}</code> {escape(operation['summary'])}"
            f"<p>{escape(operation.get('description', ''))}</p></li>"
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
            if tag["name"] in operation.get("tags", ())
        ]
        parts.append(f"<h2>{escape(tag['name'])}</h2><p>{escape(tag['description'])}</p><ul>{''.join(rows)}</ul>")
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Treering API</title>'
        "<style>body{font:16px/1.5 system-ui;max-width:56rem;margin:2rem auto;padding:0 1rem}p{margin:.2rem 0}</style>"
        f'<h1>Treering API</h1><p>The whole description is <a href="/api/v1/openapi.json">openapi.json</a>.</p>'
        f"{''.join(parts)}</html>"
    )
