"""Routes and the one place where an async request becomes a call of the library in a thread."""

import asyncio
import inspect
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Annotated, Any

from fastapi import Header, Path, Request
from pydantic import TypeAdapter
from starlette.responses import Response

from treering.core.errors import InvalidInput, NotFound, RequestRepeated, StaleVersion
from treering.interfaces.rest.memories import ProjectMemories
from treering.interfaces.rest.metrics import Metrics
from treering.interfaces.rest.problems import problem, problem_of
from treering.interfaces.servers.threads import CallQueue, CallThreads
from treering.memory import Memory

PREFIX = "/api/v1/projects/{project}"
SECONDS: Mapping[CallQueue, float] = {CallQueue.READ: 30.0, CallQueue.WRITE: 30.0, CallQueue.SLOW: 600.0}
"""Time for a call of each queue; then the client gets an answer while the call runs to its end."""
_ETAG = re.compile(r'(?:W/)?"v(\d{1,18})"')
_MAX_KEY = 200

ProjectName = Annotated[str, Path(description="Name of the project.", examples=["demo"])]
RecordId = Annotated[str, Path(description="Id of the record.", examples=["01a1ec34-5ffc-772f-87ba-be0ba77ff769"])]
IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        description="`ETag` of the record that the change is based on; another version is a 409 with both.",
        examples=['"v1"'],
    ),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=_MAX_KEY,
        description="A key of your own for this request. It is carried out once; a repetition gets the same answer.",
    ),
]
Replay = Callable[[Memory, str | None, Mapping[str, Any]], Any]
"""The answer to a repeated request, from the id of the record that the first one returned and the arguments."""


def stored_record(memory: Memory, record: str | None, given: Mapping[str, Any]) -> Any:
    """The record that the first request returned, as it is now."""
    if record is None:
        raise NotFound("the request was carried out already, and its record is not known any more")
    return memory.get(record)


@dataclass(frozen=True, slots=True)
class Raw:
    """An answer that is not JSON."""

    content: bytes
    media_type: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Route:
    """One operation of the API. `work` gets the memory and the arguments that its signature declares.

    Its name is the operation id, its docstring the description.
    """

    method: str
    path: str
    work: Callable[..., Any]
    answer: Any
    summary: str
    queue: CallQueue = CallQueue.READ
    status: int = 200
    replay: Replay | None = None
    """Set if the request takes an `Idempotency-Key`."""
    versioned: bool = False
    """Whether the request takes an `If-Match` for the record `id`."""
    media_type: str | None = None
    """Set if the answer is not JSON."""

    @property
    def operation(self) -> str:
        return self.work.__name__.strip("_")

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.answer)

    def encoded(self, result: Any) -> bytes:
        adapter = self._adapter
        return adapter.dump_json(adapter.validate_python(result, from_attributes=True))


@dataclass(frozen=True, slots=True)
class CallRequest:
    """What a call needs to know about its request besides the arguments."""

    path: str
    content: str
    key: str | None = None
    if_match: str | None = None
    if_none_match: str | None = None


class Calls:
    """Runs routes in threads, with a time limit, and counts them."""

    def __init__(self, memories: ProjectMemories, threads: CallThreads, metrics: Metrics) -> None:
        self.memories = memories
        self.threads = threads
        self.metrics = metrics

    async def run(self, route: Route, project: str, request: CallRequest, given: Mapping[str, Any]) -> Response:
        begun = time.perf_counter()
        response = await self.in_thread(
            route.queue, request.path, partial(self._answered, route, project, request, given)
        )
        self.metrics.count(route.method, route.operation, response.status_code, time.perf_counter() - begun)
        return response

    async def in_thread(self, queue: CallQueue, path: str, work: Callable[[], Response]) -> Response:
        """Run a call in its queue; past its time, answer while it runs on."""
        running = asyncio.ensure_future(self.threads.run(queue, partial(_caught, work, path)))
        try:
            return await asyncio.wait_for(asyncio.shield(running), SECONDS[queue])
        except TimeoutError:
            why = f"the call takes longer than {SECONDS[queue]:.0f} seconds and still runs; look for its result later"
            return problem(504, why, path, "CallTimedOut")

    def _answered(self, route: Route, project: str, request: CallRequest, given: Mapping[str, Any]) -> Response:
        with self.memories.use(project) as memory:
            try:
                result = route.work(_conditional(memory, route, request, given), **given)
            except RequestRepeated as repeated:
                assert route.replay is not None
                result = route.replay(memory, repeated.record, given)
            except StaleVersion as stale:
                stale.content = _content_of(memory, stale)  # type: ignore[attr-defined]
                raise
            return _response(route, request, result)


