"""list, show, find, similar and history."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treering.core.errors import InvalidInput, NotFound
from treering.interfaces.cli.options import AsJson, Db, Project, opened
from treering.interfaces.cli.output import emit, record_document, text_or_stdin
from treering.interfaces.cli.patterns.options import (
    Categories,
    Domains,
    Limit,
    PatternId,
    ProblemTypes,
    Several,
    Statuses,
    categories,
    json_option,
    statuses,
    usage_errors,
)

if TYPE_CHECKING:
    from treering.core.patterns import Pattern
    from treering.interfaces.cli.patterns.chart import PatternView
    from treering.memory import Memory
    from treering.patterns.matching.ranking import RankedPattern

_DEFAULT_LIMIT = 50


def list_(
    *,
    statuses_: Statuses = None,
    categories_: Categories = None,
    problem_types: ProblemTypes = None,
    domains: Domains = None,
    limit: Limit = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List patterns, newest first."""
    from treering.core.queries import PatternFilter

    with usage_errors():
        requirement_lines = PatternFilter.make(
            statuses=statuses(statuses_),
            categories=categories(categories_),
            problem_types=tuple(problem_types or ()),
            domains=tuple(domains or ()),
        )
    limit = _DEFAULT_LIMIT if limit is None else limit
    with opened(db, project) as memory:
        found = memory.patterns.list(requirement_lines, limit=limit + 1)
    shown, more = found[:limit], len(found) > limit
    from treering.interfaces.cli.patterns import views

    document = {"patterns": [record_document(each) for each in shown], "more": more}
    emit(document, lambda: views.listing(shown, more), as_json=as_json)


def show(
    id: PatternId,
    *,
    values: Annotated[
        Several,
        typer.Option("--with", metavar="NAME=VALUE", help="Fill in a template and show its subtasks; repeatable."),
    ] = None,
    fill: Annotated[bool, typer.Option("--fill", help="Show a template's subtasks with default values.")] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show a pattern with its evidence as a chart.

    Success by week against the base rate, episodes for and against it, confidence, and changes of its status.
    """
    if fill or values is not None:
        _show_subtasks(id, _given(values or []), db, project, as_json=as_json)
        return
    with opened(db, project) as memory:
        shown = _shown(memory, id)
    from treering.interfaces.cli.patterns import chart

    emit(_document(shown), lambda: chart.pattern_view(shown), as_json=as_json)


def find(
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task; - reads it from stdin.")],
    *,
    task_type: Annotated[
        str | None,
        typer.Option("--task-type", metavar="TYPE", help="fix, test, refactor…; default: inferred from the task."),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option("--domain", metavar="NAME", help="backend, database…; default: inferred from the task."),
    ] = None,
    complexity: Annotated[
        float | None,
        typer.Option("--complexity", metavar="0..1", min=0, max=1, help="Complexity; default: inferred from the task."),
    ] = None,
    tools: Annotated[Several, typer.Option("--tool", metavar="NAME", help="An available tool; repeatable.")] = None,
    files: Annotated[Several, typer.Option("--file", metavar="PATH", help="A file of the task; repeatable.")] = None,
    languages: Annotated[
        Several, typer.Option("--language", metavar="NAME", help="A programming language; repeatable.")
    ] = None,
    context: Annotated[
        str | None, typer.Option("--context", metavar="JSON", help="Further features for conditions, as an object.")
    ] = None,
    statuses_: Statuses = None,
    categories_: Categories = None,
    limit: Limit = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Find the patterns that apply to a task, best first, with every term of their score.

    Only validated ones unless --status names others.
    """
    description = text_or_stdin(task)
    features: dict[str, Any] = {
        "task_type": task_type,
        "domain": domain,
        "complexity": complexity,
        "tools": tools,
        "files": files,
        "languages": languages,
        "context": None if context is None else json_option("--context", context, '{"branch": "main"}'),
        "statuses": statuses(statuses_) or None,
        "categories": categories(categories_) or None,
        "limit": limit,
    }
    given = {name: value for name, value in features.items() if value is not None}
    with opened(db, project) as memory:
        found = memory.patterns.find_applicable(description, **given)
    from treering.interfaces.cli.patterns import views

    document = {"task": description, "patterns": [_ranked(each) for each in found]}
    emit(document, lambda: views.found(found, proven_only=not statuses_), as_json=as_json)


def similar(
    id: PatternId, limit: Limit = None, db: Db = None, project: Project = None, as_json: AsJson = False
) -> None:
    """Find similar patterns, which may be merged."""
    with opened(db, project) as memory:
        given = {} if limit is None else {"limit": limit}
        found = memory.patterns.similar(id, **given)
    from treering.interfaces.cli.patterns import views

    document = {
        "id": id,
        "similar": [{"pattern": record_document(each.pattern), "likeness": asdict(each.likeness)} for each in found],
    }
    emit(document, lambda: views.similar(found), as_json=as_json)


def history(id: PatternId, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Show every change of a pattern, with the evidence that caused it."""
    with opened(db, project) as memory:
        try:
            entries = memory.patterns.history(id)
        except NotFound as exc:
            raise NotFound(f"{exc}; `treering patterns list` lists ids") from exc
    from treering.interfaces.cli.patterns import views

    emit({"id": id, "entries": entries}, lambda: views.history(entries), as_json=as_json)


def _shown(memory: "Memory", id: str) -> "PatternView":
    from treering.interfaces.cli.patterns.chart import PatternView
    from treering.interfaces.cli.patterns.weeks import weeks_of

    known = memory.patterns
    weeks = weeks_of(known.sessions(id), known.clock(), memory.settings.patterns.window_days)
    return PatternView(known.get(id), weeks, [each for each in known.history(id) if "to" in each.detail])


def _document(shown: "PatternView") -> dict[str, Any]:
    return {
        **record_document(shown.pattern),
        "weeks": shown.weeks,
        "status_history": shown.moves,
        "in_words": _words(shown.pattern),
    }


def _words(pattern: "Pattern") -> dict[str, list[str]]:
    from treering.core.pattern_words import content_lines, requirement_lines

    return {"applies": list(requirement_lines(pattern.applicability)), "does": list(content_lines(pattern.content))}


def _ranked(row: "RankedPattern") -> dict[str, Any]:
    return {"pattern": record_document(row.pattern), "score": row.score, "terms": dict(row.terms), "why": row.why}


def _given(values: list[str]) -> dict[str, str]:
    """Values of parameters by name."""
    given: dict[str, str] = {}
    for each in values:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"--with {each!r} has no value; write NAME=VALUE")
        if name in given:
            raise typer.BadParameter(f"--with gives {name!r} twice, {given[name]!r} and {value!r}; keep one of them")
        given[name] = value
    return given


def _show_subtasks(id: str, given: dict[str, str], db: str | None, project: str | None, *, as_json: bool) -> None:
    with opened(db, project) as memory:
        _check_values(memory.patterns.get(id), given)
        subtasks = memory.patterns.instantiate(id, **given)
    from treering.interfaces.cli.patterns import chart

    emit({"id": id, "subtasks": list(subtasks)}, lambda: chart.subtasks(subtasks), as_json=as_json)


def _check_values(pattern: "Pattern", given: dict[str, str]) -> None:
    """Raise `InvalidInput` for an empty value of a required parameter."""
    for each in getattr(pattern.content, "parameters", ()):
        if each.required and not given.get(each.name, "-").strip():
            default = f", or leave it out for {each.default!r}" if each.default else ""
            raise InvalidInput(f"--with '{each.name}=' is empty; write {each.name}=VALUE{default}")
