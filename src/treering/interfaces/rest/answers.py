"""Written answers as server-sent events: quotations first, then sentences as a language model writes them."""

from collections.abc import AsyncIterator, Generator
from dataclasses import asdict
from typing import Any

from anyio import CancelScope, CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from treering.core.answers import AnswerEnd
from treering.interfaces.rest.calls import Calls, ProjectName
from treering.interfaces.rest.events import ServerEvent
from treering.interfaces.rest.nouns.search import AskRequest, extractive_answer
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory

MEDIA_TYPE = "text/event-stream"
EVENT_SCHEMA = {
    "type": "object",
    "properties": {
        "event": {"type": "string", "enum": ["quotations", "sentence", "end"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "data"],
}
MAX_ANSWERS = 4
"""Answers that are written at the same time; they wait for a model and hold no connection of the store."""


class WrittenAnswers:
    """The route whose answer is a stream of sentences."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._threads = CapacityLimiter(MAX_ANSWERS)

    async def ask(self, request: Request, project: ProjectName, body: AskRequest) -> Response:
        """Answer a question in sentences that the configured language model writes from stored records.

        Events: `quotations`, the extractive answer; `sentence` for each sentence with the numbers of its citations,
        once they are checked; `end` with its status: written, not_found, unsupported (no sentence had a valid
        citation) or unavailable (no model is configured, or it failed: `reason`). A sentence without a valid citation
        is only listed in `left_out`.
        """
        memories = self._calls.memories
        opened: list[tuple[Memory, Any]] = []

        def begin() -> Response:
            memory = memories.take(project)
            try:
                quoted = memory.context.answer(body.question, limit=body.limit, tainted=body.tainted, thorough=False)
                opened.append((memory, quoted))
            except BaseException:
                memories.release(memory)
                raise
            return Response()

        begun = await self._calls.in_thread(CallQueue.READ, request.url.path, begin)
        if not opened:
            return begun
        memory, quoted = opened[0]
        events = _events(memory, quoted)

        async def sent() -> AsyncIterator[str]:
            try:
                while (event := await to_thread.run_sync(next, events, None, limiter=self._threads)) is not None:
                    yield event.text()
            finally:
                with CancelScope(shield=True):  # a client that has left must not leave the model writing
                    await to_thread.run_sync(events.close, limiter=self._threads)
                memories.release(memory)

        return StreamingResponse(sent(), media_type=MEDIA_TYPE, headers={"Cache-Control": "no-store"})


def _events(memory: Memory, quoted: Any) -> Generator[ServerEvent]:
    yield ServerEvent("quotations", extractive_answer(quoted).model_dump(mode="json"))
    for part in memory.context.write_answer(quoted):
        yield ServerEvent("end" if isinstance(part, AnswerEnd) else "sentence", asdict(part))
