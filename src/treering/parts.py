"""What a memory is put together from, and where two rooms meet that do not know each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING

from treering.core.errors import NotFound, TreeringError
from treering.core.queries import TurnFilter
from treering.core.turns import Turn
from treering.core.values import LABELS

if TYPE_CHECKING:
    from treering.archive.backup import OpenEmbedded
    from treering.code.api import Code
    from treering.code.sources import Surroundings
    from treering.conversation.stored_window import FoundAgain
    from treering.core.settings import Settings
    from treering.jobs.worker import Worker
    from treering.maintenance.api import Upkeep
    from treering.maintenance.background import Background
    from treering.maintenance.doctor import LocationStatus
    from treering.maintenance.health_report import HealthReport
    from treering.ports.blobs import Blobs
    from treering.ports.clock import Clock, NewId
    from treering.ports.models import Models
    from treering.ports.store import Store
    from treering.ports.tokens import Tokenizer
    from treering.search.answer import Answer
    from treering.search.code_hits import CodeRequest


@dataclass(frozen=True)
class Ports:
    """Everything a memory needs from outside."""

    store: Store
    blobs: Blobs
    make_workers: Callable[[], tuple[Worker, Upkeep[HealthReport]]]
    stop: Event
    """Ends every worker of this memory once it is set."""
    background: Background | None
    models: Models
    tokenizers: Callable[[str], Tokenizer]
    clock: Clock
    new_id: NewId
    open_embedded: OpenEmbedded
    surroundings: Callable[[], Surroundings]
    location_status: Callable[[], LocationStatus]
    version: str

    @property
    def worker(self) -> Worker:
        return self._working[0]

    @cached_property
    def upkeep(self) -> Upkeep[HealthReport]:
        upkeep = self._working[1]
        return upkeep if self.background is None else replace(upkeep, others=(self.background.check,))

    @cached_property
    def _working(self) -> tuple[Worker, Upkeep[HealthReport]]:
        # Made on demand: most calls queue no job and ask nothing of maintenance, whose parts take long to import.
        return self.make_workers()


@dataclass(frozen=True, slots=True)
class AmongRemoved:
    """Looks among some turns of a session."""

    settings: Settings
    recall: Callable[..., Answer]

    def __call__(self, query: str, session: str, ids: Sequence[str], limit: int) -> FoundAgain:
        from treering.conversation.stored_window import FoundAgain

        if not ids:
            return FoundAgain(())
        where = TurnFilter(sessions=(session,), ids=tuple(ids) if len(ids) <= LABELS else ())
        most = limit if where.ids else max(limit, self.settings.recall.candidates)
        answer = self.recall(query, knowledge=None, turns=where, limit=most, thorough=False)
        wanted = frozenset(ids)
        turns = [hit.record for hit in answer if isinstance(hit.record, Turn) and hit.id in wanted]
        return FoundAgain(tuple(turns[:limit]), answer.missing)


_OF_CODE = {
    "meaning": "meaning of code",
    "meaning of some": "meaning of some code",
    "stored vectors": "stored vectors of code",
}
"""What code was searched without, as an answer about more than code calls it."""


def with_code(answer: Answer, code: Callable[[], Code], request: CodeRequest, *, private: bool) -> Answer:
    """The answer with places in the code ranked among its results. Whatever fails costs the places only."""
    from treering.search.code_hits import ranked_together

    began, missing = perf_counter(), dict(answer.missing)
    try:
        found = code().where(answer.query, limit=request.most, where=request.where, hurried=True, private=private)
    except NotFound:
        return answer
    except TreeringError as exc:
        return replace(answer, missing={**missing, "code": str(exc)})
    if not found.standing.whole:
        missing["some code"] = "its index is not complete, or files changed and were not read again yet"
    missing |= {_OF_CODE[part]: why for part, why in found.missing.items()}
    took = {**answer.milliseconds, "code": 1_000 * (perf_counter() - began)}
    answer = replace(answer, missing=missing, milliseconds=took)
    return ranked_together(answer, found.places, request)
