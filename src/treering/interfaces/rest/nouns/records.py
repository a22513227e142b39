"""Records of knowledge, and what is possible with records of any kind."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query

from treering import Author
from treering.core.errors import InvalidInput, NotFound
from treering.core.queries import KnowledgeFilter, ShareRange, TimeRange
from treering.core.records import Knowledge, Source
from treering.interfaces.rest.calls import RecordId, Route, stored_record
from treering.interfaces.rest.nouns.record_schemas import (
    MAX_FORGOTTEN,
    ConfirmRequest,
    CorrectRequest,
    FlagRequest,
    ForgetRequest,
    ForgottenRecords,
    MuteRequest,
    PinRequest,
    RecordFilter,
    RecordHistory,
    RememberManyRequest,
    RememberRequest,
    RemovedRecord,
    UndoneChange,
    UndoRequest,
    UsedRequest,
)
from treering.interfaces.rest.schemas import (
    After,
    CountAnswer,
    Descending,
    Limit,
    ListPage,
    RecordOfKind,
    Total,
    record_of_kind,
)
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory

Labels = Annotated[Sequence[str], Query(description="Any of these; repeatable.")]
Flag = Annotated[bool | None, Query(description="Only records with this state, or without it.")]


def list_records(
    memory: Memory,
    *,
    types: Labels = (),
    tags: Labels = (),
    files: Labels = (),
    modules: Labels = (),
    sessions: Labels = (),
    sources: Annotated[Sequence[Source], Query(description="Any of these; repeatable.")] = (),
    since: Annotated[datetime | None, Query(description="Created at this time or later.")] = None,
    before: Annotated[datetime | None, Query(description="Created before this time.")] = None,
    min_confidence: Annotated[float, Query(ge=0, le=1)] = 0.0,
    max_confidence: Annotated[float, Query(ge=0, le=1)] = 1.0,
    pinned: Flag = None,
    confirmed: Flag = None,
    flagged: Flag = None,
    needs_review: Flag = None,
    tainted: Flag = None,
    stale: Flag = None,
    superseded: Flag = None,
    forgotten: Annotated[bool, Query(description="Forgotten records instead of the others.")] = False,
    order: Annotated[
        Literal["created_at", "updated_at", "last_accessed_at", "confidence", "access_count"], Query()
    ] = "created_at",
    descending: Descending = True,
    limit: Limit = 50,
    after: After = None,
    total: Total = False,
) -> ListPage[Knowledge]:
    """List records of knowledge by their fields, without a search. Use `search` to rank by relevance."""
    where = _filter(
        RecordFilter(
            types=types,
            tags=tags,
            files=files,
            modules=modules,
            sessions=sessions,
            sources=sources,
            since=since,
            before=before,
            min_confidence=min_confidence,
            max_confidence=max_confidence,
            pinned=pinned,
            confirmed=confirmed,
            flagged=flagged,
            needs_review=needs_review,
            tainted=tainted,
            stale=stale,
            superseded=superseded,
        ),
        deleted=forgotten,
    )
    page = memory.page("knowledge", where=where, order=order, descending=descending, limit=limit, after=after)
    counted = memory.count("knowledge", where=where) if total else None
    return ListPage[Knowledge].model_construct(items=list(page.items), next=page.next, total=counted)


def remember(memory: Memory, body: RememberRequest) -> Knowledge:
    """Store a piece of knowledge.

    Words that are stored already strengthen the record that holds them. A record that the new one contradicts is
    superseded, or both wait for review: `relations` of the answer name it.
    """
    fields: dict[str, Any] = {name: getattr(body, name) for name in type(body).model_fields}
    fields = {name: value for name, value in fields.items() if value is not None}
    return memory.remember(fields.pop("text"), type=fields.pop("type", "fact"), **fields)


def remember_many(memory: Memory, body: RememberManyRequest) -> CountAnswer:
    """Store many texts as facts in one transaction, each once; the answer counts the new ones."""
    return CountAnswer(count=memory.remember_many(body.texts))


def get_record(
    memory: Memory,
    id: RecordId,
    exact: Annotated[bool, Query(description="Take the id as it is, not as the beginning or end of one.")] = False,
) -> RecordOfKind:
    """The record with this id, of any kind. The beginning or end of an id is enough if it is the only such id."""
    try:
        return record_of_kind(memory.get(id))
    except NotFound:
        if exact:
            raise
        return record_of_kind(memory.get(memory.knowledge.resolve(id)))


def confirm(memory: Memory, id: RecordId, body: ConfirmRequest | None = None) -> Knowledge:
    """Mark a record as true. A person's confirmation clears flags and taint."""
    author = None if body is None or body.source is None else Author(source=body.source, session=body.session)
    return memory.confirm(id, by=author)


