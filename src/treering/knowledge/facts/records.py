"""A statement as a record."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from treering.core.messages import Role
from treering.core.payloads import PreferenceStrength, knowledge_type
from treering.core.records import Knowledge, Relation, RelationKind, Source
from treering.core.statements import Statement
from treering.core.taint import inherited_taint
from treering.core.turns import Turn

SAID_BY_PEOPLE = frozenset({Source.CONSOLIDATION, Source.USER_TAUGHT, Source.AGENT_EXPLICIT})
"""What people said, taught, or had an agent keep. What is learned from an agent's own words is only inferred."""

_STRENGTH: Mapping[str, PreferenceStrength] = {
    "never": PreferenceStrength.NEVER,
    "always": PreferenceStrength.MUST,
    "must": PreferenceStrength.MUST,
}
_BY_ATTRIBUTE: Mapping[str, PreferenceStrength] = {
    "dislikes": PreferenceStrength.AVOID,
    "rule": PreferenceStrength.MUST,
}


def since(said: Statement, turn: Turn) -> datetime:
    """From when on it holds; that something is over holds from its end on."""
    told = said.valid_until if said.ended else said.valid_from
    return told or turn.at


def recorded(said: Statement, turn: Turn, now: datetime, id: str, ties: Sequence[Relation]) -> Knowledge:
    """As old as what was said, and used when it was learned; as visible and as tainted as its turn."""
    began = since(said, turn)
    disputed = any(tie.kind is RelationKind.CONFLICTS_WITH for tie in ties)
    return Knowledge.make(
        id=id,
        type=said.type,
        content=said.text,
        payload=_payload(said),
        confidence=said.confidence,
        half_life_days=knowledge_type(said.type).half_life_days,
        visibility=turn.visibility,
        owner=turn.owner,
        source=Source.CONSOLIDATION if turn.role is Role.USER else Source.OBSERVER_INFERRED,
        session=turn.session,
        provenance_sessions=(turn.session,),
        source_ids=(turn.id,),
        relations=tuple(ties),
        created_at=turn.at,
        updated_at=turn.at,
        last_accessed_at=max(turn.at, now),
        valid_from=began,
        valid_until=None if said.ended or (said.valid_until and said.valid_until < began) else said.valid_until,
        needs_review=disputed,
        taint=inherited_taint([turn]),
        language=said.language,
    )


def _payload(said: Statement) -> Mapping[str, object]:
    stated: dict[str, object] = {
        "subject": said.subject,
        "attribute": said.attribute,
        "value": said.value,
        "negated": said.ended,
        "speaker": said.speaker,
    }
    if said.type == "preference":
        first = said.value.split(" ", 1)[0].casefold()
        fallback = _BY_ATTRIBUTE.get(said.attribute, PreferenceStrength.PREFER)
        stated["strength"] = _STRENGTH.get(first, fallback)
    return stated
