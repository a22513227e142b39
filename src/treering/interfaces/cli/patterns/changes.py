"""add, apply, deprecate, merge, export and import: what people tell about patterns."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.options import AsJson, Db, Force, Project, Visible, opened
from treering.interfaces.cli.output import emit, emit_text, file_or_stdin, record_document
from treering.interfaces.cli.patterns.forms import condition_of, content_of
from treering.interfaces.cli.patterns.options import (
    Categories,
    Domains,
    PatternId,
    ProblemTypes,
    Several,
    Statuses,
    categories,
    category,
    one_of,
    statuses,
    told_object,
    wrong_where_refused,
)

if TYPE_CHECKING:
    from treering.core.patterns import PatternContent

_FORMATS = ("yaml", "json")
_SAID_ELSEWHERE: Mapping[str, str] = {
    "name": "NAME",
    "category": "--category",
    "content": "--approach, --step or --content",
    "applicability": "--problem-type, --domain, --capability, --complexity, --only-if or --not-if",
    "visibility": "--visibility",
    "summary": "--summary",
    "id": "--id",
}


def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")],
    *,
    category_: Annotated[
        str, typer.Option("--category", metavar="NAME", help="strategy, sequence, recovery, tool_selection…")
    ] = "strategy",
    approach: Annotated[
        str | None, typer.Option("--approach", metavar="TEXT", help="What to do, as a strategy in words.")
    ] = None,
    principles: Annotated[Several, typer.Option("--principle", metavar="TEXT", help="What to keep to; again.")] = None,
    steps: Annotated[Several, typer.Option("--step", metavar="TEXT", help="What to do, as a procedure; again.")] = None,
    content: Annotated[
        str | None, typer.Option("--content", metavar="JSON", help="What to do, in any of the four forms.")
    ] = None,
    summary: Annotated[str | None, typer.Option("--summary", metavar="TEXT", help="In a sentence.")] = None,
    problem_types: ProblemTypes = None,
    domains: Domains = None,
    capabilities: Annotated[
        Several, typer.Option("--capability", metavar="NAME", help="A tool or language it needs; again for more.")
    ] = None,
    complexity: Annotated[
        str | None, typer.Option("--complexity", metavar="LOW..HIGH", help="How hard the task may be: 0.2..0.8.")
    ] = None,
    only_if: Annotated[
        Several, typer.Option("--only-if", metavar="JSON", help="A condition that has to hold; again for more.")
    ] = None,
    not_if: Annotated[
        Several, typer.Option("--not-if", metavar="JSON", help="A condition that must not hold; again for more.")
    ] = None,
    detail: Annotated[
        str | None, typer.Option("--detail", metavar="JSON", help="More of the record: description, guidance, links…")
    ] = None,
    visibility: Visible = None,
    id: Annotated[str | None, typer.Option("--id", metavar="ID", help="An id of your own.")] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Keep a pattern. It is a candidate until its applications prove it."""
    more = {} if detail is None else told_object("--detail", detail, '{"description": "more of it"}')
    if said := sorted(more.keys() & _SAID_ELSEWHERE.keys()):
        raise typer.BadParameter(f"--detail says {said[0]}; say it by {_SAID_ELSEWHERE[said[0]]}")
    fields: dict[str, Any] = {
        "summary": summary,
        "visibility": visibility,
        "applicability": {
            "problem_types": tuple(problem_types or ()),
            "domains": tuple(domains or ()),
            "capabilities": tuple(capabilities or ()),
            "conditions": tuple(condition_of("--only-if", each) for each in only_if or ()),
            "anti_conditions": tuple(condition_of("--not-if", each) for each in not_if or ()),
            **_range(complexity),
        },
        "id": id,
    }
    given = {key: value for key, value in fields.items() if value is not None}
    told = _content(approach, principles, steps, content)
    chosen = category(category_)
    with opened(db, project) as memory, wrong_where_refused():
        kept = memory.patterns.add(name=name, category=chosen, content=told, **given, **more)
    from treering.interfaces.cli.patterns import views as pictures

    emit(record_document(kept), lambda: pictures.changed("kept as a candidate", kept), as_json=as_json)


def apply(
    id: PatternId,
    *,
    outcome: Annotated[
        str | None, typer.Option("--outcome", metavar="STATUS", help="SUCCESS, PARTIAL or FAILURE; the episode's else.")
    ] = None,
    episode: Annotated[
        str | None, typer.Option("--episode", metavar="ID", help="In which it was used; one counts once.")
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Where; each is one piece of evidence.")
    ] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="WHEN", help="When: 2026-05-08T13:56Z…")] = None,
    task_type: Annotated[
        str | None, typer.Option("--task-type", metavar="TYPE", help="Of what kind the task was.")
    ] = None,
    features: Annotated[
        str | None, typer.Option("--features", metavar="JSON", help="What is known of the task, as an object.")
    ] = None,
    time_saved_ms: Annotated[
        float | None, typer.Option("--time-saved", metavar="MS", help="Milliseconds that it saved.")
    ] = None,
    cost_saved: Annotated[float | None, typer.Option("--cost-saved", metavar="AMOUNT", help="What it saved.")] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Say that a pattern was used, and what came of it."""
    from treering.core.episodes import OutcomeStatus

    known = None if features is None else told_object("--features", features, '{"complexity": 0.4}')
    came = None if outcome is None else one_of(OutcomeStatus, "--outcome", outcome.upper())
    if came is None and episode is None:
        raise typer.BadParameter("nothing says what came of it; give --outcome, or --episode for an outcome it has")
    with opened(db, project) as memory:
        applied = memory.patterns.record_application(
            id,
            episode=episode,
            outcome=came,
            session=session,
            at=_moment(at),
            features=known,
            task_type=task_type,
            time_saved_ms=time_saved_ms,
            cost_saved=cost_saved,
        )
        pattern = memory.patterns.get(id)
    from treering.interfaces.cli.patterns import views as pictures

    emit(record_document(applied), lambda: pictures.applied(applied, pattern), as_json=as_json)


def deprecate(
    id: PatternId,
    *,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why nobody should use it.")],
    superseded_by: Annotated[
        str | None, typer.Option("--superseded-by", metavar="ID", help="The pattern that takes its place.")
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Take a pattern out of use for good; it is kept, with the reason."""
    with opened(db, project) as memory:
        gone = memory.patterns.deprecate(id, reason, superseded_by=superseded_by)
    from treering.interfaces.cli.patterns import views as pictures

    emit(record_document(gone), lambda: pictures.changed("deprecated", gone, reason), as_json=as_json)


