"""search: records of every kind by their words, meaning and ties, explained or packed where that is asked."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.options import AsJson, Db, Files, Modules, Project, Tags, opened
from treering.interfaces.cli.output import emit, emit_text

if TYPE_CHECKING:
    from treering.core.queries import SearchFilter, TimeRange
    from treering.memory import Memory

Words = Annotated[str, typer.Argument(metavar="QUERY", help="What to look for; without it, the newest.")]


def search(
    query: Words = "",
    *,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="At most so many results.")] = None,
    types: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", help="Only this type; again for more.")
    ] = None,
    tags: Tags = None,
    files: Files = None,
    modules: Modules = None,
    sessions: Annotated[
        list[str] | None, typer.Option("--session", metavar="ID", help="Only from this session; again for more.")
    ] = None,
    not_sessions: Annotated[
        list[str] | None,
        typer.Option("--not-session", metavar="ID", help="Nothing from this session, such as the current; again."),
    ] = None,
    roles: Annotated[
        list[str] | None, typer.Option("--role", metavar="ROLE", help="Only turns of this role; again for more.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="WHEN", help="Not older: 2026-05-08, 8 May 2026…")
    ] = None,
    before: Annotated[str | None, typer.Option("--before", metavar="WHEN", help="Older than this moment.")] = None,
    min_confidence: Annotated[
        float | None, typer.Option("--min-confidence", metavar="0..1", help="Only what is at least this sure.")
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help="Only knowledge, turn, episode, pattern or code; again for more."),
    ] = None,
    knowledge_only: Annotated[bool, typer.Option("--knowledge-only", help="The same as --kind knowledge.")] = False,
    turns_only: Annotated[bool, typer.Option("--turns-only", help="The same as --kind turn.")] = False,
    superseded: Annotated[bool, typer.Option("--superseded", help="Also what was corrected or is doubted.")] = False,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="WHEN", help="Answer from what was known and believed then.")
    ] = None,
    precise: Annotated[
        bool, typer.Option("--precise", help="Only what the query is really about, possibly nothing.")
    ] = False,
    in_play: Annotated[
        list[str] | None,
        typer.Option("--in-play", metavar="PATH", help="A file that is worked on: prefers what is tied to it; again."),
    ] = None,
    phase: Annotated[
        str | None,
        typer.Option(
            "--phase",
            metavar="PHASE",
            help="What the work is at: define, implement, validate, refine, explore, reflect; or coding, debugging…",
        ),
    ] = None,
    code: Annotated[
        bool | None,
        typer.Option(
            "--code/--no-code", help="Places in the code as results, or none. Default: where one is asked for."
        ),
    ] = None,
    tainted: Annotated[
        bool | None,
        typer.Option(
            "--tainted/--no-tainted",
            help="Include what came from outside and nobody confirmed, or not. Default: not in --pack.",
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Draw why each result stands where it stands.")] = False,
    packed: Annotated[bool, typer.Option("--pack", help="Print what was found as text for a prompt, cited.")] = False,
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="TOKENS", help="How long the text of --pack may be.")
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Find records of every kind by words, meaning and ties."""
    form = Form.chosen(explain=explain, packed=packed, budget=budget)
    typed = {
        "tags": tags,
        "files": files,
        "modules": modules,
        "sessions": sessions,
        "not_sessions": not_sessions,
        "roles": roles,
        "kinds": _kinds(kinds, knowledge_only=knowledge_only, turns_only=turns_only),
    }
    with opened(db, project) as memory:
        # Opening loads plug-ins, whose types can be asked for too.
        where = filter_of(types or (), _time_range(since, before), min_confidence, **typed)
        options = {
            "where": where,
            "superseded": superseded,
            "as_of": as_of,
            "precise": precise,
            "files": tuple(in_play or ()),
            "phase": phase,
            "code": code,
            **({} if limit is None else {"limit": limit}),
            **({} if tainted is None else {"tainted": tainted}),
        }
        found = form.print(memory, query, options, as_json=as_json)
        if not found and not packed and not as_json:
            _tell_of_others(memory, db)


@dataclass(frozen=True, slots=True)
class Form:
    """What is printed: the results, the results with their reasons, or text for a prompt."""

    explain: bool
    packed: bool
    budget: int | None

    @classmethod
    def chosen(cls, *, explain: bool, packed: bool, budget: int | None) -> "Form":
        if packed and explain:
            raise InvalidInput(
                "--pack prints nothing but the text; leave it out to see --explain, or the other way round"
            )
        if budget is not None and not packed:
            raise InvalidInput("--budget says how long the text of --pack may be; add --pack, or use --limit")
        return cls(explain, packed, budget)

    def print(self, memory: "Memory", query: str, options: dict[str, Any], *, as_json: bool) -> bool:
        """Whether anything was found."""
        if self.packed:
            packed = memory.context.build(query, budget=self.budget, **options)
            emit_text(packed, packed.text, as_json=as_json)
            if not packed.text and any(why == "budget" for _, why in packed.left_out):
                found = f"{len(packed.left_out):,} result{'s' * (len(packed.left_out) != 1)}"
                print(f"nothing fits into {packed.budget:,} tokens: {found} left out; raise --budget", file=sys.stderr)
            return bool(packed.text)
        answer = memory.search(query, explain=self.explain, **options)
        if answer.explanation is None:
            from treering.interfaces.cli import views as show

            emit(answer, lambda: show.answer(answer), as_json=as_json)
        else:
            from treering.interfaces.cli import explanations as reasons

            emit(answer, lambda: reasons.explained(answer), as_json=as_json)
        return bool(answer.hits)


def _tell_of_others(memory: "Memory", db: str | None) -> None:
    """A repository that was renamed may have its memory elsewhere, and begins with an empty one."""
    if any(memory.stats().records.values()):
        return
    from rich.text import Text

    from treering.compose import standing
    from treering.location.status import RENAMED

    if any(check.name == RENAMED for check in standing(db).found):
        told = "this memory is empty; if the repository was renamed, `treering doctor` says how to have what it knew"
        emit(None, lambda: Text(told, "yellow"), as_json=False)


def _kinds(kinds: list[str] | None, *, knowledge_only: bool, turns_only: bool) -> list[str]:
    if knowledge_only and turns_only:
        raise InvalidInput("--knowledge-only and --turns-only leave nothing; use one, or neither")
    only = ["knowledge"] * knowledge_only + ["turn"] * turns_only
    return only or list(kinds or ())


def filter_of(
    types: Iterable[str], time: "TimeRange | None", min_confidence: float | None, **fields: Iterable[str] | None
) -> "SearchFilter | None":
    """What the typed filters ask for; None where there are none."""
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
            raise InvalidInput(f"{option} {value!r} is not known; use one of {', '.join(known)}")


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
