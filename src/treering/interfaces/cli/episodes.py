"""episode and episodes: store and search task executions."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.options import (
    AsJson,
    Db,
    Project,
    Tags,
    TaintReason,
    TaintSource,
    VisibilityLevel,
    opened,
    taint_of,
)
from treering.interfaces.cli.output import emit, json_object, record_document, text_or_stdin

if TYPE_CHECKING:
    from treering.core.queries import EpisodeFilter, TimeRange
    from treering.episodes.answer import EpisodeAnswer
    from treering.episodes.api import Episodes
    from treering.episodes.search import Compared

_NAMED_ARGUMENTS = ("artifacts", "at", "id", "outcome", "output", "session", "task")
"""Arguments of `Memory.episode` beside its fields."""
_OPTION_OF = {"task": "TASK", "outcome": "--outcome", "artifacts": "--artifact"}
MODES = ("hybrid", "semantic", "structured", "recent", "during")

Several = list[str] | None
Domains = Annotated[Several, typer.Option("--domain", metavar="NAME", help="Only this domain; repeatable.")]
TaskTypes = Annotated[Several, typer.Option("--task-type", metavar="TYPE", help="Only this task type; repeatable.")]
Tools = Annotated[Several, typer.Option("--tool", metavar="NAME", help="A tool that was used; repeatable.")]


def episode(
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task; - reads it from stdin.")],
    *,
    outcome: Annotated[
        str, typer.Option("--outcome", metavar="STATUS", help="SUCCESS, PARTIAL or FAILURE.")
    ] = "SUCCESS",
    output: Annotated[str | None, typer.Option("--output", metavar="TEXT", help="Output of the task.")] = None,
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="Session of the task.")] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="WHEN", help="When: 2026-05-08T13:56Z…")] = None,
    goals: Annotated[Several, typer.Option("--goal", metavar="TEXT", help="A goal; repeatable.")] = None,
    plan: Annotated[Several, typer.Option("--step", metavar="TEXT", help="A step of the plan; repeatable.")] = None,
    insights: Annotated[Several, typer.Option("--insight", metavar="TEXT", help="An insight; repeatable.")] = None,
    failures: Annotated[Several, typer.Option("--failure", metavar="TEXT", help="A failure; repeatable.")] = None,
    domain: Annotated[str | None, typer.Option("--domain", metavar="NAME", help="Domain of the task.")] = None,
    task_type: Annotated[str | None, typer.Option("--task-type", metavar="TYPE", help="Type of the task.")] = None,
    tools: Tools = None,
    tags: Tags = None,
    artifacts: Annotated[
        Several, typer.Option("--artifact", metavar="FILE", help="A file that it produced; repeatable.")
    ] = None,
    detail: Annotated[
        str | None, typer.Option("--detail", metavar="JSON", help="Further fields: constraints, trace, quality…")
    ] = None,
    visibility: VisibilityLevel = None,
    taint: TaintSource = None,
    taint_reason: TaintReason = None,
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="Id to use; storing the same episode again changes nothing."),
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Store a task execution with its artifacts."""
    description = text_or_stdin(task)
    more = _more(detail)
    fields: dict[str, Any] = {
        "output": output,
        "session": session,
        "at": at,
        "goals": goals,
        "plan": plan,
        "insights": insights,
        "failures": failures,
        "domain": domain,
        "task_type": task_type,
        "tools": tools,
        "tags": tags,
        "visibility": visibility,
        "taint": taint_of(taint, taint_reason),
        "id": id,
    }
    given = {name: value for name, value in fields.items() if value is not None}
    if repeated := sorted(given.keys() & more.keys()):
        raise InvalidInput(f"{repeated[0]} is given by --detail and by an option; give it once")
    with opened(db, project) as memory:
        stored = memory.episode(description, outcome=outcome, artifacts=_files(artifacts or ()), **given, **more)
    from treering.interfaces.cli import episode_views

    given_text = "\n".join((description, str(given), detail or ""))
    emit(record_document(stored), lambda: episode_views.stored(stored, given_text), as_json=as_json)


