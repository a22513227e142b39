"""The door to what works: patterns are found and looked after in their rooms, and brought into a task here."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treering.core.episodes import TraceEntry
from treering.core.errors import InvalidInput
from treering.core.history import LogInjection
from treering.core.patterns import PatternStatus
from treering.core.tokens import estimate_tokens
from treering.patterns.advice import PatternSearch
from treering.patterns.matching.index import IN_USE
from treering.patterns.operations import PatternCare
from treering.patterns.recommendations import AfterFailure, TaskContext
from treering.task.api import Task
from treering.task.retrieved import Retrieved


@dataclass(frozen=True, kw_only=True)
class Patterns(PatternSearch, PatternCare):
    """One project's patterns: `memory.patterns`. Safe to share between threads.

    `injected` notes in the audit log what is made for a prompt.
    """

    injected: LogInjection

    def context_for_task(
        self,
        task: str | Task,
        *,
        patterns: int | None = None,
        episodes: int | None = None,
        known: int | None = None,
        statuses: Collection[PatternStatus | str] = IN_USE,
        tainted: bool = False,
        **features: Any,
    ) -> TaskContext:
        """What memory has for a task that begins: 3 patterns, 5 similar episodes, 5 pieces of knowledge.

        A `Task` gets as much of it as fits into its working memory, among what was retrieved. `features` are those of
        `find_applicable`. Nothing is tainted unless that is asked for.
        """
        about = task.description if isinstance(task, Task) else task
        if not about or not about.strip():
            raise InvalidInput("there is no task to look for; say what is to be done")
        most = {"patterns": patterns, "episodes": episodes, "known": known}
        found = self.context(about, **most, statuses=statuses, tainted=tainted, **features)
        if isinstance(task, Task):
            task.take_in(Retrieved.make(id=each.id, source=each.source, text=each.text) for each in found.passages())
        else:
            self._note(found, "context_for_task")
        return found

    def after_failure(
        self,
        error: str,
        *,
        history: Sequence[TraceEntry | Mapping[str, Any]] = (),
        task: str = "",
        limit: int | None = None,
        statuses: Collection[PatternStatus | str] = IN_USE,
        tainted: bool = False,
        **features: Any,
    ) -> AfterFailure:
        """What helps after a failure: proven recoveries, what is known of it, similar failures, usual steps.

        `history` is what was done so far, the failed step last; entries may be mappings (tool, input, output, action).
        Nothing is tainted unless that is asked for.
        """
        found = self.failed(
            error, self, history=history, task=task, limit=limit, statuses=statuses, tainted=tainted, **features
        )
        self._note(found, "after_failure")
        return found

    def _note(self, found: TaskContext | AfterFailure, via: str) -> None:
        self.injected([each.id for each in found.passages()], via=via, tokens=estimate_tokens(found.text()))