def merge(
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Patterns that say the same.")],
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Make one pattern of several: all their evidence, everything that any applied to.

    They are deprecated and name it.
    """
    if len(set(ids)) < 2:
        raise typer.BadParameter("one pattern makes no merge; name two at least")
    with opened(db, project) as memory:
        made = memory.patterns.merge(ids)
    from treering.interfaces.cli.patterns import views as pictures

    advice = f"{len(set(ids))} patterns are deprecated in its favour"
    emit(record_document(made), lambda: pictures.changed("merged", made, advice), as_json=as_json)


def export(
    path: Annotated[str, typer.Argument(metavar="FILE", help="Where to: .yaml or .json; - is stdout.")] = "-",
    *,
    form: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="yaml (as without it) or json; FILE's ending else.")
    ] = None,
    statuses_: Statuses = None,
    categories_: Categories = None,
    ids: Annotated[Several, typer.Option("--id", metavar="ID", help="Only this one; again for more.")] = None,
    force: Force = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Write patterns to a file that people read and edit."""
    from treering.core.queries import PatternFilter

    with wrong_where_refused():
        where = PatternFilter.make(
            statuses=statuses(statuses_), categories=categories(categories_), ids=tuple(ids or ())
        )
    written = (form or ("json" if path.endswith(".json") else "yaml")).lower()
    if written not in _FORMATS:
        raise typer.BadParameter(f"--format is {form!r}; use {' or '.join(_FORMATS)}")
    with opened(db, project) as memory:
        text = memory.patterns.export(written, where=where)
    if path == "-":
        emit_text({"format": written, "text": text}, text, as_json=as_json)
        return
    from treering.archive.files import write_text

    write_text(Path(path), text, force=force, mark="treering_patterns")
    from treering.interfaces.cli import views as show

    size = show.size(len(text.encode()))
    emit({"path": path, "format": written}, lambda: show.done("exported", size, path), as_json=as_json)


def import_(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A file that export wrote, or a hand; - is stdin.")],
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Read patterns from a file, as candidates: its word is no evidence.

    All of it or nothing, and twice is the same as once.
    """
    with file_or_stdin(path) as file, opened(db, project) as memory:
        text = _read(file, memory.settings.store.import_line_bytes)
        taken = memory.patterns.import_(text)
    from treering.interfaces.cli.patterns import views as pictures

    emit(taken, lambda: pictures.taken_in(taken), as_json=as_json)


def _content(
    approach: str | None, principles: Several, steps: Several, content: str | None
) -> "PatternContent | dict[str, Any]":
    """What it says to do, by the one of three options that says so."""
    said = {"--approach": approach, "--step": steps, "--content": content}
    named = [name for name, value in said.items() if value is not None]
    if len(named) != 1:
        told = f"{' and '.join(named)} say" if named else "nothing says"
        raise typer.BadParameter(f"{told} what to do; give one of {', '.join(said)}")
    if principles and approach is None:
        raise typer.BadParameter("--principle belongs to --approach; leave it out")
    if content is not None:
        return content_of("--content", content)
    if steps is not None:
        return {
            "form": "procedure",
            "steps": tuple({"name": f"step {n}", "action": each} for n, each in enumerate(steps, 1)),
        }
    return {"form": "strategy", "approach": approach, "principles": tuple(principles or ())}


def _range(complexity: str | None) -> dict[str, float]:
    if complexity is None:
        return {}
    low, dots, high = complexity.partition("..")
    try:
        least, most = float(low or 0.0), float(high or 1.0) if dots else float(low)
    except ValueError as exc:
        raise typer.BadParameter(f"--complexity is {complexity!r}; write it as 0.2..0.8") from exc
    if not 0.0 <= least <= most <= 1.0:
        raise typer.BadParameter(f"--complexity is {complexity!r}; write the lower end first, from 0 to 1: 0.2..0.8")
    return {"complexity_min": least, "complexity_max": most}


def _moment(at: str | None) -> datetime | None:
    if at is None:
        return None
    from treering.compose import now
    from treering.core.timestamps import timestamp_of

    with wrong_where_refused():
        return timestamp_of(at, now())


def _read(path: Path, most_bytes: int) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
        if len(content) > most_bytes:
            raise InvalidInput(f"{path} is larger than {most_bytes:,} bytes; import it in parts")
        return content.decode()
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is not UTF-8 text ({exc.reason} at byte {exc.start}); convert it first") from exc
    except OSError as exc:
        raise InvalidInput(f"{path} cannot be read ({exc.strerror}); check the path") from exc
