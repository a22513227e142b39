"""Routes beside those of a project: projects, sign-in, events, health, metrics and descriptions of the API."""

import hmac
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse

from treering import __version__
from treering.core.injections import InjectionPoint
from treering.interfaces.rest.calls import Calls, ProjectName
from treering.interfaces.rest.events import EVENT_SCHEMA, EventFeeds, ServerEvent
from treering.interfaces.rest.metrics import MEDIA_TYPE as METRICS_TYPE
from treering.interfaces.rest.problems import problem
from treering.interfaces.rest.schemas import Answered, Asked
from treering.interfaces.rest.sign_in import COOKIE_SECONDS, SignInCodes, cookie_name, cookie_value
from treering.interfaces.servers.threads import CallQueue
from treering.location import pauses

SIGNED_IN = "/"
PauseFolders = Callable[[str], tuple[str, ...]]
"""Folders in which the hooks of a project's repository look for pauses."""


class PauseBody(Asked):
    """What to pause; without a session or points, everything until `until` or the next resume."""

    until: datetime | None = None
    session: str | None = None
    inject_only: bool = Field(default=False, description="Give agents nothing, but go on observing.")
    points: tuple[InjectionPoint, ...] = ()


class PausesAnswer(Answered):
    """The pauses of the repository that the server runs in."""

    observe: str | None = Field(description="`forever`, or until when nothing is observed or injected.")
    inject: str | None = Field(description="`forever`, or until when nothing is injected.")
    sessions: dict[str, str]
    points: list[str]


class ProjectAnswer(Answered):
    """Size of a project: numbers of records, characters of text and bytes of blobs."""

    project: str
    knowledge: int = 0
    turns: int = 0
    episodes: int = 0
    characters: int = 0
    blob_bytes: int = 0


class ProjectsAnswer(Answered):
    """The projects of the database, and the one that the server was started for."""

    projects: list[ProjectAnswer]
    default: str


class ServerAnswer(Answered):
    """What is served."""

    version: str
    default_project: str
    engine: str
    panel: bool = Field(description="Whether the panel is built.")


class SignInRequest(Asked):
    token: str = Field(description="The token of the server.")


class SignedIn(Answered):
    signed_in: bool


