"""Errors as problem details (RFC 9457)."""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from treering.core import errors

_LOG = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"

STATUS: Mapping[type[Exception], int] = {
    errors.InvalidInput: 422,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.NothingToUndo: 409,
    errors.StoreReadOnly: 403,
    errors.StoreFull: 507,
    errors.StoreError: 503,
    errors.MissingDependency: 501,
    errors.PluginFailed: 501,
    errors.RepositoryUnavailable: 503,
    errors.ContextTooLarge: 422,
    errors.ModelUnavailable: 502,
    errors.TreeringError: 500,
}
"""Status of each branch of the error tree; the most specific class of an error decides."""

_TITLES: Mapping[int, str] = {
    400: "The request cannot be read",
    401: "No valid token",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "The request did not arrive in time",
    409: "Conflict with the present state",
    413: "The request is too large",
    415: "Content type not supported",
    421: "Host not accepted",
    422: "Invalid input",
    500: "Internal error",
    501: "Not installed",
    502: "A model is not available",
    503: "The store is not available",
    504: "The call took too long",
    507: "The disk is full",
}


class FieldError(BaseModel):
    """An invalid part of a request."""

    field: str = Field(description="Where it is: `body.tags.0`, `query.limit`.")
    reason: str


class Problem(BaseModel):
    """Why a request failed, as RFC 9457 describes it."""

    type: str = Field(description="Identifies the kind of problem.", examples=["urn:treering:problem:NotFound"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: str = Field(
        description="What failed, why, and what to do.", examples=["no record with id '01b' in project 'demo'"]
    )
    instance: str = Field(description="Path of the request.", examples=["/api/v1/projects/demo/records/01b"])
    error: str = Field(description="Error class of the library.", examples=["NotFound"])
    errors: tuple[FieldError, ...] = Field(default=(), description="Invalid fields of the request.")
    current: dict[str, Any] | None = Field(
        default=None, description="The record as it is now, if the change was based on an older version."
    )
    based_on: dict[str, Any] | None = Field(
        default=None, description="The version that the change was based on: `version` and, if it is kept, `content`."
    )


def problem(
    status: int, detail: str, instance: str, error: str, headers: Mapping[str, str] | None = None, **more: Any
) -> Response:
    """A response with problem details."""
    made = Problem(
        type=f"urn:treering:problem:{error}",
        title=_TITLES.get(status, "Error"),
        status=status,
        detail=detail,
        instance=instance,
        error=error,
        **more,
    )
    return Response(made.model_dump_json(), status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def status_of(error: Exception) -> int:
    """The status of an error: that of its most specific class in the table."""
    return next((STATUS[each] for each in type(error).__mro__ if each in STATUS), 500)


def problem_of(error: Exception, instance: str) -> Response:
    """Any error as a response; a bug is logged and reported without its message, which may quote anything."""
    status, name = status_of(error), type(error).__name__
    if not isinstance(error, errors.TreeringError):
        _LOG.error("%s: %s", instance, error, exc_info=error)
        return problem(500, "internal error of Treering; the server's log has the details", instance, "InternalError")
    headers = {"Retry-After": "1"} if status == 503 else {}
    more: dict[str, Any] = {}
    if isinstance(error, errors.StaleVersion):
        more["based_on"] = {"version": error.version, "content": getattr(error, "content", None)}
        dump = getattr(error.current, "model_dump", None)
        more["current"] = None if dump is None else dump(mode="json")
    return problem(status, str(error), instance, name, headers, **more)


def add_handlers(app: FastAPI) -> None:
    """Make every error of the application a problem."""

    async def invalid(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, RequestValidationError)
        found = [
            FieldError(field=".".join(map(str, each["loc"])), reason=str(each["msg"]).removeprefix("Value error, "))
            for each in exc.errors()[:20]
        ]
        broken = any(each["type"] == "json_invalid" for each in exc.errors())
        first = f"{found[0].field}: {found[0].reason}" if found else "the request is invalid"
        return problem(400 if broken else 422, first, request.url.path, "InvalidInput", errors=found)

    async def refused(request: Request, exc: Exception) -> Response:
        assert isinstance(exc, HTTPException)
        if exc.status_code == 400:  # the framework could not decode the body, and does not say why
            return problem(400, "the body cannot be read; send JSON in UTF-8", request.url.path, "InvalidInput")
        return problem(exc.status_code, str(exc.detail), request.url.path, "HttpError", exc.headers)

    async def failed(request: Request, exc: Exception) -> Response:
        return problem_of(exc, request.url.path)

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(errors.TreeringError, failed)
    app.add_exception_handler(Exception, failed)
