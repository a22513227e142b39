"""confirm, correct, flag, pin, mute, used, forget and undo: change stored records."""

import sys
from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

from treering.core.errors import InvalidInput, NotFound
from treering.interfaces.cli.options import AsJson, Db, Project, RecordId, opened
from treering.interfaces.cli.output import emit, record_document

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.knowledge.removal.proof import Proof


def confirm(id: RecordId, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Mark a record as true."""
    with opened(db, project) as memory:
        id = memory.knowledge.complete(id)
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
            help="inaccurate, outdated, too_specific or duplicate. Default: inaccurate; duplicate with --duplicate-of.",
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option("--text", metavar="TEXT", help="Text that is valid instead. Default: only retire it."),
    ] = None,
    duplicate_of: Annotated[
        str | None, typer.Option("--duplicate-of", metavar="ID", help="Id of the record that it repeats.")
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Correct a record; the old version is kept.

    Shows the record that is valid now. One `undo` reverts the whole correction.
    """
    with opened(db, project) as memory:
        id = memory.knowledge.complete(id)
        valid = memory.correct(id, reason, text=text, duplicate_of=duplicate_of)
    done = "retired" if valid.id == id else f"corrected; {id} is superseded by"
    _changed(done, valid, as_json=as_json)


def flag(
    id: RecordId,
    *,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Reason for the doubt.")] = "",
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Mark a record as doubtful: hidden until it is confirmed or corrected."""
    with opened(db, project) as memory:
        id = memory.knowledge.complete(id)
        record = memory.flag(id, note)
    _changed("flagged", record, as_json=as_json)


def pin(
    id: RecordId,
    *,
    off: Annotated[bool, typer.Option("--off", help="Unpin it: confidence decays again.")] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Protect a record from decay."""
    with opened(db, project) as memory:
        id = memory.knowledge.complete(id)
        record = memory.pin(id, pinned=not off)
    _changed("unpinned" if off else "pinned", record, as_json=as_json)


def mute(
    id: RecordId,
    *,
    off: Annotated[bool, typer.Option("--off", help="End it: agents may be given the record again.")] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Keep a record from being given to agents unasked."""
    with opened(db, project) as memory:
        record = memory.knowledge.mute(memory.knowledge.complete(id), muted=not off)
    _changed("unmuted" if off else "muted", record, as_json=as_json)


def used(
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Ids of records that the work was based on.")],
    *,
    corrected: Annotated[
        bool, typer.Option("--corrected", help="The result had to be corrected: resets their count of uses.")
    ] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Report that records were useful; this raises their confidence."""
    with opened(db, project) as memory:
        ids = [memory.knowledge.complete(each) for each in ids]
        counted = memory.used(ids, corrected=corrected)
        if not counted:
            listed = ", ".join(map(repr, dict.fromkeys(ids)))
            raise NotFound(
                f"no knowledge record with id {listed} in project {memory.scope.project!r}; "
                "run `treering search` to find ids"
            )
    from treering.interfaces.cli import views as show

    done = "counted as corrected" if corrected else "counted as used"
    advice = "" if counted == len(set(ids)) else "the other ids do not exist; run `treering search` to find ids"
    emit(
        {"used": counted, "corrected": corrected},
        lambda: show.done(done, f"{counted} of {len(set(ids))} records", advice),
        as_json=as_json,
    )


def forget(
    id: RecordId,
    *,
    hard: Annotated[bool, typer.Option("--hard", help="Purge it for good, with every copy. Asks first.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Delete a record; undo restores it."""
    # Events that wait in the spool may repeat the words of the record.
    with opened(db, project, drain_seconds=inf if hard else None) as memory:
        id = memory.knowledge.complete(id)
        if hard and not yes:
            _confirm_purge(id, as_json=as_json)
        purged = memory.forget(id, hard=hard)
        proof = None if purged is None else purged.prove()
    from treering.interfaces.cli import views as show

    advice = f"`treering undo {id}` restores it" if proof is None else f"purged for good; {proof}"
    document = {"forgotten": id, "hard": hard, "proof": None if proof is None else _proof_document(proof)}
    emit(document, lambda: show.forgotten(id, advice, () if proof is None else proof.remains), as_json=as_json)


def undo(id: RecordId, db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Revert the last change of a record."""
    with opened(db, project) as memory:
        id = memory.knowledge.complete(id)
        record = memory.undo(id)
        action = str(memory.history(id)[0].detail.get("undone", "change"))
    from treering.interfaces.cli import views as show

    document = {"undone": id, "action": action, "record": None if record is None else record_document(record)}
    done = f"undone: {action}"
    advice = "the undone change had created the record, so it no longer exists"
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


def _confirm_purge(id: str, *, as_json: bool) -> None:
    if as_json or not sys.stdin.isatty():
        raise InvalidInput(f"--hard purges {id!r} for good, and stdin is not a terminal to confirm it; pass --yes")
    if not typer.confirm(f"Purge {id} for good, with its history?"):
        raise InvalidInput("not confirmed; nothing was purged")