@dataclass(frozen=True, slots=True)
class SystemRoutes:
    """Handlers that need more than a memory."""

    calls: Calls
    feeds: EventFeeds
    codes: SignInCodes
    token: str
    has_panel: Callable[[], bool]
    pause_folders: PauseFolders

    async def get_pauses(self, request: Request, project: ProjectName) -> Response:
        """What the hooks of coding agents do not do now."""
        return await self._pauses(request, project, pauses.pauses)

    async def pause(self, request: Request, project: ProjectName, body: PauseBody | None = None) -> Response:
        """Pause memory: hooks of coding agents observe nothing and inject nothing."""
        given = (body or PauseBody()).model_dump()
        return await self._pauses(request, project, lambda folders: pauses.pause(folders, pauses.PauseRequest(**given)))

    async def resume(
        self,
        request: Request,
        project: ProjectName,
        session: Annotated[str | None, Query(description="Only that of this session.")] = None,
        points: Annotated[Sequence[InjectionPoint], Query(description="Only those of these points.")] = (),
    ) -> Response:
        """End every pause, or that of a session or of points."""
        return await self._pauses(
            request, project, lambda folders: pauses.resume(folders, session=session, points=points)
        )

    async def _pauses(
        self, request: Request, project: str, work: Callable[[tuple[str, ...]], dict[str, Any]]
    ) -> Response:
        def call() -> PausesAnswer:
            with self.calls.memories.use(project):
                return PausesAnswer(**work(self.pause_folders(project)))

        return await self._in_thread(request, call, CallQueue.WRITE)

    async def list_projects(self, request: Request) -> Response:
        """The projects of the database with their sizes, and the default project."""
        return await self._in_thread(request, self._projects)

    async def create_project(self, request: Request, project: ProjectName) -> Response:
        """Create a project, or do nothing if it exists."""
        return await self._in_thread(request, partial(self._create, project), CallQueue.WRITE)

    async def get_server(self, request: Request) -> Response:
        """Version of the server, its default project and its engine."""
        return await self._in_thread(request, self._server)

    async def sign_in(self, request: Request, body: SignInRequest) -> Response:
        """Exchange the token for the cookie of the panel."""
        if not hmac.compare_digest(body.token.encode(), self.token.encode()):
            return problem(401, "this is not the token of this server", request.url.path, "Refused")
        return self._with_cookie(
            request, Response(SignedIn(signed_in=True).model_dump_json(), media_type="application/json")
        )

    async def sign_out(self, request: Request) -> Response:
        """Delete the cookie of the panel."""
        response = Response(SignedIn(signed_in=False).model_dump_json(), media_type="application/json")
        response.delete_cookie(cookie_name(request.headers["host"]), httponly=True, samesite="strict")
        return response

    async def open_link(self, request: Request, code: Annotated[str, Query(max_length=200)] = "") -> Response:
        """Sign in to the panel by a link that works once."""
        if not self.codes.use(code):
            return HTMLResponse(_USED_LINK, 403)
        return self._with_cookie(request, RedirectResponse(SIGNED_IN, 303, {"Cache-Control": "no-store"}))

    async def stream_events(
        self,
        request: Request,
        project: ProjectName,
        last_event_id: Annotated[
            str | None, Header(alias="Last-Event-ID", description="Id of the last event that was received.")
        ] = None,
    ) -> Response:
        """Changes of records, jobs, runs and sessions, as server-sent events.

        Events are `record`, `jobs`, `runs`, `sessions`, and `reset` if events were lost. Comments are heartbeats.
        """
        missed: list[ServerEvent] = []

        def begin() -> Response:
            with self.calls.memories.use(project):
                missed.extend(self.feeds.of(project).missed(last_event_id) if last_event_id else [])
            return Response()

        begun = await self.calls.in_thread(CallQueue.READ, request.url.path, begin)
        if begun.status_code != 200:
            return begun
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._counted(project, missed), media_type="text/event-stream", headers=headers)

    async def healthz(self) -> Response:
        """Whether the process answers."""
        return PlainTextResponse("ok\n")

    async def readyz(self, request: Request) -> Response:
        """Whether the database answers."""
        return await self.calls.in_thread(CallQueue.READ, request.url.path, self._ready)

    async def metrics(self, request: Request) -> Response:
        """Metrics in the text format of Prometheus."""
        work = self.calls.metrics.text
        return await self.calls.in_thread(
            CallQueue.READ, request.url.path, lambda: Response(work(), media_type=METRICS_TYPE)
        )

    async def _counted(self, project: str, missed: list[ServerEvent]) -> Any:
        self.calls.metrics.event_streams += 1
        try:
            async for text in self.feeds.stream(project, missed):
                yield text
        finally:
            self.calls.metrics.event_streams -= 1

    async def _in_thread(
        self, request: Request, work: Callable[[], Answered], queue: CallQueue = CallQueue.READ
    ) -> Response:
        return await self.calls.in_thread(
            queue, request.url.path, lambda: Response(work().model_dump_json(), media_type="application/json")
        )

    def _projects(self) -> ProjectsAnswer:
        memories = self.calls.memories
        with memories.use(memories.default) as memory:
            found = [ProjectAnswer.model_validate(each) for each in memory.projects()]
        if all(each.project != memories.default for each in found):
            found.insert(0, ProjectAnswer(project=memories.default))
        return ProjectsAnswer(projects=found, default=memories.default)

    def _create(self, project: str) -> ProjectAnswer:
        with self.calls.memories.use(project, create=True) as memory:
            stats = memory.stats()
        records = stats.records
        return ProjectAnswer(
            project=project,
            knowledge=records["knowledge"],
            turns=records["turns"],
            episodes=records["episodes"],
        )

    def _server(self) -> ServerAnswer:
        memories = self.calls.memories
        with memories.use(memories.default) as memory:
            return ServerAnswer(
                version=__version__,
                default_project=memories.default,
                engine=memory.store.engine,
                panel=self.has_panel(),
            )

    def _ready(self) -> Response:
        memories = self.calls.memories
        with memories.use(memories.default) as memory:
            memory.page("audit", limit=1)
        return PlainTextResponse("ready\n")

    def _with_cookie(self, request: Request, response: Response) -> Response:
        response.set_cookie(
            cookie_name(request.headers["host"]),
            cookie_value(self.token, time.time()),
            max_age=COOKIE_SECONDS,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response


_USED_LINK = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Treering</title>
<h1>This link was used or is too old</h1>
<p>A link works once and for a few minutes. Restart <code>treering serve --open</code>,
or sign in with the token.</p></html>"""


def system_router(routes: SystemRoutes) -> APIRouter:
    """The routes under /api/v1 that no noun has."""
    router = APIRouter()
    add = router.add_api_route
    add("/projects", routes.list_projects, response_model=ProjectsAnswer, tags=["projects"], summary="List projects")
    add(
        "/projects/{project}",
        routes.create_project,
        methods=["PUT"],
        response_model=ProjectAnswer,
        tags=["projects"],
        summary="Create a project",
    )
    add("/server", routes.get_server, response_model=ServerAnswer, tags=["server"], summary="Describe the server")
    add("/sign-in", routes.sign_in, methods=["POST"], response_model=SignedIn, tags=["server"], summary="Sign in")
    add("/sign-out", routes.sign_out, methods=["POST"], response_model=SignedIn, tags=["server"], summary="Sign out")
    for method, handler, summary in (
        ("GET", routes.get_pauses, "List pauses"),
        ("POST", routes.pause, "Pause memory"),
        ("DELETE", routes.resume, "End pauses"),
    ):
        add(
            "/projects/{project}/pauses",
            handler,
            methods=[method],
            response_model=PausesAnswer,
            tags=["pauses"],
            summary=summary,
        )
    add(
        "/projects/{project}/events",
        routes.stream_events,
        tags=["events"],
        summary="Stream changes",
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {"schema": dict(EVENT_SCHEMA)}}, "description": "Events."}},
    )
    return router
