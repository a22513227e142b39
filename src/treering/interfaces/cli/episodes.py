"""episode and episodes: whole task executions, kept and found again."""

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
    Visible,
    opened,
    taint_of,
)
from treering.interfaces.cli.output import emit, json_object, record_document, text_or_stdin

if TYPE_CHECKING:
    from treering.core.queries import EpisodeFilter, TimeRange
    from treering.episodes.answer import EpisodeAnswer
    from treering.episodes.api import Episodes
    from treering.episodes.search import Compared

_SAID_ELSEWHERE = {"task": "TASK", "outcome": "--outcome", "artifacts": "--artifact"}
MODES = ("hybrid", "semantic", "structured", "recent", "during")

Several = list[str] | None
Domains = Annotated[Several, typer.Option("--domain", metavar="NAME", help="Only of this domain; again for more.")]
TaskTypes = Annotated[Several, typer.Option("--task-type", metavar="TYPE", help="Only of this type; again for more.")]
Tools = Annotated[Several, typer.Option("--tool", metavar="NAME", help="A tool that was used; again for more.")]


def episode(
    task: Annotated[str, typer.Argument(metavar="TASK", help="What was asked; - reads it from stdin.")],
    *,
    outcome: Annotated[
        str, typer.Option("--outcome", metavar="STATUS", help="SUCCESS, PARTIAL or FAILURE.")
    ] = "SUCCESS",
    output: Annotated[str | None, typer.Option("--output", metavar="TEXT", help="What came of it.")] = None,
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="Where it was done.")] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="WHEN", help="When: 2026-05-08T13:56Z…")] = None,
    goals: Annotated[Several, typer.Option("--goal", metavar="TEXT", help="What it was to reach; again.")] = None,
    plan: Annotated[Several, typer.Option("--step", metavar="TEXT", help="A step of the plan; again.")] = None,
    insights: Annotated[Several, typer.Option("--insight", metavar="TEXT", help="What was learned; again.")] = None,
    failures: Annotated[Several, typer.Option("--failure", metavar="TEXT", help="What went wrong; again.")] = None,
    domain: Annotated[str | None, typer.Option("--domain", metavar="NAME", help="What it was about.")] = None,
    task_type: Annotated[str | None, typer.Option("--task-type", metavar="TYPE", help="What kind of task.")] = None,
    tools: Tools = None,
    tags: Tags = None,
    artifacts: Annotated[
        Several, typer.Option("--artifact", metavar="FILE", help="A file that it produced; again for more.")
    ] = None,
    detail: Annotated[
        str | None, typer.Option("--detail", metavar="JSON", help="More of the record: constraints, trace, quality…")
    ] = None,
    visibility: Visible = None,
    taint: TaintSource = None,
    taint_reason: TaintReason = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="An id of your own; the same episode again is stored once.")
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Keep a whole task execution, with what it produced."""
    asked = text_or_stdin(task)
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
    if twice := sorted(given.keys() & more.keys()):
        raise InvalidInput(f"--detail says {twice[0]} as well as the option for it; say it once")
    with opened(db, project) as memory:
        kept = memory.episode(asked, outcome=outcome, artifacts=_files(artifacts or ()), **given, **more)
    from treering.interfaces.cli import episode_views as episode_pictures

    said = "\n".join((asked, str(given), detail or ""))
    emit(record_document(kept), lambda: episode_pictures.kept(kept, said), as_json=as_json)


def episodes(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for; without it, the newest.")] = "",
    *,
    mode: Annotated[
        str | None,
        typer.Option("--mode", metavar="MODE", help="hybrid (as without it), semantic, structured, recent or during."),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option("--compare", metavar="PART", help="Compare QUERY with the task, the outcome or the whole only."),
    ] = None,
    failure: Annotated[
        str | None, typer.Option("--failure", metavar="TEXT", help="Who met this error, and how they got out.")
    ] = None,
    around: Annotated[
        str | None, typer.Option("--around", metavar="ID_OR_WHEN", help="The sessions before and after it.")
    ] = None,
    trend: Annotated[
        int | None, typer.Option("--trend", metavar="DAYS", help="Counts and success by week, over so many days.")
    ] = None,
    by: Annotated[
        str, typer.Option("--by", metavar="GROUP", help="For --trend: domain, task_type or tool.")
    ] = "domain",
    sessions: Annotated[
        int | None, typer.Option("--sessions", metavar="N", help="How many sessions, for recent and --around.")
    ] = None,
    domains: Domains = None,
    task_types: TaskTypes = None,
    outcomes: Annotated[Several, typer.Option("--outcome", metavar="STATUS", help="Only with this end; again.")] = None,
    statuses: Annotated[
        Several, typer.Option("--status", metavar="PHASE", help="active, mature, aged or archived; again.")
    ] = None,
    tools: Tools = None,
    tags: Tags = None,
    in_sessions: Annotated[
        Several, typer.Option("--session", metavar="ID", help="Only from this session; again for more.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="WHEN", help="Not older: 2026-05-08…")] = None,
    before: Annotated[str | None, typer.Option("--before", metavar="WHEN", help="Older than this moment.")] = None,
    cold: Annotated[bool, typer.Option("--cold", help="Aged and archived ones too, however little they fit.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="At most so many results.")] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Find episodes: by meaning, attributes and time, or by what went wrong."""
    chosen = _mode(mode, query)
    if compare is not None and chosen in MODES[2:]:
        raise InvalidInput("--compare needs a query; say what to look for")
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
        from treering.interfaces.cli import episode_views as pictures

        if failure is not None:
            met = found.similar_failures(text_or_stdin(failure), limit=limit)
            emit(met, lambda: pictures.failures(met), as_json=as_json)
        elif trend is not None:
            rows = found.trend(trend, by=by, where=where)
            document = {"by": by, "periods": [{**_fields(row), "success_rate": row.success_rate} for row in rows]}
            emit(document, lambda: pictures.trend(rows), as_json=as_json)
        else:
            answer = (
                found.around(around, sessions=sessions or 3, limit=limit)
                if around is not None
                else _found(found, chosen, query, where, sessions=sessions, cold=cold, limit=limit, compare=compare)
            )
            emit(answer, lambda: pictures.answer(answer), as_json=as_json)


