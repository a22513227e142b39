"""`memory.context`: text for a model within a token budget, session briefings and records to review."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from treering.core.fields import check_arguments
from treering.core.phases import PHASE_SHARES, Phase
from treering.search.api import SearchOptions
from treering.search.request import ALL_KNOWLEDGE

if TYPE_CHECKING:
    from datetime import datetime

    from treering.context.briefing import Briefing
    from treering.context.prefetch.ranking import PrefetchedFile
    from treering.core.history import LogInjection
    from treering.core.records import Knowledge
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.clock import Clock
    from treering.ports.store import Store
    from treering.render.budget import RenderedContext
    from treering.search.answer import Answer, Hit

MAX_RESULTS = 30  # results considered for a context, times the types of a phase: more than fit into the largest budget


@dataclass(frozen=True)
class ContextBuilder:
    """Contexts of one project. Safe to share between threads."""

    scope: Scope
    store: Store
    clock: Clock
    settings: Settings
    search: Callable[..., Answer]
    note_access: Callable[[Iterable[Hit], datetime], None]
    """Marks the results that are part of a context as accessed."""
    injected: LogInjection
    """Records in the audit log which records were handed to a model."""

    def __repr__(self) -> str:
        return f"ContextBuilder(project={self.scope.project!r})"

    def build(
        self,
        query: str,
        *,
        budget: int | None = None,
        phase: Phase | str | None = None,
        reflection: bool = True,
        rules: bool = True,
        session: str | None = None,
        tainted: bool = False,
        **options: Unpack[SearchOptions],
    ) -> RenderedContext:
        """Search results as cited text for a prompt, within a token budget; `options` are those of `Memory.search`.

        Applicable rules come first, the newest reflection last. Records of the current `session` are left out because
        the model has read them. Tainted records are left out unless `tainted` is set. The default budget is that of the
        phase.
        """
        from treering.context.current_session import without_session
        from treering.context.reflection import latest_reflection
        from treering.render.budget import render_context
        from treering.search.code_hits import names_code

        check_arguments("context.build", options, SearchOptions)
        knowledge = options.get("knowledge", ALL_KNOWLEDGE)
        narrowed = any(options.get(name) for name in ("where", "as_of", "precise")) or knowledge != ALL_KNOWLEDGE
        named_phase = None if phase is None else Phase.named(phase)
        # The types that the phase prefers would fill the first results, so fetch enough for the share of each type.
        results = MAX_RESULTS * (len(PHASE_SHARES[named_phase]) if named_phase else 1)
        defaults = {"limit": min(results, self.settings.search.limit_max), "thorough": False}
        defaults["code"] = names_code(options.get("where"))
        chosen = dict(options) if session is None else without_session(options, session)
        answer = self.search(query, phase=phase, tainted=tainted, note_access=False, **{**defaults, **chosen})
        # No reflection for historical or turns-only searches: it describes the present.
        reflects = reflection and options.get("as_of") is None and knowledge is not None
        rendered = render_context(
            answer.hits,
            phase=named_phase,
            budget=budget,
            settings=self.settings.context,
            reflection=latest_reflection(self.scope, self.store, self.clock(), tainted=tainted) if reflects else None,
            rules=self._rules(options.get("files", ()), named_phase, session) if rules and not narrowed else (),
        )
        shown = [item.id for item in rendered.items]
        if options.get("as_of") is None:
            self.note_access([hit for hit in answer if hit.id in shown], self.clock())
        self.injected(shown, via="context", tokens=rendered.tokens)
        return rendered

    def briefing(self, session: str | None = None, *, episodes: int = 5, tainted: bool = False) -> Briefing:
        """Records of the session, open work, rules and latest episodes, for a session that begins or resumes.

        With `tainted`, the session's records and the episodes include tainted ones.
        """
        from treering.context.briefing import briefing

        return briefing(self.scope, self.store, self.clock(), session, episodes, tainted=tainted)

    def prefetch(self, prompt: str, files: Sequence[str] = (), *, limit: int = 12) -> tuple[PrefetchedFile, ...]:
        """The files that a session with this first prompt will probably touch, the likeliest first.

        Ranked from finished sessions that were observed, co-access, commits and the code graph. `files` are those
        already at hand, relative to the root; they are not part of the result. Raises `InvalidInput` if `limit` is not
        from 1 to 100 or a file is outside the project.
        """
        from treering.context.prefetch.api import prefetch

        with self.store.reading(self.scope, self.clock()) as tx:
            return prefetch(tx, prompt, files, limit)

    def to_review(self, *, limit: int = 20) -> tuple[Knowledge, ...]:
        """Records that a person should confirm, correct or forget; flagged ones come first."""
        from treering.context.briefing import to_review

        return to_review(self.scope, self.store, self.clock(), limit)

    def _rules(self, files: Iterable[str], phase: Phase | None, session: str | None) -> list[Hit]:
        from treering.context.rules import applicable_rules, as_hits

        with self.store.reading(self.scope, self.clock()) as tx:
            return as_hits(applicable_rules(tx, files=files, phase=phase, session=session))
