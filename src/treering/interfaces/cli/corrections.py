"""confirm, correct, flag, pin, used, forget and undo: what people do to what is stored."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.options import AsJson, Db, Project, RecordId, opened
from treering.interfaces.cli.output import emit, record_document

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.knowledge.removal.proof import Proof


def confirm(id: RecordId, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Say that it is true."""
    with opened(db, project) as memory:
        record = memory.confirm(id)
    _changed("confirmed", record, as_json=as_json)


def correct(
    id: RecordId,
    *,
    reason: Annotated[
        str | None,
        typer.Option(
            "--reason",
            metavar="REASON",
            help="inaccurate (the default), outdated, too_specific or duplicate (the default with --duplicate-of).",
        ),
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="What holds instead; without it the record is retired.")
    ] = None,
    duplicate_of: Annotated[
        str | None, typer.Option("--duplicate-of", metavar="ID", help="The record that it repeats.")
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Put a record right; nothing is overwritten.

    The record that stands now is shown. One undo takes all of it back.
    """
    with opened(db, project) as memory:
        standing = memory.correct(id, reason, text=text, duplicate_of=duplicate_of)
    done = "retired" if standing.id == id else f"corrected; {id} gives way to"
    _changed(done, standing, as_json=as_json)


def flag(
    id: RecordId,
    *,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why.")] = "",
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Doubt it: not recalled until confirmed or corrected."""
    with opened(db, project) as memory:
        record = memory.flag(id, note)
    _changed("flagged", record, as_json=as_json)


def pin(
    id: RecordId,
    *,
    off: Annotated[bool, typer.Option("--off", help="Let it fade again.")] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Keep it from fading."""
    with opened(db, project) as memory:
        record = memory.pin(id, pinned=not off)
    _changed("unpinned" if off else "pinned", record, as_json=as_json)


def used(
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Records that the work was based on.")],
    *,
    corrected: Annotated[
        bool, typer.Option("--corrected", help="What came of it had to be put right: the count begins anew.")
    ] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Say that records were of use: what proves itself is trusted more."""
    with opened(db, project) as memory:
        counted = memory.used(ids, corrected=corrected)
    from treering.interfaces.cli import views as show

    what = "counted as corrected" if corrected else "counted as used"
    advice = "" if counted == len(set(ids)) else "the others are not here; `treering search` finds ids"
    emit(
        {"used": counted, "corrected": corrected},
        lambda: show.done(what, f"{counted} of {len(set(ids))} records", advice),
        as_json=as_json,
    )


def forget(
    id: RecordId,
    *,
    hard: Annotated[bool, typer.Option("--hard", help="For good, leaving no copy. Asks first.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Take it away; undo brings it back."""
    with opened(db, project) as memory:
        if hard and not yes:
            _ask(id, as_json=as_json)
        gone = memory.forget(id, hard=hard)
        proof = None if gone is None else gone.prove()
    from treering.interfaces.cli import views as show

    advice = f"`treering undo {id}` brings it back" if proof is None else f"it is gone for good; {proof}"
    document = {"forgotten": id, "hard": hard, "proof": None if proof is None else _proof_document(proof)}
    emit(document, lambda: show.forgotten(id, advice, () if proof is None else proof.remains), as_json=as_json)


def undo(id: RecordId, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Take back the last change of a record."""
    with opened(db, project) as memory:
        record = memory.undo(id)
        action = str(memory.history(id)[0].detail.get("undone", "change"))
    from treering.interfaces.cli import views as show

    document = {"undone": id, "action": action, "record": None if record is None else record_document(record)}
    done = f"undone: {action}"
    advice = "it was made by the change that was undone, so it is gone"
    emit(
        document,
        lambda: show.done(done, id, advice) if record is None else show.changed(done, record),
        as_json=as_json,
    )


def _proof_document(proof: "Proof") -> dict[str, object]:
    remains = [{"place": each.place, "record": each.record, "meaning": each.meaning} for each in proof.remains]
    return {"clean": proof.clean, "files": proof.files, "bytes": proof.size, "pieces": proof.pieces, "remains": remains}


def _changed(done: str, record: "Knowledge", *, as_json: bool) -> None:
    from treering.interfaces.cli import views as show

    emit(record_document(record), lambda: show.changed(done, record), as_json=as_json)


def _ask(id: str, *, as_json: bool) -> None:
    if as_json or not sys.stdin.isatty():
        raise InvalidInput(f"--hard removes {id!r} for good and nobody is here to ask; add --yes")
    if not typer.confirm(f"Remove {id} for good, with its history?"):
        raise InvalidInput("nothing was forgotten")
