"""about and entities: entities mentioned in the memory."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.options import AsJson, Db, Project, opened
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from rich.console import RenderableType

    from treering.core.entities import Entity
    from treering.entities.api import Entities
    from treering.entities.profiles import MentioningRecord, Profile, TimelineFact

Kind = Annotated[
    str | None,
    typer.Option("--kind", metavar="KIND", help="person, project, organisation, location, email, url, date or other."),
]
_MAX_RECORDS = 10  # shown in a profile; --json has all


def about(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name, in any spelling; an alias; or an entity's id.")],
    *,
    kind: Kind = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show what is known about a person, place or thing."""
    with opened(db, project) as memory:
        profile = memory.entities.about(name, kind=kind)
    emit(profile, lambda: _profile(profile), as_json=as_json)


def entities(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Only entities with these words in a name.")
    ] = None,
    *,
    kind: Kind = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Maximum number of results.")] = 50,
    merge: Annotated[str | None, typer.Option("--merge", metavar="NAME", help="Merge it into --into.")] = None,
    into: Annotated[str | None, typer.Option("--into", metavar="NAME", help="The entity that remains.")] = None,
    alias: Annotated[str | None, typer.Option("--alias", metavar="NAME", help="Add the alias --as to it.")] = None,
    rename: Annotated[str | None, typer.Option("--rename", metavar="NAME", help="Rename it to --as.")] = None,
    called: Annotated[str | None, typer.Option("--as", metavar="NAME", help="The alias, or the new name.")] = None,
    delete: Annotated[
        str | None, typer.Option("--delete", metavar="NAME", help="Delete it: it is not an entity.")
    ] = None,
    undo: Annotated[str | None, typer.Option("--undo", metavar="NAME", help="Undo the last of these changes.")] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List or correct the entities mentioned in the memory.

    The most mentioned ones come first. Records are not changed.
    """
    change = _change({"--merge": (merge, into), "--alias": (alias, called), "--rename": (rename, called)}, delete, undo)
    with opened(db, project) as memory:
        found = memory.entities.find(name, kind=kind, limit=limit) if change is None else change(memory.entities)
    emit({"entities": found}, lambda: _list(found, changed=change is not None), as_json=as_json)


def _change(
    pairs: Mapping[str, tuple[str | None, str | None]], delete: str | None, undo: str | None
) -> "Callable[[Entities], tuple[Entity, ...]] | None":
    """The change that the options select; None for the list."""
    given = {option: pair for option, pair in pairs.items() if pair[0] is not None}
    chosen = [*given, *(["--delete"] if delete is not None else []), *(["--undo"] if undo is not None else [])]
    if len(chosen) > 1:
        raise InvalidInput(f"{' and '.join(chosen)} exclude each other; use one of them")
    if not chosen:
        return None
    if delete is not None:
        return lambda known: (known.delete(delete),)
    if undo is not None:
        return lambda known: known.undo(undo)
    option, (name, other) = next(iter(given.items()))
    if name is None or other is None:
        raise InvalidInput(f"{option} needs {'--into' if option == '--merge' else '--as'}; add it")
    verbs: Mapping[str, Callable[[Entities], Entity]] = {
        "--merge": lambda known: known.merge(name, into=other),
        "--alias": lambda known: known.alias(name, other),
        "--rename": lambda known: known.rename(name, other),
    }
    return lambda known: (verbs[option](known),)


def _list(found: "tuple[Entity, ...]", *, changed: bool) -> "RenderableType":
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from treering.interfaces.cli import views as show

    if not found:
        return Text("no entities yet; they are extracted from stored records", show.FAINT)
    grid = Table.grid(padding=(0, 2, 0, 0))
    for style in ("", show.FAINT, show.FAINT, show.FAINT, show.ID):
        grid.add_column(style=style, overflow="fold")
    for each in found:
        also = f"also {', '.join(each.aliases)}" if each.aliases else ""
        grid.add_row(show.safe(each.name), each.kind.value, f"{each.mentions:,}", show.safe(also), each.id)
    return Group(show.done("changed", "", ""), grid) if changed else grid


def _profile(profile: "Profile") -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from treering.core.citations import taint_mark
    from treering.interfaces.cli import views as show

    also = f", also {', '.join(profile.aliases)}" if profile.aliases else ""
    mentions = f"{profile.mentions:,} mention{'' if profile.mentions == 1 else 's'}"
    summary = f"  {profile.entity.kind.value}, {mentions}{also}{taint_mark(profile.entity)}"
    lines = [Text.assemble((show.safe(profile.entity.name), show.HEAD), (show.safe(summary), show.FAINT))]
    if profile.summary:
        lines += [Text(show.preview(profile.summary))]
    sections = {
        "timeline": [f"{each.at:%Y-%m-%d}  {_marked(each)}" for each in profile.timeline],
        "records": [f"{show.when(each.at)}  {_marked(each)}" for each in profile.records[:_MAX_RECORDS]],
        "related": [f"{show.safe(each.entity.name)} ({each.together})" for each in profile.related],
    }
    for title, items in sections.items():
        if items:
            lines += [Text(), Text(title, show.FAINT), *(Text(f"  {item}") for item in items)]
    return Group(*lines)


def _marked(item: "MentioningRecord | TimelineFact") -> str:
    """The beginning of the text, marked if it is tainted."""
    from treering.core.citations import OUTSIDE
    from treering.interfaces.cli import views as show

    return f"({OUTSIDE}) {show.preview(item.text)}" if item.tainted else show.preview(item.text)
