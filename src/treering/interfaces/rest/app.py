"""The application: nouns, events, metrics, the panel, and other protocols beside them."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route as PlainRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from treering import __version__
from treering.compose import data_directory, now, repository_around
from treering.interfaces.rest import answers, panel
from treering.interfaces.rest.calls import PREFIX, Calls, Route, endpoint
from treering.interfaces.rest.events import EVENT_SCHEMA, EventFeeds
from treering.interfaces.rest.gate import RestGate
from treering.interfaces.rest.lifespans import started
from treering.interfaces.rest.memories import ProjectMemories
from treering.interfaces.rest.metrics import Metrics
from treering.interfaces.rest.nouns import (
    archive,
    code,
    context,
    conversations,
    entities,
    episodes,
    health,
    maintenance,
    patterns,
    records,
    rules,
    search,
    sessions,
    tasks,
    trust,
    turns,
)
from treering.interfaces.rest.openapi import DESCRIPTION, TAGS, completed, docs_page
from treering.interfaces.rest.problems import add_handlers, problem
from treering.interfaces.rest.sign_in import SignInCodes
from treering.interfaces.rest.system import PauseFolders, SystemRoutes, system_router
from treering.interfaces.servers.http.limits import HttpLimits
from treering.interfaces.servers.http.token import AccessToken
from treering.interfaces.servers.threads import CallThreads
from treering.location import pauses

NOUNS: Mapping[str, Iterable[Route]] = {
    "records": records.ROUTES,
    "search": search.ROUTES,
    "context": context.ROUTES,
    "turns": turns.ROUTES,
    "episodes": episodes.ROUTES,
    "patterns": patterns.ROUTES,
    "entities": entities.ROUTES,
    "code": code.ROUTES,
    "conversations": conversations.ROUTES,
    "sessions": sessions.ROUTES,
    "tasks": tasks.ROUTES,
    "rules": rules.ROUTES,
    "trust": trust.ROUTES,
    "maintenance": maintenance.ROUTES,
    "health": health.ROUTES,
    "archive": archive.ROUTES,
}


def application(
    memories: ProjectMemories,
    hosts: Iterable[str],
    token: AccessToken,
    limits: HttpLimits,
    *,
    codes: SignInCodes,
    mounted: Mapping[str, ASGIApp] | None = None,
    pause_folders: PauseFolders | None = None,
    clock: Callable[[], datetime] = now,
    dist: Path = panel.DIST,
) -> ASGIApp:
    """Everything behind the gate. `mounted` are applications of other protocols, by their exact path."""
    api = rest_api(memories, token, codes=codes, pause_folders=pause_folders, clock=clock, dist=dist)
    inner = Dispatcher(api, mounted or {})
    return RestGate(inner, hosts=hosts, token=token.text, limits=limits)


def rest_api(
    memories: ProjectMemories,
    token: AccessToken,
    *,
    codes: SignInCodes,
    pause_folders: PauseFolders | None = None,
    clock: Callable[[], datetime] = now,
    dist: Path = panel.DIST,
) -> FastAPI:
    """The API and the panel, without the checks of the gate."""
    threads = CallThreads()
    metrics = Metrics(memories, threads)
    calls = Calls(memories, threads, metrics)
    feeds = EventFeeds(memories, clock)
    system = SystemRoutes(
        calls, feeds, codes, token.text, (dist / "index.html").is_file, pause_folders or _pause_folders
    )

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        feeds.close()

    app = FastAPI(
        title="Treering",
        version=__version__,
        description=DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        openapi_tags=TAGS,
        generate_unique_id_function=lambda route: route.name,
        redirect_slashes=False,
    )
    add_handlers(app)
    app.include_router(system_router(system), prefix="/api/v1")
    app.include_router(_project_router(calls), prefix=PREFIX)
    document = completed(app)
    app.router.routes += [
        PlainRoute("/api/v1/openapi.json", document.get),
        PlainRoute("/api/v1/docs", lambda _request: HTMLResponse(docs_page(document.content))),
        PlainRoute("/api/{path:path}", _unknown, methods=_METHODS),
    ]
    for path, handler in (("/healthz", system.healthz), ("/readyz", system.readyz), ("/metrics", system.metrics)):
        app.add_api_route(path, handler, include_in_schema=False)
    app.add_api_route("/sign-in", system.open_link, include_in_schema=False)

    async def panel_page(path: str = "") -> Any:
        return panel.panel_file(path, dist)

    app.add_api_route("/", panel_page, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/{path:path}", panel_page, methods=["GET", "HEAD"], include_in_schema=False)
    app.state.calls = calls
    return app


_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


async def _unknown(request: Any) -> Any:
    return problem(404, "no such path; /api/v1/docs lists them", request.url.path, "NotFound")


def _pause_folders(project: str) -> tuple[str, ...]:
    return pauses.pause_folders(data_directory(), repository_around(None), None, project)


def _project_router(calls: Calls) -> APIRouter:
    router = APIRouter()
    for noun, routes in NOUNS.items():
        # Ids and names may contain slashes, so a path that ends with one would take longer paths too.
        for route in sorted(routes, key=lambda each: (each.path.endswith("}"), -each.path.count("{"))):
            responses: dict[int | str, dict[str, Any]] = {}
            if route.media_type is not None:
                schema = {"type": "string", **({"format": "binary"} if route.answer is bytes else {})}
                responses[route.status] = {
                    "content": {route.media_type: {"schema": schema}},
                    "description": "The file.",
                }
            router.add_api_route(
                route.path.replace("}", ":path}"),
                endpoint(route, calls),
                methods=[route.method],
                status_code=route.status,
                response_model=None if route.media_type else route.answer,
                summary=route.summary,
                tags=[noun],
                responses=responses,
            )
    router.add_api_route(
        "/ask/stream",
        answers.WrittenAnswers(calls).ask,
        methods=["POST"],
        name="stream_answer",
        summary="Ask a question, and stream a written answer",
        tags=["search"],
        response_model=None,
        response_class=StreamingResponse,
        responses={
            200: {"content": {answers.MEDIA_TYPE: {"schema": dict(EVENT_SCHEMA)}}, "description": "Events."},
        },
    )
    archives = archive.Archives(calls)
    router.add_api_route(
        "/export",
        archives.export,
        summary="Export the project",
        tags=["archive"],
        response_model=None,
        responses={200: {"content": {archive.LINES: {"schema": {"type": "string"}}}, "description": "Lines of JSON."}},
    )
    body = {"requestBody": {"required": True, "content": {archive.LINES: {"schema": {"type": "string"}}}}}
    for path, handler, answer, summary in (
        ("/import", archives.import_, archive.ImportAnswer, "Import an export"),
        ("/sessions/replay", archives.replay, archive.ReplayAnswer, "Observe recorded sessions"),
    ):
        router.add_api_route(
            path,
            handler,
            methods=["POST"],
            summary=summary,
            tags=["archive"],
            response_model=answer,
            openapi_extra=body,
        )
    return router


class Dispatcher:
    """Passes requests to the application of their path, and the start and end of the server to all of them.

    Adds the headers that keep a browser from loading anything else.
    """

    def __init__(self, app: ASGIApp, mounted: Mapping[str, ASGIApp]) -> None:
        self._app = app
        self._mounted = mounted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _run_lifespans([self._app, *self._mounted.values()], scope, receive, send)
            return
        app = self._mounted.get(scope["path"], self._app)

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message["headers"]}
                added = [(k.lower().encode(), v.encode()) for k, v in panel.HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *(p for p in added if p[0] not in known)]}
            await send(message)

        await app(scope, receive, sent)


async def _run_lifespans(apps: list[ASGIApp], scope: Scope, receive: Receive, send: Send) -> None:
    """Start all applications, then end them in reverse order."""
    await receive()
    async with AsyncExitStack() as stack:
        try:
            for app in apps:
                await stack.enter_async_context(started(app, scope))
        except Exception as exc:  # noqa: BLE001 - a server that cannot start says why and ends
            await send({"type": "lifespan.startup.failed", "message": str(exc)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})
