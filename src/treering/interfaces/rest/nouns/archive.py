"""Export, import and backup."""

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from anyio import CapacityLimiter, fail_after, to_thread
from fastapi import Query
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from treering.compose import data_directory, now
from treering.interfaces.rest.calls import Calls, ProjectName, Route
from treering.interfaces.rest.problems import problem
from treering.interfaces.rest.schemas import Answered
from treering.interfaces.servers.threads import CallQueue
from treering.location.private_files import ensure_private_folder
from treering.memory import Memory

MAX_UPLOAD_BYTES = 1024 * 1024 * 1024
UPLOAD_SECONDS = 600.0
LINES = "application/x-ndjson"
_BATCH = 256 * 1024
"""Bytes of lines that are sent at a time."""


class BackupAnswer(Answered):
    """The file that was written on the server's machine; blobs are in a folder beside it."""

    path: str
    at: datetime


class ImportAnswer(Answered):
    """Numbers of added and of known records, and the conflicting ones, left unchanged."""

    added: int
    known: int
    conflicts: list[str]
    skipped: dict[str, int]


class ReplayAnswer(Answered):
    """What was observed of recorded sessions."""

    sessions: int
    known: int
    elsewhere: int
    promoted: int
    reinforced: int


def backup(memory: Memory) -> BackupAnswer:
    """Copy the memory to a SQLite file in the data folder of the server."""
    at = now()
    folder = ensure_private_folder(data_directory() / "backups")
    name = "".join(each if each.isalnum() or each in "-_." else "_" for each in memory.scope.project)
    return BackupAnswer(path=str(memory.backup(folder / f"{name}-{at:%Y%m%dT%H%M%S%f}.db")), at=at)


ROUTES = (Route("POST", "/backup", backup, BackupAnswer, "Back the memory up", CallQueue.SLOW),)

_IMPORT: TypeAdapter[Any] = TypeAdapter(ImportAnswer)
_REPLAY: TypeAdapter[Any] = TypeAdapter(ReplayAnswer)
History = Annotated[bool, Query(description="Include deleted records, earlier versions and the audit log.")]


class Archives:
    """The routes whose bodies are streams."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._exports = CapacityLimiter(2)

    async def export(self, request: Request, project: ProjectName, history: History = False) -> Response:
        """The whole project as lines of JSON, sent while they are read."""
        memories = self._calls.memories
        opened: list[Memory] = []

        def begin() -> Response:
            opened.append(memories.take(project))
            return Response()

        begun = await self._calls.in_thread(CallQueue.READ, request.url.path, begin)
        if not opened:
            return begun
        batches = _batches(opened[0].export_lines(history=history))

        async def sent() -> AsyncIterator[bytes]:
            try:
                while (batch := await to_thread.run_sync(next, batches, None, limiter=self._exports)) is not None:
                    yield batch
            finally:
                memories.release(opened[0])

        headers = {"Content-Disposition": 'attachment; filename="treering-export.jsonl"'}
        return StreamingResponse(sent(), media_type=LINES, headers=headers)

    async def import_(self, request: Request, project: ProjectName) -> Response:
        """Read an export into the project: all of it or nothing. Importing twice has the effect of once."""
        return await self._uploaded(request, project, _IMPORT, lambda memory, file: memory.import_(file))

    async def replay(self, request: Request, project: ProjectName) -> Response:
        """Observe the recorded sessions in a file: a transcript of Claude Code, Codex or Gemini CLI, or events."""
        return await self._uploaded(request, project, _REPLAY, lambda memory, file: memory.sessions.replay([file]))

    async def _uploaded(
        self, request: Request, project: str, adapter: TypeAdapter[Any], work: Callable[[Memory, Path], Any]
    ) -> Response:
        """Call the library with a file that holds the body."""
        with TemporaryDirectory(prefix="treering-upload-") as folder:
            file = Path(folder) / "upload.jsonl"
            try:
                with fail_after(UPLOAD_SECONDS):
                    too_long = await _saved(request, file)
            except TimeoutError:
                return problem(408, "the file did not arrive in time; send it again", request.url.path, "TooSlow")
            if too_long:
                why = f"the file has more than {MAX_UPLOAD_BYTES:,} bytes; import it with `treering import`"
                return problem(413, why, request.url.path, "TooLarge")

            def call() -> Response:
                with self._calls.memories.use(project) as memory:
                    result = adapter.validate_python(work(memory, file), from_attributes=True)
                return Response(adapter.dump_json(result), media_type="application/json")

            return await self._calls.in_thread(CallQueue.SLOW, request.url.path, call)


async def _saved(request: Request, file: Path) -> bool:
    """Write the body to a file; whether it is too long."""
    size = 0
    with file.open("wb") as writing:
        async for chunk in request.stream():
            size += len(chunk)
            if size > MAX_UPLOAD_BYTES:
                return True
            writing.write(chunk)
    return False


def _batches(lines: Iterator[str]) -> Iterator[bytes]:
    waiting, size = list[bytes](), 0
    for line in lines:
        waiting.append(line.encode(errors="backslashreplace") + b"\n")
        size += len(waiting[-1])
        if size >= _BATCH:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)
