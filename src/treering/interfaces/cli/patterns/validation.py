"""validate, mine, review, refine, diff and prune: the pattern stages of maintenance, run now."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.options import AsJson, Db, Project, opened
from treering.interfaces.cli.output import emit, record_document
from treering.interfaces.cli.patterns.options import DryRun, PatternId

if TYPE_CHECKING:
    from treering.core.patterns import Pattern
    from treering.memory import Memory
    from treering.patterns.reviews import RefinedPattern
    from treering.patterns.validation_stage import ValidatedPattern


def validate(
    *,
    dry_run: DryRun = False,
    everything: Annotated[bool, typer.Option("--all", help="Also show patterns whose status did not change.")] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Judge every pattern by its applications, and show changes of status with the reasons."""
    with opened(db, project) as memory:
        verdicts = memory.patterns.validate(dry_run=dry_run)
    from treering.interfaces.cli.patterns import views

    document = {"dry_run": dry_run, "patterns": [_verdict(each) for each in verdicts]}
    emit(document, lambda: views.validated(verdicts, dry_run=dry_run, everything=everything), as_json=as_json)


def mine(*, dry_run: DryRun = False, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Mine the episodes for patterns, with the evidence for and against each.

    Known patterns are updated, never duplicated; deprecated ones stay deprecated.
    """
    with opened(db, project) as memory:
        candidates = memory.patterns.mine(dry_run=dry_run)
    from treering.interfaces.cli.patterns import views

    document = {"dry_run": dry_run, "candidates": candidates}
    emit(document, lambda: views.mined(candidates, dry_run=dry_run), as_json=as_json)


def review(id: PatternId, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Show the recent failures of a pattern, and how it could be narrowed."""
    with opened(db, project) as memory:
        found = memory.patterns.review(id)
    from treering.interfaces.cli.patterns import views

    document = {
        "pattern": record_document(found.pattern),
        "failed": [record_document(each) for each in found.failed],
        "succeeded": found.succeeded,
        "proposed": found.proposed,
    }
    emit(document, lambda: views.review(found), as_json=as_json)


def refine(
    id: PatternId, *, dry_run: DryRun = False, db: Db = None, project: Project = None, as_json: AsJson = False
) -> None:
    """Narrow a pattern by the condition that best separates its failures.

    Shows the change in words. The evidence is reset.
    """
    with opened(db, project) as memory:
        found = memory.patterns.refine(id, dry_run=dry_run)
    from treering.interfaces.cli.patterns import views

    emit(_refined(found, dry_run=dry_run), lambda: views.refined(found, dry_run=dry_run), as_json=as_json)


def diff(
    id: PatternId,
    *,
    version: Annotated[
        int | None,
        typer.Option(
            "--version", metavar="N", min=1, help="Compare with this version; default: the last that differs."
        ),
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show in words what a refinement or an update changed.

    `refine --dry-run` shows what a refinement would change.
    """
    with opened(db, project) as memory:
        after = memory.patterns.get(id)
        before = _earlier(memory, after, version)
    from treering.interfaces.cli.patterns import change_lines, views

    document = {
        "id": id,
        "before": record_document(before),
        "after": record_document(after),
        "changes": [asdict(each) for each in change_lines.changes(before, after)],
    }
    emit(document, lambda: views.difference(before, after), as_json=as_json)


def prune(*, dry_run: DryRun = False, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Deprecate patterns that are proven weak, contradicted or long unused."""
    with opened(db, project) as memory:
        low = memory.patterns.prune(dry_run=dry_run)
    from treering.interfaces.cli.patterns import views

    document = {
        "dry_run": dry_run,
        "pruned": [{"id": each.pattern.id, "name": each.pattern.name, "reasons": list(each.reasons)} for each in low],
    }
    emit(document, lambda: views.pruned(low, dry_run=dry_run), as_json=as_json)


def _earlier(memory: "Memory", pattern: "Pattern", version: int | None) -> "Pattern":
    """The given version; else the latest that differs."""
    from treering.interfaces.cli.patterns import change_lines

    versions = memory.patterns.versions(pattern.id)
    if version is None:
        differing = next((each for each in versions if change_lines.changes(each, pattern)), None)
        if differing is None:
            advice = f"`treering patterns refine {pattern.id} --dry-run` shows what a refinement would change"
            raise InvalidInput(f"pattern {pattern.id!r} has no earlier version that differs; {advice}")
        return differing
    for each in versions:
        if each.version == version:
            return each
    known = ", ".join(str(each.version) for each in versions)
    versions_known = f"the earlier versions are {known}" if known else "it was never changed"
    raise InvalidInput(f"pattern {pattern.id!r} has no earlier version {version}; {versions_known}")


def _verdict(each: "ValidatedPattern") -> dict[str, Any]:
    judged = each.judged.model_dump(mode="json")
    return {"id": each.pattern, "name": each.name, "before": each.before.value, "moved": each.moved, **judged}


def _refined(found: "RefinedPattern", *, dry_run: bool) -> dict[str, Any]:
    from treering.interfaces.cli.patterns import change_lines

    return {
        "dry_run": dry_run,
        "refined": found.after != found.before,
        "reason": found.refinement.reason,
        "p_value": found.refinement.p_value,
        "changes": [asdict(each) for each in change_lines.changes(found.before, found.after)],
        "before": record_document(found.before),
        "after": record_document(found.after),
    }
