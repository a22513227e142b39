"""Patterns: what works, with evidence."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import Query

from treering.core.patterns import Application, Pattern, PatternCategory, PatternStatus, TemplateSubtask
from treering.core.queries import PatternFilter
from treering.core.values import thaw
from treering.interfaces.rest.calls import Raw, RecordId, Route, stored_record
from treering.interfaces.rest.nouns.pattern_schemas import (
    AfterFailureRequest,
    ApplicableRequest,
    ApplicationRequest,
    ConditionRequest,
    ConditionText,
    DeprecateRequest,
    DryRun,
    FailureAdvice,
    InstantiateRequest,
    MergeRequest,
    MinedPatternAnswer,
    NextStepsRequest,
    PatternChanges,
    PatternFile,
    PatternImportAnswer,
    PatternRequest,
    PatternReviewAnswer,
    RankedPatternAnswer,
    RefinedPatternAnswer,
    SessionEvidence,
    SimilarPatternAnswer,
    SuggestedStep,
    TaskAdvice,
    ValidatedPatternAnswer,
    WeakPattern,
)
from treering.interfaces.rest.schemas import After, Limit, ListPage
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory


def list_patterns(
    memory: Memory,
    *,
    categories: Annotated[Sequence[PatternCategory], Query(description="Any of these; repeatable.")] = (),
    statuses: Annotated[Sequence[PatternStatus], Query(description="Any of these; repeatable.")] = (),
    domains: Annotated[Sequence[str], Query(description="Any of these; repeatable.")] = (),
    limit: Limit = 50,
    after: After = None,
) -> ListPage[Pattern]:
    """List patterns, newest first."""
    where = PatternFilter.make(categories=tuple(categories), statuses=tuple(statuses), domains=tuple(domains))
    page = memory.page("patterns", where=where, limit=limit, after=after)
    return ListPage[Pattern].model_construct(items=list(page.items), next=page.next, total=None)


def add_pattern(memory: Memory, body: PatternRequest) -> Pattern:
    """Store a new pattern. It starts as a candidate, whatever its author claims."""
    return memory.patterns.add(name=body.name, category=body.category, content=body.content, id=body.id, **body.fields)


def get_pattern(memory: Memory, id: RecordId) -> Pattern:
    """The pattern with its uses counted up to now."""
    return memory.patterns.get(id)


def update_pattern(memory: Memory, id: RecordId, body: PatternChanges) -> Pattern:
    """Store a new version of a pattern; the old one is kept."""
    return memory.patterns.update(id, **body.changes)


def explain_condition(memory: Memory, body: ConditionRequest) -> ConditionText:
    """A condition of a pattern in words."""
    return ConditionText(text=memory.patterns.explain(body.condition))


def find_applicable(memory: Memory, body: ApplicableRequest) -> ListPage[RankedPatternAnswer]:
    """Patterns that apply to a task, best first, each with the terms of its score and the reason."""
    found = memory.patterns.find_applicable(body.task, limit=body.limit, **body.options())
    return ListPage[RankedPatternAnswer](items=[RankedPatternAnswer.model_validate(each) for each in found])


def context_for_task(memory: Memory, body: ApplicableRequest) -> dict[str, Any]:
    """What memory has for a new task: patterns, similar episodes and knowledge."""
    found = memory.patterns.context_for_task(body.task, patterns=body.limit, **body.options())
    return {
        "task": found.task,
        "features": thaw(found.features),
        "patterns": found.patterns,
        "episodes": found.episodes.hits,
        "known": found.known.hits,
        "missing": dict(found.missing),
        "text": found.text(),
    }


def after_failure(memory: Memory, body: AfterFailureRequest) -> dict[str, Any]:
    """What helps after a failure: proven recoveries, knowledge, similar failures and usual next steps."""
    found = memory.patterns.after_failure(
        body.error, history=body.history, task=body.task, limit=body.limit, **body.features
    )
    return {
        "error": found.error,
        "recoveries": found.recoveries,
        "similar": found.similar.hits,
        "next_steps": found.next_steps,
        "known": found.known,
        "text": found.text(),
    }


def next_steps(memory: Memory, body: NextStepsRequest) -> ListPage[SuggestedStep]:
    """The steps that usually follow these."""
    found = memory.patterns.next_steps(body.history, features=body.features, message=body.message, limit=body.limit)
    return ListPage[SuggestedStep](items=[SuggestedStep.model_validate(each) for each in found])


def list_applications(
    memory: Memory, id: RecordId, limit: Annotated[int, Query(ge=1, le=1_000)] = 50
) -> ListPage[Application]:
    """Uses of a pattern with their outcomes, newest first."""
    found = list(memory.patterns.applications(id, limit=limit))
    return ListPage[Application].model_construct(items=found, next=None, total=None)


def record_application(memory: Memory, id: RecordId, body: ApplicationRequest) -> Application:
    """Record one use of a pattern; an episode counts once."""
    return memory.patterns.record_application(id, **body.given())


def pattern_sessions(memory: Memory, id: RecordId) -> ListPage[SessionEvidence]:
    """Outcomes by session, oldest first: the evidence behind the pattern's status."""
    found = memory.patterns.sessions(id)
    return ListPage[SessionEvidence](items=[SessionEvidence.model_validate(each) for each in found])


