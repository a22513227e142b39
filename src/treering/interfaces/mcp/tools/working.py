"""similar_failures, find_patterns and report_outcome: what helped before, and what came of it this time."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from treering.core.errors import NotFound
from treering.core.patterns import Pattern
from treering.core.records import Knowledge
from treering.core.secrets import redact
from treering.interfaces.mcp.desk import Call
from treering.interfaces.mcp.passages import Cited, listed, passages
from treering.interfaces.mcp.tool import (
    LONGEST_TEXT,
    READS,
    Answer,
    Arguments,
    Hints,
    Ids,
    Names,
    Question,
    Reply,
    Sentences,
    Told,
    Tool,
)
from treering.interfaces.mcp.tools.keeping import FromOutside, own_words
from treering.retrieve.patterns.recommend import Passage, advice_of


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


class Failures(Reply):
    items: tuple[Cited, ...]
    left_out: int


def similar_failures(call: Call, asked: SimilarFailures) -> Answer[Failures]:
    found = call.memory.patterns.after_failure(asked.error, task=asked.task or "", limit=asked.limit)
    shown = passages(_cited(found.passages()), call.memory.settings.agents.answer_tokens)
    result = Failures(notes=shown.notes or (_NO_FAILURE,), items=shown.shown, left_out=shown.left_out)
    return Answer(shown.text or _NO_FAILURE, result)


_NO_FAILURE = (
    "No failure like this is known. When you have found the way out, report_outcome with the error and what helped."
)


class FindPatterns(Arguments):
    task: Annotated[
        Question,
        Field(description="What is to be done.", examples=["add a column to the orders table with a migration"]),
    ]
    files: Annotated[Names, Field(description="Files that are concerned, relative to the repository root.")] = ()
    unproven: Annotated[bool, Field(description="Also patterns that are not validated yet.")] = False
    limit: Annotated[int, Field(ge=1, le=20, description="How many at most.")] = 5


class FoundPattern(Cited):
    name: str
    category: str
    status: str
    score: float


class Patterns(Reply):
    patterns: tuple[FoundPattern, ...]
    left_out: int


_ALL_IN_USE = ("VALIDATED", "CANDIDATE")


def find_patterns(call: Call, asked: FindPatterns) -> Answer[Patterns]:
    statuses = {"statuses": _ALL_IN_USE} if asked.unproven else {}
    features = {"files": call.from_root(asked.files)} if asked.files else {}
    found = call.memory.patterns.find_applicable(asked.task, limit=asked.limit, **statuses, **features)
    listed = [
        FoundPattern(
            id=each.pattern.id,
            source=f"{each.pattern.status.value} {each.pattern.category.value} pattern, {_proven(each.pattern)}",
            text=f"{each.pattern.name}\n{advice_of(each.pattern)}",
            name=each.pattern.name,
            category=each.pattern.category.value,
            status=each.pattern.status.value,
            score=round(each.score, 3),
        )
        for each in found
    ]
    shown = passages(
        listed,
        call.memory.settings.agents.answer_tokens,
        notes=("Name the ids that you followed in report_outcome." if listed else "",),
    )
    result = Patterns(notes=shown.notes or (_NO_PATTERN,), patterns=shown.shown, left_out=shown.left_out)
    return Answer(shown.text or _NO_PATTERN, result)


_NO_PATTERN = "No proven pattern applies to this task."


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
    used: Annotated[Ids, Field(description="Ids of records and patterns from memory that the work was based on.")] = ()
    misled: Annotated[Ids, Field(description="Ids of those that turned out wrong or unhelpful.")] = ()
    tools: Annotated[Names, Field(description="Names of the tools that were used.", examples=[["pytest"]])] = ()
    from_outside: FromOutside = False


class Reported(Reply):
    id: str
    counted: tuple[str, ...]
    unknown: tuple[str, ...]


def report_outcome(call: Call, asked: ReportOutcome) -> Answer[Reported]:
    """The task is stored first: what it says of records must never be lost with it."""
    memory = call.memory
    misled = tuple(dict.fromkeys(asked.misled))
    helped = tuple(id for id in dict.fromkeys(asked.used) if id not in misled)
    sorted_ids = _sorted(call, (*helped, *misled))
    episode = memory.episode(
        own_words(asked.task),
        outcome=asked.outcome,
        output=own_words(asked.summary) if asked.summary.strip() else "",
        session=call.session,
        insights=[own_words(lesson) for lesson in asked.lessons],
        failures=[own_words(error) for error in asked.errors],
        tools=asked.tools,
        tainted=asked.from_outside,
        patterns=[id for id in helped if id in sorted_ids["patterns"]],
    )
    counted = list[str]()
    for ids, corrected in ((helped, False), (misled, True)):
        known = [id for id in ids if id in sorted_ids["knowledge"]]
        if known and memory.used(known, corrected=corrected):
            counted += known
        for id in (id for id in ids if id in sorted_ids["patterns"]):
            memory.patterns.record_application(id, episode=episode.id, outcome="FAILURE" if corrected else None)
            counted.append(id)
    unknown = tuple(redact(id).text for id in (*helped, *misled) if id in sorted_ids["unknown"])
    said = (
        f"Kept as {episode.id} ({asked.outcome}).",
        f"Counted for {len(counted)} of the ids." if counted else "",
        f"Not counted, since no knowledge or pattern has these ids: {listed(unknown)}" if unknown else "",
    )
    notes = tuple(filter(None, said))
    return Answer("\n".join(notes), Reported(notes=notes, id=episode.id, counted=tuple(counted), unknown=unknown))


def _sorted(call: Call, ids: Iterable[str]) -> dict[str, set[str]]:
    """The ids of knowledge, those of patterns, and those that nothing of either kind has."""
    found: dict[str, set[str]] = {"knowledge": set(), "patterns": set(), "unknown": set()}
    for id in set(ids):
        found[_kind(call, id)].add(id)
    return found


def _kind(call: Call, id: str) -> str:
    try:
        record = call.memory.get(id)
    except NotFound:
        return "unknown"
    return next((name for kind, name in _COUNTED if isinstance(record, kind)), "unknown")


_COUNTED = ((Knowledge, "knowledge"), (Pattern, "patterns"))


def _cited(found: Iterable[Passage]) -> list[Cited]:
    return [Cited(id=each.id, source=each.source, text=each.text) for each in found]


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
        about="Ways of working that have proven themselves for a task like this one, with their evidence. Ask before "
        "you plan.",
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