def _found(
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
    part = cast("Compared | None", compare)  # `search` refuses any other
    ways: dict[str, Callable[[], EpisodeAnswer]] = {
        "hybrid": lambda: episodes.search(query, where=where, cold=cold, limit=limit, compare=part),
        "semantic": lambda: episodes.search_semantic(query, where=where, cold=cold, limit=limit, compare=part),
        "structured": lambda: episodes.search_structured(where, cold=cold, limit=limit),
        "recent": lambda: episodes.recent(limit, sessions=sessions, where=where),
        "during": lambda: episodes.during(*_ends(where), where=where, limit=limit),
    }
    return ways[mode]()


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
        raise InvalidInput(f"--mode {mode} needs a query; say what to look for")
    return mode


def _one_of(**ways: object) -> None:
    if len(named := [name for name, value in ways.items() if value is not None]) > 1:
        raise InvalidInput(f"{' and '.join(named)} are different questions; ask one at a time")


def _span(since: str | None, before: str | None, episodes: "Episodes") -> "TimeRange | None":
    from treering.core.queries import TimeRange
    from treering.core.timestamps import timestamp_of

    if since is None and before is None:
        return None
    now = episodes.clock()
    ends = (None if each is None else timestamp_of(each, now) for each in (since, before))
    return TimeRange(**dict(zip(("since", "before"), ends, strict=True)))


def _more(detail: str | None) -> dict[str, Any]:
    """What `--detail` adds to the record: nothing that has a place of its own on the command line."""
    if detail is None:
        return {}
    from treering.episodes.storage import NAMES

    more = json_object("--detail", detail)
    for name in sorted(more):
        if name in _SAID_ELSEWHERE:
            raise InvalidInput(f"--detail says {name}; say it by {_SAID_ELSEWHERE[name]} instead")
        if name not in NAMES:
            raise InvalidInput(f"--detail says {name!r}; an episode has {', '.join(sorted(NAMES))}")
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
