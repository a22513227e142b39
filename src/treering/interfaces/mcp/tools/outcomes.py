"""similar_failures, find_patterns and report_outcome: what helped before, and what came of it this time."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from treering.core.delimiters import MEMORY, delimited, one_line
from treering.core.errors import InvalidInput, NotFound, TreeringError
from treering.core.patterns import Pattern
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge
from treering.core.secrets import redact
from treering.core.tokens import estimate_tokens
from treering.interfaces.mcp.answers import Cited, lines_within, listed, passages, within
from treering.interfaces.mcp.tool import (
    LONGEST_TEXT,
    READS,
    Answer,
    Arguments,
    Hints,
    Ids,
    Names,
    Outside,
    Question,
    Reply,
    Sentences,
    Told,
    Tool,
)
from treering.interfaces.mcp.tools.recording import FROM_OUTSIDE, FromOutside, own_words, taint_of, taken_out
from treering.patterns.recommendations import advice_of

if TYPE_CHECKING:
    from treering.interfaces.mcp.host import Call


class SimilarFailures(Arguments):
    error: Annotated[
        Told,
        Field(
            description="The error message as the tool or test printed it; paths and numbers may differ.",
            examples=["sqlite3.OperationalError: database is locked"],
        ),
    ]
    task: Annotated[Question | None, Field(description="What you were doing.")] = None
    limit: Annotated[int, Field(ge=1, le=20, description="How many of each at most.")] = 5
    outside: Outside = False


class Failures(Reply):
    items: tuple[Cited, ...]
    next_steps: tuple[str, ...] = ()
    left_out: int


def similar_failures(call: "Call", asked: SimilarFailures) -> Answer[Failures]:
    # The advisor rather than `patterns.after_failure`: the server notes the injection of what fits the answer.
    advisor = call.memory.patterns.advisor
    found = advisor.after_failure(asked.error, task=asked.task or "", limit=asked.limit, tainted=asked.outside)
    pieces = [Cited(id=each.id, source=each.source, text=each.text) for each in found.passages()]

    def told(room: int) -> Answer[Failures]:
        steps = tuple(lines_within(map(one_line, found.usual_steps()), room // 8))
        after = delimited(MEMORY, "\n".join(("What usually comes next:", *steps))) if steps else ""
        shown = passages(pieces, room - estimate_tokens(after))
        nothing = "" if pieces else _NO_FAILURE
        result = Failures(
            notes=(*shown.notes, nothing) if nothing else shown.notes,
            items=shown.shown,
            next_steps=steps,
            left_out=shown.left_out,
        )
        return Answer("\n".join(filter(None, (shown.text, after, nothing))), result)

    return within(call.memory.settings.agents.answer_tokens, told)


_NO_FAILURE = (
    "Neither a task nor a record of such a failure is known. When you have found the way out, report_outcome with the "
    "error and what helped."
)


class FindPatterns(Arguments):
    task: Annotated[
        Question,
        Field(description="What is to be done.", examples=["add a column to the orders table with a migration"]),
    ]
    files: Annotated[Names, Field(description="Files that are concerned, relative to the repository root.")] = ()
    unproven: Annotated[bool, Field(description="Also patterns that are not validated yet.")] = False
    limit: Annotated[int, Field(ge=1, le=20, description="How many of each at most.")] = 5


class FoundPattern(Cited):
    category: str
    status: str
    score: float


class Patterns(Reply):
    patterns: tuple[FoundPattern, ...]
    recipes: tuple[Cited, ...] = ()
    left_out: int


_ALL_IN_USE = ("VALIDATED", "CANDIDATE")
_RECIPES = KnowledgeFilter(types=("workflow_recipe",))


def find_patterns(call: "Call", asked: FindPatterns) -> Answer[Patterns]:
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
    pieces = [*proven, *(Cited(id=hit.id, source=hit.source, text=hit.text) for hit in recipes)]
    note = "Name the ids that you followed in report_outcome." if pieces else _no_pattern(asked)

    def told(room: int) -> Answer[Patterns]:
        shown = passages(pieces, room, notes=(note,))
        result = Patterns(
            notes=shown.notes,
            patterns=tuple(each for each in shown.shown if isinstance(each, FoundPattern)),
            recipes=tuple(each for each in shown.shown if not isinstance(each, FoundPattern)),
            left_out=shown.left_out,
        )
        return Answer(shown.text, result)

    return within(call.memory.settings.agents.answer_tokens, told)


def _no_pattern(asked: FindPatterns) -> str:
    kind = "pattern" if asked.unproven else "proven pattern"
    return f"No {kind} and no recipe fits this task; search_memory finds what else is known of it."


def _proven(pattern: Pattern) -> str:
    evidence = pattern.evidence
    if evidence.success_rate is None:
        return "not proven yet"
    return f"worked in {evidence.success_rate:.0%} of {evidence.applications:,} uses"


class ReportOutcome(Arguments):
    task: Annotated[
        Told, Field(description="What was to be done, in a sentence.", examples=["Make the checkout test stable"])
    ]
    outcome: Annotated[Literal["success", "partial", "failure"], Field(description="What came of it.")]
    summary: Annotated[
        str, Field(max_length=LONGEST_TEXT, description="What was done, or how it ended; of a failure, the error.")
    ] = ""
    lessons: Annotated[
        Sentences, Field(description="What to do, or to leave, next time.", examples=[["Freeze the clock in tests"]])
    ] = ()
    errors: Annotated[Sentences, Field(description="Errors that were met on the way, as they were printed.")] = ()
    resolutions: Annotated[
        Sentences,
        Field(description="What resolved each error, in their order.", examples=[["Pin the version"]]),
    ] = ()
    used: Annotated[Ids, Field(description="Ids of records and patterns from memory that the work was based on.")] = ()
    misled: Annotated[Ids, Field(description="Ids of those that turned out wrong or unhelpful.")] = ()
    tools: Annotated[Names, Field(description="Names of the tools that were used.", examples=[["pytest"]])] = ()
    from_outside: FromOutside = None


class Reported(Reply):
    id: str
    counted: int
    not_counted: tuple[str, ...]


def report_outcome(call: "Call", asked: ReportOutcome) -> Answer[Reported]:
    """The task is stored first: what it says of records must never be lost with it, nor it with them."""
    memory = call.memory
    if len(asked.resolutions) > len(asked.errors):
        raise InvalidInput("there are more resolutions than errors; give the error that each of them resolved")
    resolved = map(own_words, asked.resolutions)
    misled = tuple(dict.fromkeys(asked.misled))
    helped = tuple(id for id in dict.fromkeys(asked.used) if id not in misled)
    sorted_ids = _sorted(call, (*helped, *misled))
    episode = memory.episode(
        own_words(asked.task),
        outcome=asked.outcome,
        output=own_words(asked.summary) if asked.summary.strip() else "",
        session=call.session,
        insights=[own_words(lesson) for lesson in asked.lessons],
        failures=[{"text": own_words(error), "resolution": next(resolved, "")} for error in asked.errors],
        tools=asked.tools,
        taint=taint_of(asked.from_outside),
        patterns=[id for id in helped if id in sorted_ids["patterns"]],
    )
    counted, refused = 0, list[str]()
    for ids, corrected in ((helped, False), (misled, True)):
        known = [id for id in ids if id in sorted_ids["knowledge"]]
        counted += memory.used(known, corrected=corrected) if known else 0
        for id in (id for id in ids if id in sorted_ids["patterns"]):
            try:
                memory.patterns.record_application(id, episode=episode.id, outcome="FAILURE" if corrected else None)
                counted += 1
            except TreeringError as exc:
                refused.append(f"Not counted for {id}: {exc}")
    unknown = [redact(id).text for id in (*helped, *misled) if id in sorted_ids["unknown"]]
    done = (
        f"Kept as {episode.id} ({asked.outcome}).",
        f"Counted for or against {counted} of the ids." if counted else "",
        taken_out(episode, asked),
        FROM_OUTSIDE if episode.tainted else "",
    )

    def told(room: int) -> Answer[Reported]:
        notes = (*filter(None, done), *lines_within(map(one_line, refused), room // 4))
        named = lines_within(unknown, room // 2)
        more = len(unknown) - len(named)
        missed = f"Not counted, since no knowledge or pattern has these ids: {listed(unknown, room // 2)}"
        left = f"{more} more ids that no knowledge or pattern has." if more else ""
        result = Reported(
            notes=(*notes, left) if left else notes, id=episode.id, counted=counted, not_counted=tuple(named)
        )
        return Answer("\n".join((*notes, missed) if unknown else notes), result)

    return within(memory.settings.agents.answer_tokens, told)


def _sorted(call: "Call", ids: Iterable[str]) -> dict[str, set[str]]:
    """The ids of knowledge, those of patterns, and those that nothing of either kind has."""
    found: dict[str, set[str]] = {"knowledge": set(), "patterns": set(), "unknown": set()}
    for id in set(ids):
        found[_kind(call, id)].add(id)
    return found


def _kind(call: "Call", id: str) -> str:
    try:
        record = call.memory.get(id)
    except NotFound:
        return "unknown"
    return next((name for kind, name in _COUNTED if isinstance(record, kind)), "unknown")


_COUNTED = ((Knowledge, "knowledge"), (Pattern, "patterns"))


WORKING = (
    Tool(
        name="similar_failures",
        title="Similar failures",
        about="You hit an error: who met it before in this project, how they got out, what usually helps. Ask before "
        "you try a second fix.",
        arguments=SimilarFailures,
        result=Failures,
        work=similar_failures,
        hints=READS,
    ),
    Tool(
        name="find_patterns",
        title="Find what works",
        about="Ways of working that have proven themselves for a task like this one, with their evidence, and recipes "
        "that were recorded for it. Ask before you plan.",
        arguments=FindPatterns,
        result=Patterns,
        work=find_patterns,
        hints=READS,
    ),
    Tool(
        name="report_outcome",
        title="Report an outcome",
        about="Call it when a task is done or given up: what it was, how it ended, what was learned, and which "
        "memories you relied on or were misled by. Later sessions learn from it.",
        arguments=ReportOutcome,
        result=Reported,
        work=report_outcome,
        hints=Hints(),
    ),
)
