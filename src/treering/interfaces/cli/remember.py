"""remember and turn: what comes in."""

from typing import Annotated, Any

import typer

from treering.interfaces.cli.options import (
    AsJson,
    Db,
    Files,
    Modules,
    Project,
    SpokenText,
    Tags,
    TaintReason,
    TaintSource,
    Visible,
    opened,
    taint_of,
)
from treering.interfaces.cli.output import emit, json_object, record_document, text_or_stdin

TAUGHT = "user_taught"


def remember(
    text: SpokenText,
    *,
    type: Annotated[str, typer.Option("--type", metavar="TYPE", help="decision, gotcha, preference, fact…")] = "fact",
    tags: Tags = None,
    files: Files = None,
    modules: Modules = None,
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="Where it was learned.")] = None,
    source: Annotated[str, typer.Option("--source", metavar="SOURCE", help="How it came to be known.")] = TAUGHT,
    confidence: Annotated[
        float | None, typer.Option("--confidence", metavar="0..1", help="How sure it is. A person's own words: 0.95.")
    ] = None,
    payload: Annotated[
        str | None, typer.Option("--payload", metavar="JSON", help="The fields of the type, as a JSON object.")
    ] = None,
    visibility: Visible = None,
    taint: TaintSource = None,
    taint_reason: TaintReason = None,
    id: Annotated[str | None, typer.Option("--id", metavar="ID", help="An id of your own.")] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Keep a piece of knowledge."""
    said = text_or_stdin(text)
    tainted = taint_of(taint, taint_reason)
    typed = None if payload is None else json_object("--payload", payload)
    from treering.compose import now

    begun = now()
    with opened(db, project) as memory:
        if confidence is None and source == TAUGHT:
            from treering.knowledge.authors import TAUGHT_CONFIDENCE

            confidence = TAUGHT_CONFIDENCE
        fields = _given(
            tags=tags,
            files=files,
            modules=modules,
            session=session,
            source=source,
            confidence=confidence,
            payload=typed,
            visibility=visibility,
            taint=tainted,
            id=id,
        )
        record = memory.remember(said, type=type, **fields)
    from treering.interfaces.cli import views as show

    again = "known already" if record.updated_at < begun else "known already, now stronger"
    done = "remembered" if record.version == 1 and record.created_at >= begun else again
    emit(record_document(record), lambda: show.remembered(done, record, said), as_json=as_json)


def turn(
    text: SpokenText,
    *,
    session: Annotated[str, typer.Option("--session", metavar="ID", help="The conversation it belongs to.")],
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="user, assistant, system or tool.")] = "user",
    speaker: Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="Who said it, by name.")] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="WHEN", help="When it was said: 2026-05-08T13:56Z, 8 May 2026 1:56 pm…"),
    ] = None,
    visibility: Visible = None,
    taint: TaintSource = None,
    taint_reason: TaintReason = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="An id of your own; the same turn again is stored once.")
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Keep what was said, word for word."""
    said = text_or_stdin(text)
    with opened(db, project) as memory:
        fields = _given(speaker=speaker, visibility=visibility, taint=taint_of(taint, taint_reason))
        kept = memory.turn(session=session, role=role, text=said, id=id, at=at, **fields)
    from treering.interfaces.cli import views as show

    emit(record_document(kept), lambda: show.kept("kept", kept, said), as_json=as_json)


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
