"""similar_failures, find_patterns and report_outcome: learn from earlier tasks, and report this one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from treering.core.delimiters import MEMORY, delimited, one_line
from treering.core.errors import InvalidInput, NotFound, TreeringError
from treering.core.pattern_words import advice_of
from treering.core.patterns import Pattern
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge
from treering.core.secrets import redact
from treering.core.tokens import estimate_tokens
from treering.interfaces.mcp.answers import Cited, item_tokens, within
from treering.interfaces.mcp.tool import (
    MAX_TEXT,
    READS,
    Arguments,
    Hints,
    Ids,
    Names,
    Outside,
    Question,
    Reply,
    Sentences,
    StoredText,
    Tool,
    ToolAnswer,
)
from treering.interfaces.mcp.tools.recording import FROM_OUTSIDE, FromOutside, own_words, redaction_note, taint_of
from treering.render.listing import lines_within, names_within, render_listing

if TYPE_CHECKING:
    from treering.interfaces.mcp.host import CallContext


class SimilarFailures(Arguments):
    error: Annotated[
        StoredText,
        Field(
            description="Error message as the tool or test printed it; paths and numbers may differ.",
            examples=["sqlite3.OperationalError: database is locked"],
        ),
    ]
    task: Annotated[Question | None, Field(description="What you were doing.")] = None
    limit: Annotated[int, Field(ge=1, le=20, description="Maximum number of each.")] = 5
    outside: Outside = False


class FailuresResult(Reply):
    items: tuple[Cited, ...]
    next_steps: tuple[str, ...] = ()
    left_out: int


def similar_failures(call: "CallContext", asked: SimilarFailures) -> ToolAnswer[FailuresResult]:
    # The advisor rather than `patterns.after_failure`: the server notes the injection of what fits the answer.
    advisor = call.memory.patterns.advisor
    found = advisor.after_failure(asked.error, task=asked.task or "", limit=asked.limit, tainted=asked.outside)
    items = [Cited(id=each.id, source=each.source, text=each.text) for each in found.passages()]

    def rendered(room: int) -> ToolAnswer[FailuresResult]:
        steps = tuple(lines_within(map(one_line, found.usual_steps()), room // 8))
        after = delimited(MEMORY, "\n".join(("What usually comes next:", *steps))) if steps else ""
        shown = render_listing(items, room - estimate_tokens(after), cost=item_tokens)
        nothing = "" if items else _NO_FAILURE
        result = FailuresResult(
            notes=(*shown.notes, nothing) if nothing else shown.notes,
            items=shown.items,
            next_steps=steps,
            left_out=shown.left_out,
        )
        return ToolAnswer("\n".join(filter(None, (shown.text, after, nothing))), result)

    return within(call.memory.settings.agents.answer_tokens, rendered)


_NO_FAILURE = (
    "No similar failure is known. When you have found a solution, report_outcome with the error and its resolution."
)


class FindPatterns(Arguments):
    task: Annotated[
        Question,
        Field(description="Task description.", examples=["add a column to the orders table with a migration"]),
    ]
    files: Annotated[Names, Field(description="Files of the task, relative to the repository root.")] = ()
    unproven: Annotated[bool, Field(description="Include patterns that are not validated yet.")] = False
    limit: Annotated[int, Field(ge=1, le=20, description="Maximum number of each.")] = 5


class FoundPattern(Cited):
    category: str
    status: str
    score: float


class PatternsResult(Reply):
    patterns: tuple[FoundPattern, ...]
    recipes: tuple[Cited, ...] = ()
    left_out: int


_ALL_IN_USE = ("VALIDATED", "CANDIDATE")
_RECIPES = KnowledgeFilter(types=("workflow_recipe",))


def find_patterns(call: "CallContext", asked: FindPatterns) -> ToolAnswer[PatternsResult]:
    statuses = {"statuses": _ALL_IN_USE} if asked.unproven else {}
    features = {"files": call.from_root(asked.files)} if asked.files else {}
    found = call.memory.patterns.find_applicable(asked.task, limit=asked.limit, **statuses, **features)
    recipes = call.memory.search(
        asked.task,
        knowledge=_RECIPES,
        turns=None,
        thorough=False,
        code=False,
        limit=asked.limit,
        tainted=False,
    )
    proven = [
        FoundPattern(
            id=each.pattern.id,
            source=f"{each.pattern.status.value} {each.pattern.category.value} pattern, {_proven(each.pattern)}",
            text=f"{each.pattern.name}\n{advice_of(each.pattern)}",
            category=each.pattern.category.value,
            status=each.pattern.status.value,
            score=round(each.score, 3),
        )
        for each in found
    ]
    items = [*proven, *(Cited(id=hit.id, source=hit.source, text=hit.text) for hit in recipes)]
    note = "Pass the ids that you used to report_outcome." if items else _no_pattern(asked)

    def rendered(room: int) -> ToolAnswer[PatternsResult]:
        shown = render_listing(items, room, cost=item_tokens, notes=(note,))
        result = PatternsResult(
            notes=shown.notes,
            patterns=tuple(each for each in shown.items if isinstance(each, FoundPattern)),
            recipes=tuple(each for each in shown.items if not isinstance(each, FoundPattern)),
            left_out=shown.left_out,
        )
        return ToolAnswer(shown.text, result)

    return within(call.memory.settings.agents.answer_tokens, rendered)


def _no_pattern(asked: FindPatterns) -> str:
    kind = "pattern" if asked.unproven else "proven pattern"
    return f"No {kind} or recipe applies to this task; search_memory finds other records."


def _proven(pattern: Pattern) -> str:
    evidence = pattern.evidence
    if evidence.success_rate is None:
        return "not proven yet"
    return f"worked in {evidence.success_rate:.0%} of {evidence.applications:,} uses"


class ReportOutcome(Arguments):
    task: Annotated[
        StoredText, Field(description="The task in a sentence.", examples=["Make the checkout test stable"])
    ]
    outcome: Annotated[Literal["success", "partial", "failure"], Field(description="Outcome of the task.")]
    summary: Annotated[str, Field(max_length=MAX_TEXT, description="What was done; for a failure, the error.")] = ""
    lessons: Annotated[
        Sentences, Field(description="What to do or avoid next time.", examples=[["Freeze the clock in tests"]])
    ] = ()
    errors: Annotated[Sentences, Field(description="Errors that occurred, as printed.")] = ()
    resolutions: Annotated[
        Sentences,
        Field(description="Resolution of each error, in the same order.", examples=[["Pin the version"]]),
    ] = ()
    used: Annotated[Ids, Field(description="Ids of records and patterns that the work was based on.")] = ()
    misled: Annotated[Ids, Field(description="Ids of records and patterns that were wrong or unhelpful.")] = ()
    tools: Annotated[Names, Field(description="Tools that were used.", examples=[["pytest"]])] = ()
    from_outside: FromOutside = None


class OutcomeResult(Reply):
    id: str
    counted: int
    not_counted: tuple[str, ...]


def _complete(call: "CallContext", id: str) -> str:
    """The complete id; an ambiguous one stays as it is and is reported as unknown."""
    try:
        return call.memory.knowledge.complete(id)
    except InvalidInput:
        return id


def report_outcome(call: "CallContext", asked: ReportOutcome) -> ToolAnswer[OutcomeResult]:
    """Store the episode first: counting uses may fail, and must not lose it."""
    memory = call.memory
    if len(asked.resolutions) > len(asked.errors):
        raise InvalidInput("there are more resolutions than errors; pass the error that each of them resolved")
    resolved = map(own_words, asked.resolutions)
    misled = tuple(dict.fromkeys(_complete(call, id) for id in asked.misled))
    named = dict.fromkeys(_complete(call, id) for id in asked.used)
    helped = tuple(id for id in named if id not in misled)
    ids_by_kind = _by_kind(call, (*helped, *misled))
    episode = memory.episode(
        own_words(asked.task),
        outcome=asked.outcome,
        output=own_words(asked.summary) if asked.summary.strip() else "",
        session=call.session,
        insights=[own_words(lesson) for lesson in asked.lessons],
        failures=[{"text": own_words(error), "resolution": next(resolved, "")} for error in asked.errors],
        tools=asked.tools,
        taint=taint_of(asked.from_outside),
        patterns=[id for id in helped if id in ids_by_kind["patterns"]],
    )
    counted, refused = 0, list[str]()
    for ids, corrected in ((helped, False), (misled, True)):
        known = [id for id in ids if id in ids_by_kind["knowledge"]]
        counted += memory.used(known, corrected=corrected) if known else 0
        for id in (id for id in ids if id in ids_by_kind["patterns"]):
            try:
                memory.patterns.record_application(id, episode=episode.id, outcome="FAILURE" if corrected else None)
                counted += 1
            except TreeringError as exc:
                refused.append(f"Not counted for {id}: {exc}")
    unknown = [redact(id).text for id in (*helped, *misled) if id in ids_by_kind["unknown"]]
    done = (
        f"Stored as {episode.id} ({asked.outcome}).",
        f"Counted the use of {counted} ids." if counted else "",
        redaction_note(episode, asked),
        FROM_OUTSIDE if episode.tainted else "",
    )

    def rendered(room: int) -> ToolAnswer[OutcomeResult]:
        notes = (*filter(None, done), *lines_within(map(one_line, refused), room // 4))
        named = lines_within(unknown, room // 2)
        more = len(unknown) - len(named)
        not_counted = f"Not counted, because no knowledge or pattern has these ids: {names_within(unknown, room // 2)}"
        left = f"{more} more ids are unknown." if more else ""
        result = OutcomeResult(
            notes=(*notes, left) if left else notes, id=episode.id, counted=counted, not_counted=tuple(named)
        )
        return ToolAnswer("\n".join((*notes, not_counted) if unknown else notes), result)

    return within(memory.settings.agents.answer_tokens, rendered)


def _by_kind(call: "CallContext", ids: Iterable[str]) -> dict[str, set[str]]:
    """The ids of knowledge, of patterns, and unknown ones."""
    found: dict[str, set[str]] = {"knowledge": set(), "patterns": set(), "unknown": set()}
    for id in set(ids):
        found[_kind(call, id)].add(id)
    return found


def _kind(call: "CallContext", id: str) -> str:
    try:
        record = call.memory.get(id)
    except NotFound:
        return "unknown"
    return next((name for kind, name in _COUNTED if isinstance(record, kind)), "unknown")


_COUNTED = ((Knowledge, "knowledge"), (Pattern, "patterns"))


OUTCOME_TOOLS = (
    Tool(
        name="similar_failures",
        title="Similar failures",
        about="On an error: earlier tasks of this project with the same error, their resolutions, and what usually "
        "helps. Call it before you try a second fix.",
        arguments=SimilarFailures,
        result=FailuresResult,
        work=similar_failures,
        hints=READS,
    ),
    Tool(
        name="find_patterns",
        title="Find patterns",
        about="Patterns that worked for similar tasks, with their evidence, and recorded recipes. Call it before you "
        "plan.",
        arguments=FindPatterns,
        result=PatternsResult,
        work=find_patterns,
        hints=READS,
    ),
    Tool(
        name="report_outcome",
        title="Report an outcome",
        about="Call it when a task is done or abandoned: the task, its outcome, lessons, and the records that helped "
        "or misled you. Later sessions learn from it.",
        arguments=ReportOutcome,
        result=OutcomeResult,
        work=report_outcome,
        hints=Hints(),
    ),
)