def correct(memory: Memory, id: RecordId, body: CorrectRequest) -> Knowledge:
    """Correct a record. The answer is the record that is valid now; the old version is kept."""
    author = None
    if body.source is not None or body.taint is not None:
        author = Author(
            source=body.source or Source.USER_TAUGHT,
            session=body.session,
            tainted=body.taint is not None,
            taint=body.taint,
        )
    return memory.correct(id, body.reason, text=body.text, duplicate_of=body.duplicate_of, by=author)


def flag(memory: Memory, id: RecordId, body: FlagRequest | None = None) -> Knowledge:
    """Mark a record as doubtful: searches leave it out until it is confirmed or corrected."""
    return memory.flag(id, "" if body is None else body.note)


def pin(memory: Memory, id: RecordId, body: PinRequest | None = None) -> Knowledge:
    """Protect a record from decay, or end that protection."""
    return memory.pin(id, pinned=body is None or body.pinned)


def mute(memory: Memory, id: RecordId, body: MuteRequest | None = None) -> Knowledge:
    """Keep a record from being given to agents unasked, or end that. Searches still find it."""
    return memory.knowledge.mute(id, muted=body is None or body.muted)


def used(memory: Memory, body: UsedRequest) -> CountAnswer:
    """Report that work was based on records; the answer counts those that exist."""
    return CountAnswer(count=memory.used(body.ids, corrected=body.corrected))


def forget(
    memory: Memory,
    id: RecordId,
    hard: Annotated[bool, Query(description="Purge it for good, with every copy, and prove it.")] = False,
) -> RemovedRecord:
    """Delete a record; `undo` restores it. A purged one is gone for good."""
    receipt = memory.forget(id, hard=hard)
    return RemovedRecord(forgotten=id, hard=hard, proof=None if receipt is None else _proof(receipt.prove()))


def forget_many(memory: Memory, body: ForgetRequest) -> ForgottenRecords:
    """Forget records by a filter or a list, after a dry run that shows which. `undo` restores each of them."""
    if (body.where is None) == (not body.ids):
        raise InvalidInput("pass either `where` or `ids`")
    where = _filter(body.where) if body.where is not None else KnowledgeFilter.make(ids=body.ids)
    if where == KnowledgeFilter.defaults():
        raise InvalidInput("the filter is empty and would forget everything; set at least one field")
    records: tuple[Knowledge, ...] = ()
    after: str | None = None
    while len(records) < MAX_FORGOTTEN:
        page = memory.page("knowledge", where=where, limit=1_000, after=after)
        records += page.items
        after = page.next
        if after is None:
            break
    if not body.dry_run:
        for each in records:
            memory.forget(each.id)
    left = 0 if after is None else memory.count("knowledge", where=where)
    return ForgottenRecords(dry_run=body.dry_run, ids=[each.id for each in records], sample=records[:20], left_out=left)


def undo(memory: Memory, id: RecordId) -> UndoneChange:
    """Revert the last change of a record."""
    record = memory.undo(id)
    return UndoneChange.model_construct(id=id, record=None if record is None else record_of_kind(record))