def pattern_versions(memory: Memory, id: RecordId) -> ListPage[Pattern]:
    """Earlier versions of a pattern, latest first."""
    return ListPage[Pattern].model_construct(items=list(memory.patterns.versions(id)), next=None, total=None)


def review_pattern(memory: Memory, id: RecordId) -> dict[str, Any]:
    """Where a pattern failed and how it could be narrowed. Changes nothing."""
    found = memory.patterns.review(id)
    return {
        "pattern": found.pattern,
        "failed": found.failed,
        "succeeded": found.succeeded,
        "proposed": _refinement(found.proposed),
    }


def refine_pattern(memory: Memory, id: RecordId, body: DryRun | None = None) -> dict[str, Any]:
    """Narrow a pattern by the condition that best separates its failures, if one does."""
    found = memory.patterns.refine(id, dry_run=body is not None and body.dry_run)
    return {"before": found.before, "after": found.after, "refinement": _refinement(found.refinement)}


def deprecate_pattern(memory: Memory, id: RecordId, body: DeprecateRequest) -> Pattern:
    """Take a pattern out of use for good; the record and the reason are kept."""
    return memory.patterns.deprecate(id, body.reason, superseded_by=body.superseded_by)


def similar_patterns(
    memory: Memory, id: RecordId, limit: Annotated[int, Query(ge=1, le=100)] = 5
) -> ListPage[SimilarPatternAnswer]:
    """Patterns of the same category with similar content, most similar first."""
    found = [
        SimilarPatternAnswer(
            pattern=each.pattern,
            score=each.likeness.score,
            structure=each.likeness.structure,
            applicability=each.likeness.applicability,
            words=each.likeness.words,
        )
        for each in memory.patterns.similar(id, limit=limit)
    ]
    return ListPage[SimilarPatternAnswer].model_construct(items=found, next=None, total=None)


def merge_patterns(memory: Memory, body: MergeRequest) -> Pattern:
    """Replace several patterns by one candidate with all their evidence."""
    return memory.patterns.merge(body.ids)


def instantiate_pattern(memory: Memory, id: RecordId, body: InstantiateRequest) -> ListPage[TemplateSubtask]:
    """The subtasks of a template in the order of their dependencies."""
    found = list(memory.patterns.instantiate(id, **body.values))
    return ListPage[TemplateSubtask].model_construct(items=found, next=None, total=None)


def validate_patterns(memory: Memory, body: DryRun | None = None) -> ListPage[ValidatedPatternAnswer]:
    """Judge every pattern by its applications; patterns whose status changed come first."""
    found = memory.patterns.validate(dry_run=body is not None and body.dry_run)
    items = [
        ValidatedPatternAnswer(
            pattern=each.pattern,
            name=each.name,
            before=each.before,
            moved=each.moved,
            judged=each.judged.model_dump(mode="json"),
        )
        for each in found
    ]
    return ListPage[ValidatedPatternAnswer].model_construct(items=items, next=None, total=None)


def prune_patterns(memory: Memory, body: DryRun | None = None) -> ListPage[WeakPattern]:
    """Deprecate patterns that are proven weak, contradicted or long unused."""
    found = memory.patterns.prune(dry_run=body is not None and body.dry_run)
    return ListPage[WeakPattern](items=[WeakPattern.model_validate(each) for each in found])


