"""`memory.patterns`: what works, with the evidence for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from treering.core.conditions import Condition, condition_of, explain
from treering.core.episodes import OutcomeStatus, TraceEntry
from treering.core.errors import InvalidInput
from treering.core.history import HistoryEntry, LogInjection
from treering.core.patterns import Application, Pattern, PatternCategory, PatternContent, PatternStatus, TemplateSubtask
from treering.core.queries import ApplicationFilter, Order, PatternFilter
from treering.core.scope import Scope
from treering.core.settings import Settings
from treering.core.task_features import given_features
from treering.core.timestamps import timestamp_of
from treering.core.tokens import estimate_tokens
from treering.core.values import EMPTY
from treering.patterns.advice import PatternAdvisor
from treering.patterns.matching.index import IN_USE
from treering.patterns.mining.limits import MINING_LIMITS
from treering.patterns.recommendations import AfterFailure, TaskContext
from treering.ports.clock import Clock, NewId
from treering.ports.store import Store
from treering.task.api import Task
from treering.task.passages import RetrievedPassage

# Each verb imports its module when it is called: a process that uses one of them does not load mining and validation.
if TYPE_CHECKING:
    from treering.patterns.episode_learning import EpisodeLearning
    from treering.patterns.matching.ranking import RankedPattern
    from treering.patterns.mining.findings import MinedPattern
    from treering.patterns.mining.next_steps import Suggestion
    from treering.patterns.pruning import LowValuePattern
    from treering.patterns.reviews import PatternReview, RefinedPattern
    from treering.patterns.similarity import SimilarPattern
    from treering.patterns.transfer import PatternImport
    from treering.patterns.validation import SessionCount
    from treering.patterns.validation_stage import ValidatedPattern

ALL_PATTERNS = PatternFilter()


@dataclass(frozen=True, kw_only=True)
class Patterns:
    """One project's patterns: `memory.patterns`. Safe to share between threads."""

    scope: Scope
    store: Store
    clock: Clock
    new_id: NewId
    settings: Settings
    advisor: PatternAdvisor
    note_injection: LogInjection
    """Notes in the audit log which records were handed to a model."""

    def __repr__(self) -> str:
        return f"Patterns(project={self.scope.project!r})"

    def find_applicable(
        self,
        task: str,
        *,
        limit: int | None = None,
        statuses: Collection[PatternStatus | str] = IN_USE,
        categories: Collection[PatternCategory | str] | None = None,
        **features: Any,
    ) -> tuple[RankedPattern, ...]:
        """Patterns that apply to a task, best first, each with the terms of its score and the reason.

        Only validated patterns unless `statuses` names others. `features` (task_type, domain, complexity, tools, files,
        languages, context) override what is inferred from the words of the task.
        """
        return self.advisor.find_applicable(
            given_features(task, features), limit=limit, statuses=statuses, categories=categories
        )

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
        """What memory has for a new task; by default 3 patterns, 5 similar episodes and 5 pieces of knowledge.

        A `Task` also takes as much of it as fits into its working memory. `features` are those of `find_applicable`.
        Tainted records are left out unless `tainted` is set.
        """
        description = task.description if isinstance(task, Task) else task
        if not description or not description.strip():
            raise InvalidInput("the task is empty; say what is to be done")
        limits = {"patterns": patterns, "episodes": episodes, "known": known}
        found = self.advisor.for_task(description, **limits, statuses=statuses, tainted=tainted, **features)
        if isinstance(task, Task):
            task.add_passages(
                RetrievedPassage.make(id=each.id, source=each.source, text=each.text) for each in found.passages()
            )
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
        """What helps after a failure: proven recoveries, knowledge about it, similar failures, usual next steps.

        `history` lists the steps so far, the failed one last; entries may be mappings (tool, input, output, action).
        Tainted records are left out unless `tainted` is set.
        """
        found = self.advisor.after_failure(
            error, history=history, task=task, limit=limit, statuses=statuses, tainted=tainted, **features
        )
        self._note(found, "after_failure")
        return found

    def next_steps(
        self,
        history: Sequence[TraceEntry | Mapping[str, Any]] = (),
        *,
        features: Mapping[str, Any] = EMPTY,
        message: str | None = None,
        limit: int = 3,
    ) -> tuple[Suggestion, ...]:
        """The steps that usually follow `history`; after a failure, the steps that recovered from it before.

        `message` is an error message whose step is unknown.
        """
        return self.advisor.next_steps(history, features=features, message=message, limit=limit)

    def add(
        self,
        *,
        name: str,
        category: PatternCategory | str,
        content: PatternContent | Mapping[str, Any],
        id: str | None = None,
        **fields: Any,
    ) -> Pattern:
        """Store a new pattern. It starts as a candidate, whatever its author claims.

        `fields` are summary, description, explanation, applicability, guidance, links, visibility and metadata; nested
        values may be mappings.
        """
        from treering.patterns.storage import add_pattern

        given = {"name": name, "category": category, "content": content, **fields}
        return add_pattern(self.scope, self.store, self.clock(), self.new_id, id=id, **given)

    def get(self, id: str) -> Pattern:
        """The pattern with this id, deprecated ones included, with its uses counted up to now."""
        from treering.patterns.evidence import pattern_with_usage

        with self.store.reading(self.scope, self.clock()) as tx:
            return pattern_with_usage(tx, id)

    def list(self, where: PatternFilter = ALL_PATTERNS, *, limit: int = 50) -> tuple[Pattern, ...]:
        """Patterns that pass the filter, newest first."""
        with self.store.reading(self.scope, self.clock()) as tx:
            return tx.patterns.find(where, order=Order(by="created_at"), limit=limit).items

    def applications(self, id: str, *, limit: int = 50) -> tuple[Application, ...]:
        """Uses of a pattern with their outcomes, newest first, of every generation of its evidence.

        Includes those of patterns that were merged into it, until its evidence is reset.
        """
        from treering.patterns.evidence import evidence_parts

        with self.store.reading(self.scope, self.clock()) as tx:
            known = tx.patterns.get(id)
            ids = dict.fromkeys(part for part, _ in evidence_parts(known, tx.patterns.get)) if known else (id,)
            return tx.applications.find(
                ApplicationFilter.make(patterns=tuple(ids)), order=Order(by="at"), limit=limit
            ).items

    def sessions(self, id: str) -> tuple[SessionCount, ...]:
        """Outcomes by session, oldest first: the evidence behind the pattern's present status."""
        from treering.patterns.evidence import sessions_of_pattern

        return sessions_of_pattern(self.scope, self.store, self.clock(), id)

    def record_application(
        self,
        id: str,
        *,
        episode: str | None = None,
        outcome: OutcomeStatus | str | None = None,
        session: str | None = None,
        at: datetime | date | str | None = None,
        features: Mapping[str, Any] | None = None,
        task_type: str | None = None,
        time_saved_ms: float | None = None,
        cost_saved: float | None = None,
    ) -> Application:
        """Record one use of a pattern; the outcome is the episode's, or `outcome` if there is no episode.

        Arguments override what the episode says. An episode counts once: a second call returns the first application.
        Without an episode each call adds one.
        """
        from treering.patterns.applications import record_application

        given = {
            "outcome": outcome,
            "session": session,
            "at": None if at is None else timestamp_of(at, self.clock()),
            "features": features,
            "task_type": task_type,
            "time_saved_ms": time_saved_ms,
            "cost_saved": cost_saved,
        }
        return record_application(
            self.scope,
            self.store,
            self.clock(),
            self.new_id,
            id,
            episode=episode,
            settings=MINING_LIMITS,
            **given,
        )

    def update(self, id: str, **changes: Any) -> Pattern:
        """Store a new version and keep the old one. Evidence is reset if content or applicability changed."""
        from treering.patterns.storage import update_pattern

        return update_pattern(self.scope, self.store, self.clock(), id, **changes)

    def validate(self, *, dry_run: bool = False) -> tuple[ValidatedPattern, ...]:
        """Judge every pattern by its applications; patterns whose status changed come first."""
        from treering.patterns.validation_stage import validate

        return validate(self.scope, self.store, self.clock(), self.settings.patterns, dry_run=dry_run)

    def review(self, id: str) -> PatternReview:
        """Where the pattern failed and how it could be narrowed. Changes nothing."""
        from treering.patterns.reviews import review_pattern

        with self.store.reading(self.scope, self.clock()) as tx:
            return review_pattern(tx, id, self.settings.patterns)

    def refine(self, id: str, *, dry_run: bool = False) -> RefinedPattern:
        """Narrow the pattern by the condition that best separates its failures, if one does, and reset its evidence.

        `refinement.changes` describes what was added, `refinement.reason` why, or why nothing was.
        """
        from treering.patterns.reviews import refine_pattern

        return refine_pattern(self.scope, self.store, self.clock(), id, self.settings.patterns, dry_run=dry_run)

    def deprecate(self, id: str, reason: str, *, superseded_by: str | None = None) -> Pattern:
        """Take the pattern out of use for good; `undo` does not bring it back. The record and the reason are kept."""
        from treering.patterns.storage import deprecate_pattern

        return deprecate_pattern(self.scope, self.store, self.clock(), id, reason, superseded_by=superseded_by)

    def similar(self, id: str, *, limit: int = 5) -> tuple[SimilarPattern, ...]:
        """Patterns of the same category with similar content, most similar first."""
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; ask for at least one pattern")
        from treering.patterns.cleanup import similar_patterns

        with self.store.reading(self.scope, self.clock()) as tx:
            return tuple(similar_patterns(tx, id, limit))

    def merge(self, ids: Iterable[str]) -> Pattern:
        """Replace several patterns by one candidate with all their evidence; they are deprecated and name it."""
        from treering.patterns.cleanup import merge_patterns
        from treering.patterns.validation_stage import recount_evidence

        merged = merge_patterns(self.scope, self.store, self.clock(), self.new_id, tuple(ids))
        return recount_evidence(self.scope, self.store, self.clock(), merged, self.settings.patterns)

    def prune(self, *, dry_run: bool = False) -> tuple[LowValuePattern, ...]:
        """Deprecate patterns that are proven weak, contradicted or long unused; each with its reasons."""
        from treering.patterns.cleanup import prune_patterns

        return prune_patterns(self.scope, self.store, self.clock(), self.settings.patterns, dry_run=dry_run)

    def mine(self, *, dry_run: bool = False) -> tuple[MinedPattern, ...]:
        """Search all episodes for what works and store each finding as a candidate under its key.

        A pattern found again is updated, never duplicated; deprecated ones stay deprecated. The episodes a pattern was
        found in are not evidence for it: only episodes stored from now on are.
        """
        from treering.patterns.mining.stage import mine_patterns

        return mine_patterns(self.scope, self.store, self.clock(), MINING_LIMITS, dry_run=dry_run)

    def instantiate(self, id: str, /, **values: str) -> tuple[TemplateSubtask, ...]:
        """The subtasks of a template in the order of their dependencies; `values` fill its parameters."""
        from treering.patterns.storage import subtasks_of

        return subtasks_of(self.get(id), values)

    def export(self, format: str = "yaml", *, where: PatternFilter = ALL_PATTERNS) -> str:
        """Patterns as YAML or JSON that can be read and edited."""
        from treering.patterns.transfer import export_patterns

        with self.store.reading(self.scope, self.clock()) as tx:
            return export_patterns(tx, format, where)

    def import_(self, text: str) -> PatternImport:
        """Import what `export` wrote, all or nothing; returns the ids added, updated, and skipped with the reason.

        Imported patterns are candidates: status and evidence of the file go into their metadata and prove nothing.
        Patterns that equal the present or an earlier version here, or are deprecated here or in the file, are skipped.
        """
        from treering.patterns.transfer import import_patterns

        return import_patterns(self.scope, self.store, self.clock(), text)

    def versions(self, id: str) -> tuple[Pattern, ...]:
        """Earlier versions, latest first."""
        from treering.patterns.storage import earlier_versions, stored_pattern

        with self.store.reading(self.scope, self.clock()) as tx:
            return earlier_versions(tx, stored_pattern(tx, id).id)

    def history(self, id: str) -> tuple[HistoryEntry, ...]:
        """Audit entries of the pattern, newest first, also after it was removed.

        `detail` of a change of status has the status before and after and the evidence for it.
        """
        from treering.audit import history

        return history(self.scope, self.store, self.clock(), id)

    def explain(self, condition: Condition | Mapping[str, Any]) -> str:
        """A condition, or a mapping that describes one, in words."""
        return explain(condition_of(condition))

    def learn_from_episode(self, id: str) -> EpisodeLearning:
        """Which patterns an episode followed or named, and what that changed, in words."""
        from treering.patterns.episode_learning import learn_from_episode

        return learn_from_episode(self.scope, self.store, self.clock(), id)

    def _note(self, found: TaskContext | AfterFailure, via: str) -> None:
        self.note_injection([each.id for each in found.passages()], via=via, tokens=estimate_tokens(found.text()))
