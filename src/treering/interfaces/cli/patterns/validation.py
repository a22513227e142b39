"""validate, mine, review, refine, diff and prune: what the night does to patterns, done now."""

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
    everything: Annotated[bool, typer.Option("--all", help="Also those whose status stays.")] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Judge every pattern by its applications, and show what moved and why."""
    with opened(db, project) as memory:
        verdicts = memory.patterns.validate(dry_run=dry_run)
    from treering.interfaces.cli.patterns import views as pictures

    document = {"dry_run": dry_run, "patterns": [_verdict(each) for each in verdicts]}
    emit(document, lambda: pictures.validated(verdicts, dry_run=dry_run, everything=everything), as_json=as_json)


def mine(*, dry_run: DryRun = False, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Look for patterns in the episodes, with what supports and what contradicts each.

    Found again they are updated, never doubled; what was deprecated stays so.
    """
    with opened(db, project) as memory:
        candidates = memory.patterns.mine(dry_run=dry_run)
    from treering.interfaces.cli.patterns import views as pictures

    document = {"dry_run": dry_run, "candidates": candidates}
    emit(document, lambda: pictures.mined(candidates, dry_run=dry_run), as_json=as_json)


def review(id: PatternId, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Show where a pattern failed lately, and how it could be narrowed."""
    with opened(db, project) as memory:
        found = memory.patterns.review(id)
    from treering.interfaces.cli.patterns import views as pictures

    document = {
        "pattern": record_document(found.pattern),
        "failed": [record_document(each) for each in found.failed],
        "succeeded": found.succeeded,
        "proposed": found.proposed,
    }
    emit(document, lambda: pictures.review(found), as_json=as_json)


def refine(
    id: PatternId, *, dry_run: DryRun = False, db: Db = None, project: Project = None, as_json: AsJson = False
) -> None:
    """Narrow a pattern to where it works, by the test that sets its failures apart best.

    The change is shown in words. Its evidence begins anew.
    """
    with opened(db, project) as memory:
        found = memory.patterns.refine(id, dry_run=dry_run)
    from treering.interfaces.cli.patterns import views as pictures

    emit(_refined(found, dry_run=dry_run), lambda: pictures.refined(found, dry_run=dry_run), as_json=as_json)


def diff(
    id: PatternId,
    *,
    version: Annotated[
        int | None,
        typer.Option("--version", metavar="N", min=1, help="With this one; without it, the last that said otherwise."),
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show in words what a refinement or an update changed, before and after.

    What a refinement would change is shown by refine --dry-run.
    """
    with opened(db, project) as memory:
        after = memory.patterns.get(id)
        before = _earlier(memory, after, version)
    from treering.interfaces.cli.patterns import change_lines as words
    from treering.interfaces.cli.patterns import views as pictures

    document = {
        "id": id,
        "before": record_document(before),
        "after": record_document(after),
        "changes": [asdict(each) for each in words.changes(before, after)],
    }
    emit(document, lambda: pictures.difference(before, after), as_json=as_json)


def prune(*, dry_run: DryRun = False, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Deprecate what is proven weak, contradicted or long unused."""
    with opened(db, project) as memory:
        low = memory.patterns.prune(dry_run=dry_run)
    from treering.interfaces.cli.patterns import views as pictures

    document = {
        "dry_run": dry_run,
        "pruned": [{"id": each.pattern.id, "name": each.pattern.name, "reasons": list(each.reasons)} for each in low],
    }
    emit(document, lambda: pictures.pruned(low, dry_run=dry_run), as_json=as_json)


def _earlier(memory: "Memory", pattern: "Pattern", version: int | None) -> "Pattern":
    """The version that was asked for; else the latest that said something else."""
    from treering.interfaces.cli.patterns import change_lines as words

    versions = memory.patterns.versions(pattern.id)
    if version is None:
        told = next((each for each in versions if words.changes(each, pattern)), None)
        if told is None:
            advice = f"`treering patterns refine {pattern.id} --dry-run` shows what a refinement would change"
            raise InvalidInput(f"pattern {pattern.id!r} says what it always said; {advice}")
        return told
    for each in versions:
        if each.version == version:
            return each
    known = ", ".join(str(each.version) for each in versions)
    there = f"there is {known}" if known else "it was never changed"
    raise InvalidInput(f"pattern {pattern.id!r} has no earlier version {version}; {there}")


def _verdict(each: "ValidatedPattern") -> dict[str, Any]:
    judged = each.judged.model_dump(mode="json")
    return {"id": each.pattern, "name": each.name, "before": each.before.value, "moved": each.moved, **judged}


def _refined(found: "RefinedPattern", *, dry_run: bool) -> dict[str, Any]:
    from treering.interfaces.cli.patterns import change_lines as words

    return {
        "dry_run": dry_run,
        "refined": found.after != found.before,
        "reason": found.refinement.reason,
        "p_value": found.refinement.p_value,
        "changes": [asdict(each) for each in words.changes(found.before, found.after)],
        "before": record_document(found.before),
        "after": record_document(found.after),
    }