def mine_patterns(memory: Memory, body: DryRun | None = None) -> ListPage[MinedPatternAnswer]:
    """Search all episodes for what works, and store each finding as a candidate."""
    found = memory.patterns.mine(dry_run=body is not None and body.dry_run)
    return ListPage[MinedPatternAnswer](items=[MinedPatternAnswer.model_validate(each) for each in found])


def export_patterns(
    memory: Memory, format: Annotated[Literal["yaml", "json"], Query(description="Format of the file.")] = "yaml"
) -> Raw:
    """Patterns as YAML or JSON that can be read and edited."""
    return Raw(memory.patterns.export(format).encode(), "text/plain; charset=utf-8")


def import_patterns(memory: Memory, body: PatternFile) -> Any:
    """Import what an export wrote, all or nothing. Imported patterns are candidates."""
    return memory.patterns.import_(body.text)


def _refinement(found: Any) -> dict[str, Any]:
    fields = found.model_dump(mode="json", include={"applicability", "changes", "reason", "p_value", "gain"})
    return dict(fields)


_SLOW, _WRITE = CallQueue.SLOW, CallQueue.WRITE
_P = "/patterns"
ROUTES = (
    Route("GET", _P, list_patterns, ListPage[Pattern], "List patterns"),
    Route("POST", _P, add_pattern, Pattern, "Store a pattern", _WRITE, 201, replay=stored_record),
    Route("POST", f"{_P}/explain", explain_condition, ConditionText, "Explain a condition"),
    Route("POST", f"{_P}/applicable", find_applicable, ListPage[RankedPatternAnswer], "Find applicable patterns"),
    Route("POST", f"{_P}/task-context", context_for_task, TaskAdvice, "Get advice for a task"),
    Route("POST", f"{_P}/after-failure", after_failure, FailureAdvice, "Get advice after a failure"),
    Route("POST", f"{_P}/next-steps", next_steps, ListPage[SuggestedStep], "Suggest next steps"),
    Route("POST", f"{_P}/validate", validate_patterns, ListPage[ValidatedPatternAnswer], "Validate patterns", _SLOW),
    Route("POST", f"{_P}/prune", prune_patterns, ListPage[WeakPattern], "Deprecate weak patterns", _SLOW),
    Route("POST", f"{_P}/mine", mine_patterns, ListPage[MinedPatternAnswer], "Mine episodes for patterns", _SLOW),
    Route("POST", f"{_P}/merge", merge_patterns, Pattern, "Merge patterns", _WRITE),
    Route("GET", f"{_P}/export", export_patterns, str, "Export patterns", media_type="text/plain"),
    Route("POST", f"{_P}/import-file", import_patterns, PatternImportAnswer, "Import patterns", _WRITE),
    Route("GET", f"{_P}/{{id}}", get_pattern, Pattern, "Get a pattern"),
    Route("PATCH", f"{_P}/{{id}}", update_pattern, Pattern, "Change a pattern", _WRITE),
    Route("GET", f"{_P}/{{id}}/applications", list_applications, ListPage[Application], "List uses of a pattern"),
    Route("POST", f"{_P}/{{id}}/applications", record_application, Application, "Record a use", _WRITE, 201),
    Route("GET", f"{_P}/{{id}}/sessions", pattern_sessions, ListPage[SessionEvidence], "Get evidence by session"),
    Route("GET", f"{_P}/{{id}}/versions", pattern_versions, ListPage[Pattern], "List versions of a pattern"),
    Route("GET", f"{_P}/{{id}}/review", review_pattern, PatternReviewAnswer, "Review a pattern"),
    Route("GET", f"{_P}/{{id}}/similar", similar_patterns, ListPage[SimilarPatternAnswer], "Find similar patterns"),
    Route("POST", f"{_P}/{{id}}/refine", refine_pattern, RefinedPatternAnswer, "Refine a pattern", _WRITE),
    Route("POST", f"{_P}/{{id}}/deprecate", deprecate_pattern, Pattern, "Deprecate a pattern", _WRITE),
    Route("POST", f"{_P}/{{id}}/instantiate", instantiate_pattern, ListPage[TemplateSubtask], "Instantiate a template"),
)
