"""What is done with patterns: told, applied, judged, narrowed, brought together, mined, carried elsewhere."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from treering.core.conditions import Condition, condition_of, explain
from treering.core.episodes import OutcomeStatus, TraceEntry, trace_of
from treering.core.errors import InvalidInput
from treering.core.history import HistoryEntry
from treering.core.patterns import Application, Pattern, PatternCategory, PatternContent, TemplateSubtask
from treering.core.queries import ApplicationFilter, Order, PatternFilter
from treering.core.scope import Scope
from treering.core.settings import Settings
from treering.core.timestamps import timestamp_of
from treering.core.values import EMPTY
from treering.patterns.mining.habit_cache import HabitsAtHand
from treering.ports.clock import Clock, NewId
from treering.ports.store import Store

if TYPE_CHECKING:
    from treering.patterns.episode_learning import Learned
    from treering.patterns.mining.findings import Mined
    from treering.patterns.mining.next_steps import Suggestion
    from treering.patterns.pruning import LowValue
    from treering.patterns.reviews import Refined, Review
    from treering.patterns.similarity import Similar
    from treering.patterns.transfer import TakenIn
    from treering.patterns.validation import SessionCount
    from treering.patterns.validation_stage import Validated

ALL_PATTERNS = PatternFilter()


@dataclass(frozen=True, kw_only=True)
class PatternCare:
    """One project's patterns: kept, judged and looked after. Safe to share between threads."""

    scope: Scope
    store: Store
    clock: Clock
    new_id: NewId
    settings: Settings
    habits: HabitsAtHand = field(default_factory=HabitsAtHand)

    def add(
        self,
        *,
        name: str,
        category: PatternCategory | str,
        content: PatternContent | Mapping[str, Any],
        id: str | None = None,
        **fields: Any,
    ) -> Pattern:
        """Keep a new pattern. It starts as a candidate, whoever says that it works.

        `fields` are what else is said of it: summary, description, explanation, applicability, guidance, links,
        visibility, metadata; parts may be given as mappings.
        """
        from treering.patterns.storage import add_pattern

        told = {"name": name, "category": category, "content": content, **fields}
        return add_pattern(self.scope, self.store, self.clock(), self.new_id, id=id, **told)

    def get(self, id: str) -> Pattern:
        """The pattern with this id, also when it is deprecated; its uses are counted up to now."""
        from treering.patterns.evidence import pattern_of

        with self.store.reading(self.scope, self.clock()) as tx:
            return pattern_of(tx, id)

    def list(self, where: PatternFilter = ALL_PATTERNS, *, limit: int = 50) -> tuple[Pattern, ...]:
        """Those that pass the filter, the newest first."""
        with self.store.reading(self.scope, self.clock()) as tx:
            return tx.patterns.find(where, order=Order(by="created_at"), limit=limit).items

    def applications(self, id: str, *, limit: int = 50) -> tuple[Application, ...]:
        """When a pattern was applied and what came of it, the newest first; of every generation of evidence.

        What it was merged from counts as well, as long as its evidence has not begun anew.
        """
        from treering.patterns.evidence import parts_of

        with self.store.reading(self.scope, self.clock()) as tx:
            known = tx.patterns.get(id)
            ids = dict.fromkeys(part for part, _ in parts_of(known, tx.patterns.get)) if known else (id,)
            return tx.applications.find(ApplicationFilter(patterns=tuple(ids)), order=Order(by="at"), limit=limit).items

    def sessions(self, id: str) -> "tuple[SessionCount, ...]":
        """What came of it session by session, the oldest first: what its present verdict rests on."""
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
        """A pattern was used. Of an episode, it is known what came of it; without one `outcome` says so.

        What is given goes before what the episode says. The same episode told twice counts once, and the first time
        stands; without an episode each call is one more application.
        """
        from treering.patterns.applications import record_application

        known = {
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
            settings=self.settings.mining,
            **known,
        )

    def update(self, id: str, **changes: Any) -> Pattern:
        """A new version; the one before is kept. Evidence begins anew where content or applicability changed."""
        from treering.patterns.storage import update_pattern

        return update_pattern(self.scope, self.store, self.clock(), id, **changes)

    def validate(self, *, dry_run: bool = False) -> "tuple[Validated, ...]":
        """Judge every pattern by its applications; what became of each, those whose status moved first."""
        from treering.patterns.validation_stage import validate

        return validate(self.scope, self.store, self.clock(), self.settings.patterns, dry_run=dry_run)

    def review(self, id: str) -> "Review":
        """Where it failed, and how it could be narrowed. Nothing is changed."""
        from treering.patterns.reviews import review_pattern

        with self.store.reading(self.scope, self.clock()) as tx:
            return review_pattern(tx, id, self.settings.patterns)

    def refine(self, id: str, *, dry_run: bool = False) -> "Refined":
        """Narrow it by the test that sets its failures apart best, where one does; its evidence begins anew.

        `refinement.changes` says in words what was added, `refinement.reason` why, or why nothing was.
        """
        from treering.patterns.reviews import refine_pattern

        return refine_pattern(self.scope, self.store, self.clock(), id, self.settings.patterns, dry_run=dry_run)

    def deprecate(self, id: str, reason: str, *, superseded_by: str | None = None) -> Pattern:
        """Take it out of use for good, also against `undo`. It is kept, with the reason and what takes its place."""
        from treering.patterns.storage import deprecate_pattern

        return deprecate_pattern(self.scope, self.store, self.clock(), id, reason, superseded_by=superseded_by)

    def similar(self, id: str, *, limit: int = 5) -> "tuple[Similar, ...]":
        """Patterns of its category that say much the same, the most alike first."""
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; ask for at least one pattern")
        from treering.patterns.cleanup import similar_patterns

        with self.store.reading(self.scope, self.clock()) as tx:
            return tuple(similar_patterns(tx, id, self.settings.patterns, limit))

    def merge(self, ids: Iterable[str]) -> Pattern:
        """One candidate in the place of several, with all their evidence; they are deprecated and name it."""
        from treering.patterns.cleanup import merge_patterns
        from treering.patterns.validation_stage import recounted

        made = merge_patterns(self.scope, self.store, self.clock(), self.new_id, tuple(ids))
        return recounted(self.scope, self.store, self.clock(), made, self.settings.patterns)

    def prune(self, *, dry_run: bool = False) -> "tuple[LowValue, ...]":
        """Deprecate what is proven weak, contradicted or long unused; each with its reasons."""
        from treering.patterns.cleanup import prune_patterns

        return prune_patterns(self.scope, self.store, self.clock(), self.settings.patterns, dry_run=dry_run)

    def mine(self, *, dry_run: bool = False) -> "tuple[Mined, ...]":
        """Look through all episodes for what works. Each find becomes a candidate under its key (`Mined.key`).

        Found again, a pattern is brought up to date, never doubled; what is deprecated stays so. The episodes it was
        found in are no evidence for it: only what is stored from now on is.
        """
        from treering.patterns.mining.stage import mine_patterns

        return mine_patterns(self.scope, self.store, self.clock(), self.settings.mining, dry_run=dry_run)

    def instantiate(self, id: str, /, **values: str) -> tuple[TemplateSubtask, ...]:
        """A template as subtasks, each after those it depends on; `values` are those of its parameters."""
        from treering.patterns.storage import instantiated

        return instantiated(self.get(id), values)

    def export(self, format: str = "yaml", *, where: PatternFilter = ALL_PATTERNS) -> str:
        """Patterns as text that people read and edit: YAML or JSON."""
        from treering.patterns.transfer import exported

        with self.store.reading(self.scope, self.clock()) as tx:
            return exported(tx, format, where)

    def import_(self, text: str) -> "TakenIn":
        """Take in what `export` wrote, all of it or nothing: the ids that were added, updated, and left with why.

        They come as candidates: what the file says of status and evidence is kept in their metadata, not believed. What
        is the same as here or as it was here before, or deprecated here or in the file, is left.
        """
        from treering.patterns.transfer import import_patterns

        return import_patterns(self.scope, self.store, self.clock(), text)

    def versions(self, id: str) -> tuple[Pattern, ...]:
        """How it was before each change, the latest first."""
        from treering.patterns.storage import earlier_versions, stored_pattern

        with self.store.reading(self.scope, self.clock()) as tx:
            return earlier_versions(tx, stored_pattern(tx, id).id)

    def history(self, id: str) -> tuple[HistoryEntry, ...]:
        """What happened to it, the newest first; `detail` has the status before and after, and the evidence for it.

        Also answers for a pattern that was removed.
        """
        from treering.audit import history

        return history(self.scope, self.store, self.clock(), id)

    def explain(self, condition: Condition | Mapping[str, Any]) -> str:
        """A condition in words; it may be given as a mapping."""
        return explain(condition_of(condition))

    def learn_from_episode(self, id: str) -> "Learned":
        """What an episode taught: which patterns it followed or named, and what that changed, in words."""
        from treering.patterns.episode_learning import learn_from_episode

        return learn_from_episode(self.scope, self.store, self.clock(), id, self.settings)

    def next_steps(
        self,
        history: Sequence[TraceEntry | Mapping[str, Any]] = (),
        *,
        features: Mapping[str, Any] = EMPTY,
        message: str | None = None,
        limit: int = 3,
    ) -> "tuple[Suggestion, ...]":
        """The steps that usually follow what was done so far; after a failure, those that got out of such ones.

        `message` is that of a failure where nobody can say which step failed.
        """
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; ask for at least one step")
        now = self.clock()
        with self.store.reading(self.scope, now) as tx:
            done = trace_of(history, now)
            return self.habits.next_steps(tx, done, self.settings, features=features, message=message, limit=limit)

    def failure_features(self, message: str, failed: TraceEntry | None = None) -> Mapping[str, Any]:
        """What recoveries ask of a task that has just met this failure, of this step where that is known."""
        from treering.patterns.mining.recoveries import failure_features
        from treering.patterns.mining.steps import step_of

        return failure_features(message, None if failed is None else step_of(failed), self.settings.mining)
