"""record_memory and remember_fact: store records for later sessions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from treering.core.delimiters import one_line, without_delimited
from treering.core.errors import InvalidInput
from treering.core.records import RelationKind, Source
from treering.core.secret_formats import MARK
from treering.core.taint import Taint
from treering.core.timestamps import timestamp_of
from treering.core.tokens import estimate_tokens
from treering.interfaces.mcp.answers import Cited, item_tokens, within
from treering.interfaces.mcp.tool import (
    MAX_QUERY,
    Arguments,
    Hints,
    Name,
    Names,
    Reply,
    StoredText,
    Tool,
    ToolAnswer,
)
from treering.render.listing import render_listing

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.core.values import Value
    from treering.interfaces.mcp.host import CallContext
    from treering.search.answer import Answer as SearchAnswer

StoreText = Callable[..., "Knowledge"]
"""`remember`, or what attaches a text to code."""

MAX_SIMILAR = 3  # records on the same subject shown after one is stored: enough to see that it is known already

_UNNAMED = "agent"
"""The source if an agent only says that a text is from outside (true)."""
FromOutside = Annotated[
    Name | None,
    BeforeValidator(lambda given: (_UNNAMED if given else None) if isinstance(given, bool) else given),
    Field(
        description="Source of the outside text that it is based on: a URL, an issue, an email, a tool. It is then "
        "stored as unconfirmed."
    ),
]
Files = Annotated[
    Names,
    Field(description="Files it is about, relative to the repository root.", examples=[["shop/db.py"]]),
]


REDACTED = "Text that looked like a secret was redacted before it was stored."
FROM_OUTSIDE = "Marked as from outside: until a person confirms it, only searches with `outside` return it."


def taint_of(from_outside: str | None) -> Taint | None:
    """The taint of a record that an agent says to be based on outside text."""
    reason = "an agent said that it is based on text from outside"
    return None if from_outside is None else Taint.make(source=from_outside, reason=reason)


class RecordMemory(Arguments):
    text: Annotated[
        StoredText,
        Field(
            description="One thing worth knowing in a later session, understandable on its own: what, why, where.",
            examples=["Run migrations before the seed script; seeding an empty schema fails without an error."],
        ),
    ]
    type: Annotated[
        Literal[
            "decision",
            "gotcha",
            "preference",
            "requirement",
            "pattern",
            "dead_end",
            "error_pattern",
            "workflow_recipe",
            "module_insight",
            "work_state",
            "causal_dependency",
            "e2e_observation",
            "fact",
        ],
        Field(
            description="decision: chosen, with reasons. gotcha: surprises. preference: how the user wants it. "
            "dead_end: tried, did not work. error_pattern: an error and its fix. workflow_recipe: steps of a recurring "
            "task. module_insight: what a part of the code is for. work_state: the state of the work."
        ),
    ] = "gotcha"
    files: Files = ()
    node: Annotated[
        Name | None,
        Field(description="Function, class, file or folder that it is about; analyze_impact then shows it."),
    ] = None
    tags: Annotated[Names, Field(description="Tags to find it by.", examples=[["database"]])] = ()
    from_outside: FromOutside = None


class RememberFact(Arguments):
    fact: Annotated[
        StoredText,
        Field(
            description="A sentence that is understandable on its own.",
            examples=["The staging database listens on 5433."],
        ),
    ]
    subject: Annotated[
        Name | None, Field(description="Name of the person or thing it is about.", examples=["staging database"])
    ] = None
    attribute: Annotated[Name | None, Field(description="Property of the subject.", examples=["port"])] = None
    value: Annotated[Name | None, Field(description="Value of that property.", examples=["5433"])] = None
    since: Annotated[
        Name | None,
        Field(description="Date since when it is valid. Default: now.", examples=["2026-05-08"]),
    ] = None
    from_outside: FromOutside = None


class StoredResult(Reply):
    id: str
    type: str
    known_already: bool
    redacted: bool
    tainted: bool
    superseded: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    similar: tuple[Cited, ...] = ()


def record_memory(call: "CallContext", asked: RecordMemory) -> ToolAnswer[StoredResult]:
    fields = {"files": call.from_root(asked.files), "tags": asked.tags}
    remember: StoreText = call.memory.remember if asked.node is None else _annotating(call, asked.node, asked.type)
    return _store(call, asked, asked.text, asked.type, remember, from_outside=asked.from_outside, **fields)


def _annotating(call: "CallContext", node: str, type: str) -> StoreText:
    """Store a text about a part of the code: as an annotation if the type is one, else as a memory about it."""
    kind = _ANNOTATIONS.get(type)

    def annotate(text: str, *, type: str, **fields: Any) -> "Knowledge":
        if kind is None:
            return call.code.remember(node, text, type=type, **fields)
        return call.code.annotate(node, text, kind=kind, **fields)

    return annotate


_ANNOTATIONS = {"decision": "decision", "requirement": "invariant", "pattern": "pattern"}


def remember_fact(call: "CallContext", asked: RememberFact) -> ToolAnswer[StoredResult]:
    stated = {"subject": asked.subject, "attribute": asked.attribute, "value": asked.value}
    payload = {name: value for name, value in stated.items() if value is not None}
    since = {} if asked.since is None else {"valid_from": timestamp_of(asked.since, call.now)}
    fields = {"payload": payload or None, **since}
    return _store(call, asked, asked.fact, "fact", call.memory.remember, from_outside=asked.from_outside, **fields)


def own_words(text: str) -> str:
    """The text without blocks that memory returned before; `InvalidInput` if nothing is left."""
    if not text.strip():
        raise InvalidInput("the text is empty; write a sentence to store")
    own = without_delimited(text).strip()
    if not own:
        raise InvalidInput("the text only repeats what memory returned before; say in your own words what is new")
    return own


def redaction_note(stored: "Value", asked: Arguments) -> str:
    """A note if a secret was redacted; empty otherwise."""
    return REDACTED if MARK in stored.to_json() and MARK not in asked.model_dump_json() else ""


def _store(
    call: "CallContext",
    asked: Arguments,
    text: str,
    type: str,
    remember: StoreText,
    *,
    from_outside: str | None,
    **fields: Any,
) -> ToolAnswer[StoredResult]:
    content = own_words(text)
    # Before it is stored: afterwards, records that say the same are folded into it.
    similar = _similar(call, content, private=from_outside is not None)
    record = remember(
        content, type=type, source=Source.AGENT_EXPLICIT, session=call.session, taint=taint_of(from_outside), **fields
    )
    known_already = record.version > 1 or record.created_at < call.now
    redacted, id = redaction_note(record, asked), one_line(record.id)
    superseded, conflicts = (
        tuple(each.record for each in record.conflicts if each.record and each.kind is kind)
        for kind in (RelationKind.SUPERSEDES, RelationKind.CONFLICTS_WITH)
    )
    others = [item for item in similar if item.id != record.id][:MAX_SIMILAR]
    done = tuple(
        filter(
            None,
            (
                f"Known already, as {id}." if known_already else f"Stored as {id} ({type}).",
                redacted,
                FROM_OUTSIDE if record.tainted else "",
                f"Supersedes {one_line(', '.join(superseded))}." if superseded else "",
                f"{_CONFLICTS} {one_line(', '.join(conflicts))}." if conflicts else "",
            ),
        )
    )

    def rendered(room: int) -> ToolAnswer[StoredResult]:
        shown = render_listing(others, room - estimate_tokens("\n".join((*done, _SAME_SUBJECT))), cost=item_tokens)
        notes = (*done, _SAME_SUBJECT) if shown.items else done
        result = StoredResult(
            notes=(*notes, *shown.notes),
            id=record.id,
            type=record.type,
            known_already=known_already,
            redacted=bool(redacted),
            tainted=record.tainted,
            superseded=superseded,
            conflicts=conflicts,
            similar=shown.items,
        )
        return ToolAnswer("\n".join(filter(None, (*notes, shown.text))), result)

    return within(call.memory.settings.agents.answer_tokens, rendered)


_CONFLICTS = "Both wait for review (correct_fact or forget the wrong one); it contradicts"
_SAME_SUBJECT = "On the same subject; if one of them is wrong or a duplicate now, correct_fact it:"


def _similar(call: "CallContext", text: str, *, private: bool) -> list[Cited]:
    """Records on the same subject, so that the agent notices duplicates."""
    limit = MAX_SIMILAR + 1
    found = search_precisely(call, text, limit, private=private)
    return [Cited(id=hit.id, source=hit.source, text=hit.text) for hit in found]


def search_precisely(call: "CallContext", text: str, limit: int, *, private: bool) -> "SearchAnswer":
    """Records that the text names or mostly repeats, including those that say the same as a better one."""
    return call.memory.search(
        text[:MAX_QUERY],
        turns=None,
        precise=True,
        repeated=True,
        thorough=False,
        code=False,
        limit=limit,
        private=private,
        tainted=False,
    )


RECORDING_TOOLS = (
    Tool(
        name="record_memory",
        title="Record memory",
        about="Store something for later sessions: a decision and its reason, a gotcha, a dead end, a preference of "
        "the user, the fix of an error, the state of the work. One thing per call. Not for what the code or its "
        "history already says. Repeating a record strengthens it; secrets are redacted.",
        arguments=RecordMemory,
        result=StoredResult,
        work=record_memory,
        hints=Hints(),
    ),
    Tool(
        name="remember_fact",
        title="Remember a fact",
        about="Store a plain fact about a person, a service or the project (a port, a version, an owner), best with "
        "subject, attribute and value. For decisions, gotchas and rules use record_memory.",
        arguments=RememberFact,
        result=StoredResult,
        work=remember_fact,
        hints=Hints(),
    ),
)