def _caught(work: Callable[[], Response], path: str) -> Response:
    try:
        return work()
    except Exception as exc:  # noqa: BLE001 - the door: every error is reported as a problem
        return problem_of(exc, path)


def _conditional(memory: Memory, route: Route, request: CallRequest, given: Mapping[str, Any]) -> Memory:
    """The memory under the conditions of the request's headers."""
    key = request.key if route.replay is not None else None
    version = _version(request.if_match) if route.versioned else None
    if key is None and version is None:
        return memory
    versions = {} if version is None else {str(given["id"]): version}
    content = f"{route.operation} {request.path} {request.content}"
    return memory.conditional(request=key, content=content, versions=versions)


def _version(if_match: str | None) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return None
    found = _ETAG.fullmatch(if_match.strip())
    if found is None:
        raise InvalidInput(f"If-Match is {if_match!r}; pass the ETag of the record, unchanged")
    return int(found[1])


def etag(version: int) -> str:
    return f'"v{version}"'


def _content_of(memory: Memory, stale: StaleVersion) -> str | None:
    """The text of the version that the change was based on, if its revision is kept."""
    entries = memory.history(stale.current.id)
    return next((each.content_before for each in entries if each.version == stale.version), None)


def _response(route: Route, request: CallRequest, result: Any) -> Response:
    if isinstance(result, Response):
        return result
    if isinstance(result, Raw):
        return Response(result.content, route.status, dict(result.headers), result.media_type)
    headers = {}
    record = getattr(result, "record", result)
    if isinstance(version := getattr(record, "version", None), int):
        headers["ETag"] = etag(version)
        if route.method == "GET" and request.if_none_match == headers["ETag"]:
            return Response(None, 304, headers)
    return Response(route.encoded(result), route.status, headers, "application/json")


def endpoint(route: Route, calls: Calls) -> Callable[..., Awaitable[Response]]:
    """The async function that FastAPI calls, with the parameters of `work` and those of the request's headers."""
    given = list(inspect.signature(route.work).parameters.values())[1:]
    keyword = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in given]

    async def run(request: Request, project: str, **arguments: Any) -> Response:
        _check_conditions(request)
        call = CallRequest(
            path=request.url.path,
            content=await _content(request) if arguments.get("idempotency_key") else "",
            key=arguments.pop("idempotency_key", None),
            if_match=arguments.pop("if_match", None),
            if_none_match=request.headers.get("if-none-match"),
        )
        return await calls.run(route, project, call, arguments)

    parameters = [
        inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request),
        inspect.Parameter("project", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=ProjectName),
        *keyword,
    ]
    headers = {"idempotency_key": IdempotencyKey} if route.replay is not None else {}
    headers |= {"if_match": IfMatch} if route.versioned else {}
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in headers.items()
    ]
    run.__signature__ = inspect.Signature(parameters, return_annotation=Response)  # type: ignore[attr-defined]
    run.__name__ = route.operation
    run.__doc__ = inspect.getdoc(route.work)
    return run


def _check_conditions(request: Request) -> None:
    """Refuse a header that is sent twice: one of the two would be ignored."""
    for name in ("If-Match", "Idempotency-Key"):
        if len(request.headers.getlist(name)) > 1:
            raise InvalidInput(f"the request has several {name} headers; send one")


async def _content(request: Request) -> str:
    """Everything that a request asks for, in one order of its fields."""
    body = await request.body()
    try:
        asked = json.dumps(json.loads(body), sort_keys=True) if body else ""
    except ValueError:
        asked = body.decode("utf-8", "replace")
    return f"{request.url.query} {asked}"
