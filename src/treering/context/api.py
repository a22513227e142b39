"""`memory.context`: text for a model within a token budget, session briefings and records to review."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from treering.core.errors import InvalidInput
from treering.core.fields import check_arguments
from treering.core.phases import PHASE_SHARES, Phase
from treering.search.api import SearchOptions
from treering.search.request import ALL_KNOWLEDGE

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from treering.code.files.outer_ignore_rules import GitHome
    from treering.context.answers import QuotedAnswer
    from treering.context.briefing import Briefing
    from treering.context.prefetch.ranking import PrefetchedFile
    from treering.context.stages.calibration import Calibration
    from treering.context.stages.planning import StageRequest
    from treering.context.stages.stage_context import StageContext
    from treering.core.answers import AnswerEnd, AnswerSentence
    from treering.core.history import LogInjection
    from treering.core.records import Knowledge
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.clock import Clock
    from treering.ports.models import Models
    from treering.ports.store import Store, Transaction
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
    models: Models
    search: Callable[..., Answer]
    note_access: Callable[[Iterable[Hit], datetime], None]
    """Marks the results that are part of a context as accessed."""
    injected: LogInjection
    """Records in the audit log which records were handed to a model."""
    git_home: Callable[[], GitHome | None]
    """Where git keeps the user's global ignore rules."""

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
        from treering.core.methodologies import phase_named
        from treering.render.budget import render_context
        from treering.search.code_hits import names_code

        check_arguments("context.build", options, SearchOptions)
        knowledge = options.get("knowledge", ALL_KNOWLEDGE)
        narrowed = any(options.get(name) for name in ("where", "as_of", "precise")) or knowledge != ALL_KNOWLEDGE
        named_phase = None if phase is None else phase_named(phase)
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

    def answer(self, question: str, *, limit: int = 5, tainted: bool = False, thorough: bool = True) -> QuotedAnswer:
        """The stored passages that answer a question, numbered; none if nothing stored answers it.

        Nothing is written by a model. Unconfirmed records from outside are left out unless `tainted` is set; `thorough`
        is that of `search`: leave it out before `write_answer`, so that the model is called once. Raises
        `InvalidInput` if the question is empty.
        """
        from treering.context.answers import quoted_answer

        if not question.strip():
            raise InvalidInput("the question is empty; say what you want to know")
        found = self.search(question, limit=limit, tainted=tainted, thorough=thorough, code=False)
        quoted = quoted_answer(question, found)
        self.injected([each.id for each in quoted.passages], via="ask")
        return quoted

    def write_answer(self, quoted: QuotedAnswer) -> Iterator[AnswerSentence | AnswerEnd]:
        """An answer that the configured language model writes from the passages, sentence by sentence.

        A sentence is returned once its citations are checked; one without a valid citation, or with a figure that its
        passages do not contain, is left out. The last item is an `AnswerEnd`, which also says if there is no model.
        """
        from treering.context.answers import AnswerWriter

        writer = AnswerWriter(self.scope, self.store, self.settings, self.models)
        return writer.write(quoted, self.clock())

    def briefing(self, session: str | None = None, *, episodes: int = 5, tainted: bool = False) -> Briefing:
        """Records of the session, open work, rules and latest episodes, for a session that begins or resumes.

        With `tainted`, the session's records and the episodes include tainted ones.
        """
        from treering.context.briefing import briefing

        return briefing(self.scope, self.store, self.clock(), session, episodes, tainted=tainted)

    def prefetch(
        self,
        prompt: str,
        files: Sequence[str] = (),
        *,
        limit: int = 12,
        contents: bool = False,
        budget: int = 32_000,
        root: str | Path | None = None,
    ) -> tuple[PrefetchedFile, ...]:
        """The files that a session with this first prompt will probably touch, the likeliest first.

        Ranked from finished sessions that were observed, co-access, commits and the code graph. `files` are those
        already at hand, relative to the root; they are not part of the result. Files that look like credentials are
        left out and, if the project's folder is on this machine, deleted and ignored files and links out of it.
        `root` is that folder; the default is the one in which the caller's newest sessions worked. `contents` adds the
        text of files, without secrets, up to `budget` tokens. Raises `InvalidInput` if `limit` is not from 1 to 100,
        `budget` not from 1 to 200,000, or a file is outside the project.
        """
        from treering.context.prefetch.api import MAX_BUDGET, Prefetch

        if not 1 <= budget <= MAX_BUDGET:
            raise InvalidInput(f"budget must be from 1 to {MAX_BUDGET:,} tokens, not {budget:,}")
        request = Prefetch(prompt, files, limit, root, self.git_home)
        with self.store.reading(self.scope, self.clock()) as tx:
            ranked, checkout = request.run(tx)
        if not contents:
            return ranked
        from treering.context.prefetch.contents import with_contents

        return with_contents(ranked, checkout, budget)

    def for_planner(
        self, task: str, *, files: Sequence[str] = (), modules: Sequence[str] = (), budget: int | None = None
    ) -> StageContext:
        """What changes a plan: estimates, approaches that failed, coupled files, recent outcomes and recipes.

        `step_factor` of the result is what estimates are multiplied by, `files` are further files to look at. With
        `modules`, only records about them are used. Tainted records and those that wait for review are left out.
        """
        from treering.context.stages.planning import planner_context

        return self._for_stage(planner_context, task, files, modules, budget)

    def for_qa(
        self, task: str, *, files: Sequence[str] = (), modules: Sequence[str] = (), budget: int | None = None
    ) -> StageContext:
        """What a check should know before it begins: behaviour of screens, known errors, requirements."""
        from treering.context.stages.planning import qa_context

        return self._for_stage(qa_context, task, files, modules, budget)

    def hand_over(self, session: str, stage: str, *, work: str, methodology: str = "native") -> int:
        """Hand what a session recorded at this stage to the next one; return the number of records.

        `work` names the unit of work, such as a spec or a story. Stages are those of the methodology.
        """
        from treering.context.stages.relay import hand_over
        from treering.core.methodologies import methodology as named

        chosen = named(methodology)
        return self.store.write(self.scope, self.clock(), lambda tx: hand_over(tx, session, stage, work, chosen))

    def relay(self, stage: str, *, work: str, methodology: str = "native") -> StageContext:
        """What the stage before handed over for this work; empty for the first stage."""
        from treering.context.stages.relay import relay
        from treering.core.methodologies import methodology as named

        with self.store.reading(self.scope, self.clock()) as tx:
            found = relay(tx, stage, work, named(methodology))
        self.injected(found.ids, via="relay", tokens=found.tokens)
        return found

    def calibration(self, *modules: str) -> Calibration:
        """Actual steps divided by planned ones in these modules, or in the whole project; `step_limit` applies it."""
        from treering.context.stages.calibration import calibration_of

        with self.store.reading(self.scope, self.clock()) as tx:
            return calibration_of(tx, modules)

    def _for_stage(
        self,
        make: Callable[[Transaction, Callable[..., Answer], StageRequest], StageContext],
        task: str,
        files: Sequence[str],
        modules: Sequence[str],
        budget: int | None,
    ) -> StageContext:
        from treering.context.stages.planning import StageRequest

        with self.store.reading(self.scope, self.clock()) as tx:
            found = make(tx, self.search, StageRequest(task, tuple(files), tuple(modules), budget))
        self.injected(found.ids, via="context", tokens=found.tokens)
        return found

    def to_review(self, *, limit: int = 20) -> tuple[Knowledge, ...]:
        """Records that a person should confirm, correct or forget; flagged ones come first."""
        from treering.context.briefing import to_review

        return to_review(self.scope, self.store, self.clock(), limit)

    def _rules(self, files: Iterable[str], phase: Phase | None, session: str | None) -> list[Hit]:
        from treering.context.rules import applicable_rules, as_hits

        with self.store.reading(self.scope, self.clock()) as tx:
            return as_hits(applicable_rules(tx, files=files, phase=phase, session=session))