def undo_many(memory: Memory, body: UndoRequest) -> CountAnswer:
    """Revert the last change of each record, such as after `forget_many`; the answer counts them."""
    for id in body.ids:
        memory.undo(id)
    return CountAnswer(count=len(body.ids))


def get_history(memory: Memory, id: RecordId) -> RecordHistory:
    """Changes of a record, newest first, with the text before each."""
    return RecordHistory(id=id, entries=list(memory.history(id)))


def _filter(asked: RecordFilter, *, deleted: bool = False) -> KnowledgeFilter:
    created = TimeRange.make(since=asked.since, before=asked.before) if asked.since or asked.before else None
    share = ShareRange.make(at_least=asked.min_confidence, at_most=asked.max_confidence)
    return KnowledgeFilter.make(
        types=tuple(asked.types),
        tags=tuple(asked.tags),
        files=tuple(asked.files),
        modules=tuple(asked.modules),
        sessions=tuple(asked.sessions),
        sources=tuple(asked.sources),
        created=created,
        confidence=None if share == ShareRange.defaults() else share,
        pinned=asked.pinned,
        user_verified=asked.confirmed,
        flagged=asked.flagged,
        needs_review=asked.needs_review,
        tainted=asked.tainted,
        stale=asked.stale,
        deprecated=asked.superseded,
        deleted=deleted,
    )


def _proof(found: Any) -> dict[str, Any]:
    remains = [{"place": each.place, "record": each.record, "meaning": each.meaning} for each in found.remains]
    return {"clean": found.clean, "files": found.files, "bytes": found.size, "pieces": found.pieces, "remains": remains}


def _undone(memory: Memory, record: str | None, given: Mapping[str, Any]) -> UndoneChange:
    try:
        found = record_of_kind(memory.get(given["id"]))
    except NotFound:
        found = None
    return UndoneChange.model_construct(id=given["id"], record=found)


def _removed(memory: Memory, record: str | None, given: Mapping[str, Any]) -> RemovedRecord:
    return RemovedRecord(forgotten=given["id"], hard=bool(given.get("hard")))


_WRITE = CallQueue.WRITE
ROUTES = (
    Route("GET", "/records", list_records, ListPage[Knowledge], "List records"),
    Route("POST", "/records", remember, Knowledge, "Store a record", _WRITE, 201, replay=stored_record),
    Route("POST", "/records/batch", remember_many, CountAnswer, "Store many texts", _WRITE, 201),
    Route("POST", "/records/used", used, CountAnswer, "Report used records", _WRITE),
    Route("POST", "/records/forget", forget_many, ForgottenRecords, "Forget records by a filter", CallQueue.SLOW),
    Route("POST", "/records/undo", undo_many, CountAnswer, "Undo the last change of records", CallQueue.SLOW),
    Route("GET", "/records/{id}", get_record, RecordOfKind, "Get a record of any kind"),
    Route("DELETE", "/records/{id}", forget, RemovedRecord, "Forget a record", _WRITE, replay=_removed, versioned=True),
    Route(
        "POST",
        "/records/{id}/confirm",
        confirm,
        Knowledge,
        "Confirm a record",
        _WRITE,
        replay=stored_record,
        versioned=True,
    ),
    Route(
        "POST",
        "/records/{id}/correct",
        correct,
        Knowledge,
        "Correct a record",
        _WRITE,
        replay=stored_record,
        versioned=True,
    ),
    Route("POST", "/records/{id}/flag", flag, Knowledge, "Flag a record", _WRITE, replay=stored_record, versioned=True),
    Route("POST", "/records/{id}/pin", pin, Knowledge, "Pin a record", _WRITE, replay=stored_record, versioned=True),
    Route("POST", "/records/{id}/mute", mute, Knowledge, "Mute a record", _WRITE, replay=stored_record, versioned=True),
    Route("POST", "/records/{id}/undo", undo, UndoneChange, "Undo the last change", _WRITE, replay=_undone),
    Route("GET", "/records/{id}/history", get_history, RecordHistory, "Get the history of a record"),
)
