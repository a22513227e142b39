"""Text for a model: contexts, briefings, prefetched files, stages and records to review."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query
from pydantic import ConfigDict, Field

from treering.core.episodes import Episode
from treering.core.records import Knowledge
from treering.interfaces.rest.calls import Route
from treering.interfaces.rest.nouns.search import SearchWhere
from treering.interfaces.rest.schemas import Answered, Asked, CountAnswer, ListPage
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory

Methodology = Annotated[str, Query(description="Methodology that names the stages.")]


class ContextRequest(Asked):
    """The task or question that the context is for."""

    query: str = Field(min_length=1, max_length=20_000)
    budget: int | None = Field(default=None, ge=1, le=1_000_000, description="Maximum length in tokens.")
    phase: str | None = None
    session: str | None = Field(default=None, description="Current session: its records are left out.")
    files: tuple[str, ...] = ()
    where: SearchWhere | None = None
    as_of: str | None = None
    reflection: bool = True
    rules: bool = True
    tainted: bool = Field(default=False, description="Include unconfirmed records from outside.")
    precise: bool = False

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"query": "fix the deploy script", "budget": 800}]}
    )


class ContextPassage(Answered):
    """One passage of a context."""

    id: str
    citation: str
    source: str
    text: str
    tokens: int
    truncated: bool
    also: list[str]


class ContextAnswer(Answered):
    """Text for a prompt; `tokens` never exceeds `budget`."""

    text: str
    tokens: int
    items: list[ContextPassage]
    left_out: list[tuple[str, str]] = Field(description="Ids that were left out, with the reason.")
    budget: int
    phase: str | None


class BriefingAnswer(Answered):
    """What a session should know when it begins or resumes."""

    records: list[Knowledge]
    in_progress: list[Knowledge]
    rules: list[Knowledge]
    episodes: list[Episode]
    records_left_out: int = 0
    rules_left_out: int = 0


class PrefetchRequest(Asked):
    """The first prompt of a session."""

    prompt: str = Field(max_length=20_000)
    files: tuple[str, ...] = Field(default=(), description="Files already at hand.")
    limit: int = Field(default=12, ge=1, le=100)
    contents: bool = False
    budget: int = Field(default=32_000, ge=1, le=200_000)


class LikelyFile(Answered):
    """A file that the session will probably touch."""

    path: str
    share: float
    reason: str
    content: str | None = None
    tokens: int = 0
    truncated: bool = False
    omitted: str = ""


class StageRequestBody(Asked):
    """A task, and what it concerns."""

    task: str = Field(min_length=1, max_length=20_000)
    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    budget: int | None = Field(default=None, ge=1)


class StageSection(Answered):
    title: str
    records: tuple[Knowledge, ...] = ()
    remark: str = ""


class StageAnswer(Answered):
    """Text for the model of a stage."""

    text: str
    tokens: int
    sections: list[StageSection]
    left_out: tuple[str, ...] = ()
    step_factor: float = 1.0
    files: tuple[str, ...] = ()


class HandOverRequest(Asked):
    """What one stage hands to the next."""

    session: str
    stage: str
    work: str = Field(description="Unit of work, such as a spec or a story.")
    methodology: str = "native"


class CalibrationAnswer(Answered):
    """Actual steps divided by planned ones."""

    factor: float
    samples: int


class WorkStateRequest(Asked):
    """Where a session leaves its work."""

    session: str
    in_progress: str = Field(min_length=1)
    next_step: str | None = None
    completed: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    unit: tuple[str, ...] = ()
    methodology: str = "native"


def build_context(memory: Memory, body: ContextRequest) -> Any:
    """Search results as cited text for a prompt, within a token budget; applicable rules come first."""
    options: dict[str, Any] = {"files": tuple(body.files), "precise": body.precise}
    if body.where is not None:
        options["where"] = body.where.filter()
    if body.as_of is not None:
        options["as_of"] = body.as_of
    return memory.context.build(
        body.query,
        budget=body.budget,
        phase=body.phase,
        reflection=body.reflection,
        rules=body.rules,
        session=body.session,
        tainted=body.tainted,
        **options,
    )


def get_briefing(
    memory: Memory,
    session: Annotated[str | None, Query(description="Session that begins or resumes.")] = None,
    episodes: Annotated[int, Query(ge=0, le=100)] = 5,
    tainted: Annotated[bool, Query(description="Include unconfirmed records from outside.")] = False,
) -> Any:
    """Records of the session, open work, rules and the latest episodes."""
    return memory.context.briefing(session, episodes=episodes, tainted=tainted)


def prefetch(memory: Memory, body: PrefetchRequest) -> ListPage[LikelyFile]:
    """The files that a session with this first prompt will probably touch, the likeliest first."""
    found = memory.context.prefetch(
        body.prompt, body.files, limit=body.limit, contents=body.contents, budget=body.budget
    )
    return ListPage[LikelyFile](items=[LikelyFile.model_validate(each) for each in found])


def context_for_planner(memory: Memory, body: StageRequestBody) -> Any:
    """What changes a plan: estimates, approaches that failed, coupled files, recent outcomes and recipes."""
    return memory.context.for_planner(body.task, files=body.files, modules=body.modules, budget=body.budget)


def context_for_qa(memory: Memory, body: StageRequestBody) -> Any:
    """What a check should know before it begins."""
    return memory.context.for_qa(body.task, files=body.files, modules=body.modules, budget=body.budget)


def hand_over(memory: Memory, body: HandOverRequest) -> CountAnswer:
    """Hand what a session recorded at this stage to the next one."""
    count = memory.context.hand_over(body.session, body.stage, work=body.work, methodology=body.methodology)
    return CountAnswer(count=count)


def get_relay(
    memory: Memory,
    stage: Annotated[str, Query(description="Stage that begins.")],
    work: Annotated[str, Query(description="Unit of work.")],
    methodology: Methodology = "native",
) -> Any:
    """What the stage before handed over for this work."""
    return memory.context.relay(stage, work=work, methodology=methodology)


def get_calibration(
    memory: Memory, modules: Annotated[Sequence[str], Query(description="Only these modules; repeatable.")] = ()
) -> Any:
    """Actual steps divided by planned ones, in these modules or in the whole project."""
    return memory.context.calibration(*modules)


def list_to_review(memory: Memory, limit: Annotated[int, Query(ge=1, le=1_000)] = 20) -> ListPage[Knowledge]:
    """Records that a person should confirm, correct or forget; flagged ones come first."""
    return ListPage[Knowledge].model_construct(items=list(memory.context.to_review(limit=limit)), next=None, total=None)


def store_work_state(memory: Memory, body: WorkStateRequest) -> Knowledge:
    """Store where a session leaves its work, for the one that resumes it."""
    return memory.work_state(**body.model_dump())


_SLOW, _WRITE = CallQueue.SLOW, CallQueue.WRITE
ROUTES = (
    Route("POST", "/context", build_context, ContextAnswer, "Build a context for a prompt"),
    Route("GET", "/context/briefing", get_briefing, BriefingAnswer, "Get a briefing for a session"),
    Route("POST", "/context/prefetch", prefetch, ListPage[LikelyFile], "Predict the files of a session", _SLOW),
    Route("POST", "/context/planner", context_for_planner, StageAnswer, "Build a context for a planner"),
    Route("POST", "/context/qa", context_for_qa, StageAnswer, "Build a context for a check"),
    Route("POST", "/context/hand-over", hand_over, CountAnswer, "Hand records to the next stage", _WRITE),
    Route("GET", "/context/relay", get_relay, StageAnswer, "Get what the stage before handed over"),
    Route("GET", "/context/calibration", get_calibration, CalibrationAnswer, "Get the calibration of estimates"),
    Route("GET", "/context/review", list_to_review, ListPage[Knowledge], "List records to review"),
    Route("POST", "/work-state", store_work_state, Knowledge, "Store the state of work", _WRITE, 201),
)
