"""remember and turn: store knowledge and messages."""

from typing import Annotated, Any

import typer

from treering.interfaces.cli.options import (
    AsJson,
    Db,
    Files,
    Modules,
    Project,
    Tags,
    TaintReason,
    TaintSource,
    TextArgument,
    VisibilityLevel,
    opened,
    taint_of,
)
from treering.interfaces.cli.output import emit, json_object, record_document, text_or_stdin

_USER_TAUGHT = "user_taught"


def remember(
    text: TextArgument,
    *,
    type: Annotated[
        str, typer.Option("--type", metavar="TYPE", help="Knowledge type: decision, gotcha, preference, fact…")
    ] = "fact",
    tags: Tags = None,
    files: Files = None,
    modules: Modules = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Session in which it was learned.")
    ] = None,
    source: Annotated[str, typer.Option("--source", metavar="SOURCE", help="How it was learned.")] = _USER_TAUGHT,
    confidence: Annotated[
        float | None,
        typer.Option("--confidence", metavar="0..1", help="Confidence. Default: 0.95 if user_taught, else 0.8."),
    ] = None,
    payload: Annotated[
        str | None, typer.Option("--payload", metavar="JSON", help="Fields of the knowledge type, as a JSON object.")
    ] = None,
    visibility: VisibilityLevel = None,
    taint: TaintSource = None,
    taint_reason: TaintReason = None,
    id: Annotated[str | None, typer.Option("--id", metavar="ID", help="Id of the record. Default: a new one.")] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Store a piece of knowledge."""
    content = text_or_stdin(text)
    tainted = taint_of(taint, taint_reason)
    payload_fields = None if payload is None else json_object("--payload", payload)
    from treering.compose import now

    started = now()
    with opened(db, project) as memory:
        if confidence is None and source == _USER_TAUGHT:
            from treering.core.confidence import TAUGHT_CONFIDENCE

            confidence = TAUGHT_CONFIDENCE
        fields = _without_none(
            tags=tags,
            files=files,
            modules=modules,
            session=session,
            source=source,
            confidence=confidence,
            payload=payload_fields,
            visibility=visibility,
            taint=tainted,
            id=id,
        )
        record = memory.remember(content, type=type, **fields)
    from treering.interfaces.cli import views as show

    known = "known already" if record.updated_at < started else "known already, now stronger"
    done = "remembered" if record.version == 1 and record.created_at >= started else known
    emit(record_document(record), lambda: show.remembered(done, record, content), as_json=as_json)


def turn(
    text: TextArgument,
    *,
    session: Annotated[str, typer.Option("--session", metavar="ID", help="Session that the message belongs to.")],
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", help="Role: user, assistant, system or tool.")
    ] = "user",
    speaker: Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="Name of the speaker.")] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="WHEN", help="Time: 2026-05-08T13:56Z, 8 May 2026 1:56 pm… Default: now."),
    ] = None,
    visibility: VisibilityLevel = None,
    taint: TaintSource = None,
    taint_reason: TaintReason = None,
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="Id; a turn with a known id is stored once. Default: a new one."),
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Store a message of a conversation, word for word."""
    content = text_or_stdin(text)
    with opened(db, project) as memory:
        fields = _without_none(speaker=speaker, visibility=visibility, taint=taint_of(taint, taint_reason))
        stored = memory.turn(session=session, role=role, text=content, id=id, at=at, **fields)
    from treering.interfaces.cli import views as show

    emit(record_document(stored), lambda: show.stored("stored", stored, content), as_json=as_json)


def _without_none(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
