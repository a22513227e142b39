"""Synthesis by a language model: at most one request for each module and trigger. What it writes waits for review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from treering.core.delimiters import DATA, delimited, escaped
from treering.core.errors import ModelUnavailable, UnusableAnswer
from treering.core.observations import evidence_id
from treering.core.privacy import ModelLocation, text_may_leave
from treering.core.values import Text, Value, fitting
from treering.observe.synthesis.module_patterns import MIN_SESSIONS, ModuleHistory, file_shares
from treering.observe.synthesis.records import DraftGroup, SynthesisDraft, SynthesisWriter
from treering.observe.synthesis.session_synthesis import module_history
from treering.observe.synthesis.statistics import MODULE_SESSIONS, ModuleStatistics
from treering.prompts.model_answers import ask_json
from treering.prompts.token_budget import metered_writer

if TYPE_CHECKING:
    from datetime import datetime

    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.core.taint import Taint
    from treering.ports.clock import NewId
    from treering.ports.models import Models, Writer
    from treering.ports.store import Store, Transaction

MODEL_TAG = "written-by-model"
MAX_MODULES = 3  # read after one session; further ones are read after the next
_PROMPT = "module_synthesis.md"
_ANSWER_TOKENS = 800
_MAX_FILES = 20
_MAX_PAIRS = 15
_MAX_ERRORS = 10
_MAX_TEXT = 600
_CONFIDENCE = 0.5


class ModuleStatement(Value):
    """One statement of the answer, with the numbers of the lines that it rests on."""

    type: Literal["module_insight", "gotcha", "causal_dependency", "error_pattern"]
    text: Text
    lines: tuple[int, ...]
    files: tuple[Text, ...]


class ModuleStatements(Value):
    """Answer schema of the prompt."""

    statements: tuple[ModuleStatement, ...]


@dataclass(frozen=True, slots=True)
class _StatisticsLine:
    text: str
    files: tuple[str, ...] = ()
    taint: Taint | None = None


@dataclass(frozen=True, slots=True)
class ModelSynthesis:
    """Reads the statistics of modules with the configured language model, if there is one."""

    scope: Scope
    store: Store
    now: datetime
    models: Models
    settings: Settings
    new_id: NewId

    def run(self, modules: Sequence[str], *, claim: str) -> None:
        """Add the model's statements about these modules. A module that was not read stays for the next session."""
        if self.settings.learn.model == "off":
            return
        try:
            writer = metered_writer(self.models, self.store, self.scope, self.now, self.settings)
        except ModelUnavailable:
            return
        for module in modules[:MAX_MODULES]:
            try:
                self._read(writer, module, claim)
            except ModelUnavailable as exc:
                self.models.failed("writer", exc)
                return

    def _read(self, writer: Writer, module: str, claim: str) -> None:
        id = evidence_id(MODULE_SESSIONS, module)
        with self.store.reading(self.scope, self.now) as tx:
            row = tx.evidence.get(id)
            history = None if row is None else module_history(tx, ModuleStatistics(row))
        if history is None:
            return
        limit = history.module.left_for_model
        lines = [each for each in _lines(history) if _may_read(each, writer.location)]
        try:
            statements = self._ask(writer, history, lines, limit) if lines and limit else ()
        except UnusableAnswer:
            statements = ()  # one request for each trigger, whatever comes of it

        def write(tx: Transaction) -> None:
            current = tx.evidence.get(id)
            if current is None or not ModuleStatistics(current).left_for_model:
                return  # another worker was faster
            drafts = [*_drafts(history, lines, statements)]
            SynthesisWriter(tx, self.models, self.new_id).write([DraftGroup(drafts, limit)])
            tx.evidence.put_many([ModuleStatistics(current).with_triggers(left_for_model=0).row])

        self.store.write(self.scope, self.now, write, claims=(claim,))

    def _ask(
        self, writer: Writer, history: ModuleHistory, lines: Sequence[_StatisticsLine], limit: int
    ) -> tuple[ModuleStatement, ...]:
        listed = "\n".join(f"{number}. {line.text}" for number, line in enumerate(lines, 1))
        prompt = files("treering.prompts").joinpath(_PROMPT).read_text("utf-8")
        filled = prompt.format(
            sessions=history.module.count,
            module=escaped(fitting(history.module.module, 200)),
            limit=limit,
            statistics=delimited(DATA, escaped(listed)),
        )
        return ask_json(writer, filled, ModuleStatements, most_tokens=_ANSWER_TOKENS).statements


def _lines(history: ModuleHistory) -> Iterator[_StatisticsLine]:
    sessions = len(history.considered)
    for path, share in [*file_shares(history).items()][:_MAX_FILES]:
        times = round(share * sessions)
        yield _StatisticsLine(f"`{path}`: touched in {times} of {sessions} sessions", (path,), history.taint)
    for edge in history.edges[:_MAX_PAIRS]:
        order = "; the first comes first" if edge.directional else ""
        text = f"`{edge.first}` and `{edge.second}`: together in {edge.sessions} sessions{order}"
        taint = history.module.row.taint if edge.tainted_sessions else None
        yield _StatisticsLine(text, (edge.first, edge.second), taint)
    ours = frozenset((*history.module.row.sessions, *history.module.row.tainted_sessions))
    recurring = [
        each for each in history.errors if len(ours & {*each.sessions, *each.tainted_sessions}) >= MIN_SESSIONS
    ]
    for error in recurring[:_MAX_ERRORS]:
        clean = len(error.sessions) >= MIN_SESSIONS
        detail = error.detail if clean else {**error.tainted_detail, **error.detail}
        resolved = detail.get("resolution") or "not resolved"
        text = f"`{detail.get('command', '')}` fails with `{detail.get('summary', '')}`: {resolved}"
        yield _StatisticsLine(text[:_MAX_TEXT], error.files, None if clean else error.taint)


def _may_read(line: _StatisticsLine, location: ModelLocation) -> bool:
    """Elsewhere, neither tainted lines nor lines with a secret."""
    return location is ModelLocation.HERE or (line.taint is None and text_may_leave(line.text, location))


def _drafts(
    history: ModuleHistory, lines: Sequence[_StatisticsLine], statements: Sequence[ModuleStatement]
) -> Iterator[SynthesisDraft]:
    """Statements that cite lines and name only files of the statistics. One tainted line taints all of them."""
    taint = next((line.taint for line in lines if line.taint is not None), None)
    known = {path for line in lines for path in line.files}
    for each in statements:
        text = " ".join(each.text.split())
        cited = {*each.lines}
        if not text or len(text) > _MAX_TEXT or not cited or not cited <= {*range(1, len(lines) + 1)}:
            continue
        yield SynthesisDraft(
            each.type,
            f"{history.module.module}: {text}",
            text,
            files=tuple(path for path in each.files if path in known),
            modules=(fitting(history.module.module, 200),),
            sessions=tuple(session.subject for session in history.considered),
            confidence=_CONFIDENCE,
            taint=taint,
            tags=(MODEL_TAG,),
            needs_review=True,
        )
