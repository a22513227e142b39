"""Conversion of statements to records."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from treering.core.messages import Role
from treering.core.payloads import PreferenceStrength, knowledge_type
from treering.core.records import Knowledge, Relation, RelationKind, Source
from treering.core.statements import Statement
from treering.core.taint import inherited_taint
from treering.core.turns import Turn

PERSON_SOURCES = frozenset({Source.CONSOLIDATION, Source.USER_TAUGHT, Source.AGENT_EXPLICIT})
"""Sources of records that go back to a person; records learned from an agent's own words are only inferred."""

_STRENGTH: Mapping[str, PreferenceStrength] = {
    "never": PreferenceStrength.NEVER,
    "always": PreferenceStrength.MUST,
    "must": PreferenceStrength.MUST,
}
_BY_ATTRIBUTE: Mapping[str, PreferenceStrength] = {
    "dislikes": PreferenceStrength.AVOID,
    "rule": PreferenceStrength.MUST,
}


def valid_since(statement: Statement, turn: Turn) -> datetime:
    """Time from which the statement is valid; for an ended state, its end."""
    stated = statement.valid_until if statement.ended else statement.valid_from
    return stated or turn.at


def statement_record(
    statement: Statement, turn: Turn, now: datetime, id: str, relations: Sequence[Relation]
) -> Knowledge:
    """A record with the date, visibility and taint of its turn, last accessed when it was learned."""
    start = valid_since(statement, turn)
    disputed = any(relation.kind is RelationKind.CONFLICTS_WITH for relation in relations)
    return Knowledge.make(
        id=id,
        type=statement.type,
        content=statement.text,
        payload=_payload(statement),
        confidence=statement.confidence,
        half_life_days=knowledge_type(statement.type).half_life_days,
        visibility=turn.visibility,
        owner=turn.owner,
        source=Source.CONSOLIDATION if turn.role is Role.USER else Source.OBSERVER_INFERRED,
        session=turn.session,
        provenance_sessions=(turn.session,),
        source_ids=(turn.id,),
        relations=tuple(relations),
        created_at=turn.at,
        updated_at=turn.at,
        last_accessed_at=max(turn.at, now),
        valid_from=start,
        valid_until=None
        if statement.ended or (statement.valid_until and statement.valid_until < start)
        else statement.valid_until,
        needs_review=disputed,
        taint=inherited_taint([turn]),
        language=statement.language,
    )


def _payload(statement: Statement) -> Mapping[str, object]:
    stated: dict[str, object] = {
        "subject": statement.subject,
        "attribute": statement.attribute,
        "value": statement.value,
        "negated": statement.ended,
        "speaker": statement.speaker,
    }
    if statement.type == "preference":
        first = statement.value.split(" ", 1)[0].casefold()
        fallback = _BY_ATTRIBUTE.get(statement.attribute, PreferenceStrength.PREFER)
        stated["strength"] = _STRENGTH.get(first, fallback)
    return stated