def episodes(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to search for; default: the newest.")] = "",
    *,
    mode: Annotated[
        str | None,
        typer.Option("--mode", metavar="MODE", help="hybrid (default), semantic, structured, recent or during."),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option("--compare", metavar="PART", help="Compare QUERY only with the task, outcome or whole."),
    ] = None,
    failure: Annotated[
        str | None, typer.Option("--failure", metavar="TEXT", help="Episodes with this error, and how they recovered.")
    ] = None,
    around: Annotated[
        str | None, typer.Option("--around", metavar="ID_OR_WHEN", help="Sessions before and after a record or a time.")
    ] = None,
    trend: Annotated[
        int | None, typer.Option("--trend", metavar="DAYS", help="Counts and success by week, over DAYS days.")
    ] = None,
    by: Annotated[
        str, typer.Option("--by", metavar="GROUP", help="For --trend: domain, task_type or tool.")
    ] = "domain",
    sessions: Annotated[
        int | None, typer.Option("--sessions", metavar="N", help="Number of sessions, for recent and --around.")
    ] = None,
    domains: Domains = None,
    task_types: TaskTypes = None,
    outcomes: Annotated[
        Several, typer.Option("--outcome", metavar="STATUS", help="Only with this outcome; repeatable.")
    ] = None,
    statuses: Annotated[
        Several, typer.Option("--status", metavar="PHASE", help="active, mature, aged or archived; repeatable.")
    ] = None,
    tools: Tools = None,
    tags: Tags = None,
    in_sessions: Annotated[
        Several, typer.Option("--session", metavar="ID", help="Only this session; repeatable.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="WHEN", help="Not older than: 2026-05-08…")] = None,
    before: Annotated[str | None, typer.Option("--before", metavar="WHEN", help="Older than this time.")] = None,
    cold: Annotated[bool, typer.Option("--cold", help="Include all aged and archived episodes.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="Maximum number of results.")] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Search episodes by meaning, attributes and time, or by failure."""
    chosen = _mode(mode, query)
    if compare is not None and chosen in MODES[2:]:
        raise InvalidInput("--compare needs a query; add one")
    _one_of(query=query or None, failure=failure, around=around, trend=trend)
    from treering.core.queries import EpisodeFilter

    with opened(db, project) as memory:
        found = memory.episodes
        where = EpisodeFilter.make(
            domains=tuple(domains or ()),
            task_types=tuple(task_types or ()),
            outcomes=tuple(outcome.upper() for outcome in outcomes or ()),
            statuses=tuple(statuses or ()),
            tools=tuple(tools or ()),
            tags=tuple(tags or ()),
            sessions=tuple(in_sessions or ()),
            happened=_span(since, before, found),
        )
        from treering.interfaces.cli import episode_views

        if failure is not None:
            failed = found.similar_failures(text_or_stdin(failure), limit=limit)
            emit(failed, lambda: episode_views.failures(failed), as_json=as_json)
        elif trend is not None:
            rows = found.trend(trend, by=by, where=where)
            document = {"by": by, "periods": [{**_fields(row), "success_rate": row.success_rate} for row in rows]}
            emit(document, lambda: episode_views.trend(rows), as_json=as_json)
        else:
            answer = (
                found.around(around, sessions=sessions or 3, limit=limit)
                if around is not None
                else _search(found, chosen, query, where, sessions=sessions, cold=cold, limit=limit, compare=compare)
            )
            emit(answer, lambda: episode_views.answer(answer), as_json=as_json)


def _search(
    episodes: "Episodes",
    mode: str,
    query: str,
    where: "EpisodeFilter",
    *,
    sessions: int | None,
    cold: bool,
    limit: int | None,
    compare: str | None,
) -> "EpisodeAnswer":
    part = cast("Compared | None", compare)  # `search` rejects other values
    searches: dict[str, Callable[[], EpisodeAnswer]] = {
        "hybrid": lambda: episodes.search(query, where=where, cold=cold, limit=limit, compare=part),
        "semantic": lambda: episodes.search_semantic(query, where=where, cold=cold, limit=limit, compare=part),
        "structured": lambda: episodes.search_structured(where, cold=cold, limit=limit),
        "recent": lambda: episodes.recent(limit, sessions=sessions, where=where),
        "during": lambda: episodes.during(*_ends(where), where=where, limit=limit),
    }
    return searches[mode]()


def _ends(where: "EpisodeFilter") -> tuple[Any, Any]:
    return (where.happened.since, where.happened.before) if where.happened else (None, None)


def _mode(mode: str | None, query: str) -> str:
    if mode is None:
        return "hybrid" if query.strip() else "structured"
    if mode not in MODES:
        raise InvalidInput(f"--mode is {mode!r}; use one of {', '.join(MODES)}")
    if query.strip() and mode in MODES[2:]:
        raise InvalidInput(f"--mode {mode} takes no query; leave one of them out")
    if not query.strip() and mode in MODES[:2]:
        raise InvalidInput(f"--mode {mode} needs a query; add one")
    return mode


def _one_of(**options: object) -> None:
    if len(named := [name for name, value in options.items() if value is not None]) > 1:
        raise InvalidInput(f"{' and '.join(named)} exclude each other; use one of them")


def _span(since: str | None, before: str | None, episodes: "Episodes") -> "TimeRange | None":
    from treering.core.queries import TimeRange
    from treering.core.timestamps import timestamp_of

    if since is None and before is None:
        return None
    now = episodes.clock()
    ends = (None if each is None else timestamp_of(each, now) for each in (since, before))
    return TimeRange(**dict(zip(("since", "before"), ends, strict=True)))


def _more(detail: str | None) -> dict[str, Any]:
    """Fields of `--detail`; those that have an option of their own are rejected."""
    if detail is None:
        return {}
    from treering.core.fields import EpisodeFields

    more = json_object("--detail", detail)
    known = sorted({*EpisodeFields.__annotations__, *_NAMED_ARGUMENTS})
    for name in sorted(more):
        if name in _OPTION_OF:
            raise InvalidInput(f"--detail has {name}; use {_OPTION_OF[name]} instead")
        if name not in known:
            raise InvalidInput(f"--detail has an unknown field {name!r}; use {', '.join(known)}")
    return more


def _files(paths: Iterable[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in map(Path, paths):
        if path.name in found:
            raise InvalidInput(f"two artifacts are called {path.name!r}; rename one of them")
        found[path.name] = path
    return found


def _fields(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("since", "before", "group", "episodes", "successes")}
