"""search: records of every kind by words, meaning and relations."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.options import (
    QUICK_DRAIN,
    AsJson,
    Db,
    Files,
    InPlay,
    Modules,
    Project,
    Tags,
    WorkPhase,
    is_server_url,
    opened,
)
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from treering import Answer, Memory, SearchFilter, TimeRange

Query = Annotated[str, typer.Argument(metavar="QUERY", help="Text to search for. Default: list the newest records.")]


def search(
    query: Query = "",
    *,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", help="Maximum number of results. Default: search.limit.")
    ] = None,
    types: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", help="Only this knowledge type; repeatable.")
    ] = None,
    tags: Tags = None,
    files: Files = None,
    modules: Modules = None,
    sessions: Annotated[
        list[str] | None, typer.Option("--session", metavar="ID", help="Only records of this session; repeatable.")
    ] = None,
    not_sessions: Annotated[
        list[str] | None,
        typer.Option("--not-session", metavar="ID", help="No records of this session; repeatable."),
    ] = None,
    roles: Annotated[
        list[str] | None, typer.Option("--role", metavar="ROLE", help="Only turns with this role; repeatable.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="WHEN", help="Only records from then on: 2026-05-08, 8 May 2026…")
    ] = None,
    before: Annotated[
        str | None, typer.Option("--before", metavar="WHEN", help="Only records older than this.")
    ] = None,
    min_confidence: Annotated[
        float | None, typer.Option("--min-confidence", metavar="0..1", help="Only records of at least this confidence.")
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help="Only knowledge, turn, episode, pattern or code; repeatable."),
    ] = None,
    knowledge_only: Annotated[bool, typer.Option("--knowledge-only", help="Same as --kind knowledge.")] = False,
    turns_only: Annotated[bool, typer.Option("--turns-only", help="Same as --kind turn.")] = False,
    superseded: Annotated[bool, typer.Option("--superseded", help="Include corrected and flagged records.")] = False,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="WHEN", help="Answer from what was stored and valid at that time.")
    ] = None,
    precise: Annotated[
        bool, typer.Option("--precise", help="Only records that the query names or mostly repeats; often none.")
    ] = False,
    in_play: InPlay = None,
    phase: WorkPhase = None,
    code: Annotated[
        bool | None,
        typer.Option("--code/--no-code", help="Include or exclude code locations. Default: if the query asks for one."),
    ] = None,
    tainted: Annotated[
        bool,
        typer.Option("--tainted/--no-tainted", help="Include or exclude unconfirmed records from outside."),
    ] = True,
    explain: Annotated[bool, typer.Option("--explain", help="Explain the ranking of each result.")] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Search records of every kind by words, meaning and relations."""
    fields = {
        "tags": tags,
        "files": files,
        "modules": modules,
        "sessions": sessions,
        "not_sessions": not_sessions,
        "roles": roles,
        "kinds": _kinds(kinds, knowledge_only=knowledge_only, turns_only=turns_only),
    }
    with opened(db, project, drain_seconds=QUICK_DRAIN) as memory:
        # After opening, because that loads the knowledge types of plug-ins.
        where = filter_of(types or (), _time_range(since, before), min_confidence, **fields)
        answer = memory.search(
            query,
            limit=limit,
            where=where,
            superseded=superseded,
            as_of=as_of,
            precise=precise,
            files=tuple(in_play or ()),
            phase=phase,
            code=code,
            tainted=tainted,
            explain=explain,
        )
        _print(answer, as_json=as_json)
        if not answer.hits and not as_json:
            _hint_at_renamed_repository(memory, db)


def _print(answer: "Answer", *, as_json: bool) -> None:
    if answer.explanation is None:
        from treering.interfaces.cli import views as show

        emit(answer, lambda: show.answer(answer), as_json=as_json)
    else:
        from treering.interfaces.cli import explanations as reasons

        emit(answer, lambda: reasons.explained(answer), as_json=as_json)


def _hint_at_renamed_repository(memory: "Memory", db: str | None) -> None:
    """Say so if the memory is empty and the repository may have been renamed: its memory is elsewhere then."""
    if is_server_url(db) or any(memory.stats().records.values()):
        return
    from rich.text import Text

    from treering.compose import may_be_renamed

    if may_be_renamed(db):
        hint = "this memory is empty; if the repository was renamed, `treering doctor` says how to move its memory here"
        emit(None, lambda: Text(hint, "yellow"), as_json=False)


def _kinds(kinds: list[str] | None, *, knowledge_only: bool, turns_only: bool) -> list[str]:
    if knowledge_only and turns_only:
        raise InvalidInput("--knowledge-only and --turns-only exclude each other; use one, or neither")
    only = ["knowledge"] * knowledge_only + ["turn"] * turns_only
    return only or list(kinds or ())


def filter_of(
    types: Iterable[str], time: "TimeRange | None", min_confidence: float | None, **fields: Iterable[str] | None
) -> "SearchFilter | None":
    """The filter that the options describe; None if they describe none."""
    from treering.core.messages import Role
    from treering.core.payloads import knowledge_type
    from treering.core.queries import CODE, SearchedKind, SearchFilter, ShareRange

    _check_choice("--kind", fields.get("kinds"), (*SearchedKind, CODE))
    _check_choice("--role", fields.get("roles"), tuple(Role))
    if min_confidence is not None and not 0 <= min_confidence <= 1:
        raise InvalidInput(f"--min-confidence is {min_confidence}; give a number from 0 to 1")
    where = SearchFilter.make(
        types=[knowledge_type(name).name for name in types],
        time=time,
        confidence=None if min_confidence is None else ShareRange.make(at_least=min_confidence),
        **{name: tuple(value or ()) for name, value in fields.items()},
    )
    return None if where == SearchFilter() else where


def _check_choice(option: str, values: Iterable[str] | None, known: tuple[str, ...]) -> None:
    for value in values or ():
        if value not in known:
            raise InvalidInput(f"{option} {value!r} is unknown; use one of {', '.join(known)}")


def _time_range(since: str | None, before: str | None) -> "TimeRange | None":
    if since is None and before is None:
        return None
    from treering.compose import now
    from treering.core.queries import TimeRange
    from treering.core.timestamps import timestamp_of

    present = now()
    ends = {"since": since, "before": before}
    return TimeRange.make(
        **{end: timestamp_of(written, present) for end, written in ends.items() if written is not None}
    )
