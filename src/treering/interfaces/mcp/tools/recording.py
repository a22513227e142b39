"""record_memory and remember_fact: what an agent wants to be known in later sessions."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from treering.core.delimiters import one_line, without_delimited
from treering.core.errors import InvalidInput
from treering.core.records import RelationKind, Source
from treering.core.secret_formats import MARK
from treering.core.taint import Taint
from treering.core.timestamps import timestamp_of
from treering.core.tokens import estimate_tokens
from treering.interfaces.mcp.answers import Cited, passages, within
from treering.interfaces.mcp.tool import (
    LONGEST_SEARCH,
    Answer,
    Arguments,
    Hints,
    Name,
    Names,
    Reply,
    Told,
    Tool,
)

if TYPE_CHECKING:
    from treering.core.values import Value
    from treering.interfaces.mcp.host import Call
    from treering.search.answer import Answer as RecallAnswer

_UNNAMED = "agent"
"""The source of what an agent only says to be from outside (true)."""
FromOutside = Annotated[
    Name | None,
    BeforeValidator(lambda given: (_UNNAMED if given else None) if isinstance(given, bool) else given),
    Field(
        description="Source of the text from outside that it rests on: a URL, an issue, an email, a tool. It is then "
        "kept as doubtful."
    ),
]
Files = Annotated[
    Names,
    Field(description="Files it is about, relative to the repository root.", examples=[["shop/db.py"]]),
]


REDACTED = "What looked like a secret was taken out before it was stored."
FROM_OUTSIDE = "Marked as from outside: until a person confirms it, it is only handed out where `outside` asks for it."


def taint_of(from_outside: str | None) -> Taint | None:
    """The taint of what an agent says to be from outside."""
    reason = "an agent said that it rests on text from outside"
    return None if from_outside is None else Taint.make(source=from_outside, reason=reason)


class RecordMemory(Arguments):
    text: Annotated[
        Told,
        Field(
            description="One thing worth knowing in a later session, understandable by itself: what, why, where.",
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
            "task. module_insight: what a part of the code is for. work_state: where the work stands. The others: what "
            "they say."
        ),
    ] = "gotcha"
    files: Files = ()
    tags: Annotated[Names, Field(description="Words to find it by.", examples=[["database"]])] = ()
    from_outside: FromOutside = None


class RememberFact(Arguments):
    fact: Annotated[
        Told,
        Field(
            description="A sentence that is understood by itself.", examples=["The staging database listens on 5433."]
        ),
    ]
    subject: Annotated[
        Name | None, Field(description="Whom or what it is about, by name.", examples=["staging database"])
    ] = None
    attribute: Annotated[Name | None, Field(description="Which property of it.", examples=["port"])] = None
    value: Annotated[Name | None, Field(description="The value of that property.", examples=["5433"])] = None
    since: Annotated[
        Name | None,
        Field(description="Since when it holds, as a date; without it, since now.", examples=["2026-05-08"]),
    ] = None
    from_outside: FromOutside = None


class Kept(Reply):
    id: str
    type: str
    known_already: bool
    redacted: bool
    tainted: bool
    superseded: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    similar: tuple[Cited, ...] = ()


def record_memory(call: "Call", asked: RecordMemory) -> Answer[Kept]:
    fields = {"files": call.from_root(asked.files), "tags": asked.tags}
    return _kept(call, asked, asked.text, asked.type, from_outside=asked.from_outside, **fields)


def remember_fact(call: "Call", asked: RememberFact) -> Answer[Kept]:
    stated = {"subject": asked.subject, "attribute": asked.attribute, "value": asked.value}
    payload = {name: told for name, told in stated.items() if told is not None}
    since = {} if asked.since is None else {"valid_from": timestamp_of(asked.since, call.now)}
    return _kept(call, asked, asked.fact, "fact", from_outside=asked.from_outside, payload=payload or None, **since)


def own_words(text: str) -> str:
    """What the agent says itself: blocks of memory that it was handed are not knowledge a second time."""
    if not text.strip():
        raise InvalidInput("there are no words in it; say in a sentence what is to be kept")
    said = without_delimited(text).strip()
    if not said:
        raise InvalidInput("this is what memory handed out before; say in your own words what is new in it")
    return said


def taken_out(kept: "Value", asked: Arguments) -> str:
    """What an agent is told where a secret was not stored."""
    return REDACTED if MARK in kept.to_json() and MARK not in asked.model_dump_json() else ""


def _kept(
    call: "Call", asked: Arguments, text: str, type: str, *, from_outside: str | None, **fields: Any
) -> Answer[Kept]:
    said = own_words(text)
    # Before it is written: what says the same in other words would be folded into it.
    similar = _similar(call, said, private=from_outside is not None)
    record = call.memory.remember(
        said, type=type, source=Source.AGENT_EXPLICIT, session=call.session, taint=taint_of(from_outside), **fields
    )
    known_already = record.version > 1 or record.created_at < call.now
    redacted, id = taken_out(record, asked), one_line(record.id)
    superseded, conflicts = (
        tuple(each.record for each in record.conflicts if each.record and each.kind is kind)
        for kind in (RelationKind.SUPERSEDES, RelationKind.CONFLICTS_WITH)
    )
    others = [piece for piece in similar if piece.id != record.id][: call.memory.settings.agents.similar]
    done = tuple(
        filter(
            None,
            (
                f"Known already, as {id}." if known_already else f"Kept as {id} ({type}).",
                redacted,
                FROM_OUTSIDE if record.tainted else "",
                f"Supersedes {one_line(', '.join(superseded))}." if superseded else "",
                f"{_CONFLICTS} {one_line(', '.join(conflicts))}." if conflicts else "",
            ),
        )
    )

    def told(room: int) -> Answer[Kept]:
        shown = passages(others, room - estimate_tokens("\n".join((*done, _SAME_SUBJECT))))
        notes = (*done, _SAME_SUBJECT) if shown.shown else done
        result = Kept(
            notes=(*notes, *shown.notes),
            id=record.id,
            type=record.type,
            known_already=known_already,
            redacted=bool(redacted),
            tainted=record.tainted,
            superseded=superseded,
            conflicts=conflicts,
            similar=shown.shown,
        )
        return Answer("\n".join(filter(None, (*notes, shown.text))), result)

    return within(call.memory.settings.agents.answer_tokens, told)


_CONFLICTS = "Both wait for review (correct_fact or forget the wrong one): it contradicts"
_SAME_SUBJECT = "On the same subject; where one of them is wrong or the same now, correct_fact it:"


def _similar(call: "Call", said: str, *, private: bool) -> list[Cited]:
    """What is known on the same subject: whoever sees it need not say it twice."""
    most = call.memory.settings.agents.similar + 1
    return [Cited(id=hit.id, source=hit.source, text=hit.text) for hit in saying(call, said, most, private=private)]


def saying(call: "Call", said: str, most: int, *, private: bool) -> "RecallAnswer":
    """The records that this is really about, also those that say the same as a better one."""
    return call.memory.search(
        said[:LONGEST_SEARCH],
        turns=None,
        precise=True,
        repeated=True,
        thorough=False,
        code=False,
        limit=most,
        private=private,
        tainted=False,
    )


KEEPING = (
    Tool(
        name="record_memory",
        title="Record memory",
        about="Keep something for later sessions: a decision and its reason, a gotcha, a dead end, how the user wants "
        "things, the fix of an error, where the work stands. One thing a call. Not for what the code or its history "
        "says anyway. The same words again strengthen what is there; secrets are taken out.",
        arguments=RecordMemory,
        result=Kept,
        work=record_memory,
        hints=Hints(),
    ),
    Tool(
        name="remember_fact",
        title="Remember a fact",
        about="Keep a plain fact about a person, a service or the project (a port, a version, an owner), best with "
        "subject, attribute and value. For decisions, gotchas and rules use record_memory.",
        arguments=RememberFact,
        result=Kept,
        work=remember_fact,
        hints=Hints(),
    ),
)
