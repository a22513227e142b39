"""Knowledge records with provenance, trust and validity."""

from collections.abc import Mapping
from enum import StrEnum
from hashlib import blake2b
from typing import Any, Self

from pydantic import Field, SerializeAsAny, ValidationInfo, model_validator

from treering.core.errors import InvalidInput
from treering.core.payloads import (
    KnowledgeType,
    Opaque,
    Payload,
    Stated,
    knowledge_type,
    knowledge_types,
    payload_texts,
)
from treering.core.scope import Visibility
from treering.core.taint import Taint, Taintable
from treering.core.values import (
    Count,
    FilePath,
    FilePaths,
    Instant,
    Key,
    Keys,
    Label,
    Labels,
    Record,
    Share,
    Text,
    Value,
)

CITATION_CHARACTERS = 40


class Level(StrEnum):
    """Scope of a record inside its project."""

    GLOBAL = "global"
    MODULE = "module"
    WORK_UNIT = "work_unit"
    SESSION = "session"


class Source(StrEnum):
    """Origin of a record."""

    AGENT_EXPLICIT = "agent_explicit"
    OBSERVER_INFERRED = "observer_inferred"
    QA_AUTO = "qa_auto"
    MCP_AUTO = "mcp_auto"
    COMMIT_AUTO = "commit_auto"
    USER_TAUGHT = "user_taught"
    CONSOLIDATION = "consolidation"


class RelationKind(StrEnum):
    REQUIRED_WITH = "required_with"
    CONFLICTS_WITH = "conflicts_with"
    VALIDATES = "validates"
    SUPERSEDES = "supersedes"
    DERIVED_FROM = "derived_from"


CONFLICTS = (RelationKind.SUPERSEDES, RelationKind.CONFLICTS_WITH)


class Relation(Value):
    """A relation to another record or to a file; exactly one of the two is set."""

    kind: RelationKind
    record: Key | None = None
    file: FilePath | None = None
    confidence: Share = 1.0
    automatic: bool = False

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if (self.record is None) == (self.file is None):
            raise ValueError("a relation needs either a record or a file; pass one of the two")
        return self


class WorkUnit(Value):
    """A unit of work of some methodology: `("spec_042", "subtask_3")`."""

    methodology: Label = "native"
    hierarchy: Labels
    label: Label | None = None


class ChunkKind(StrEnum):
    FUNCTION = "function"
    CLASS = "class"
    MODULE = "module"
    PROSE = "prose"


class RecordChunk(Value):
    """Part of a file that a record was extracted from."""

    kind: ChunkKind
    start_line: Count
    end_line: Count
    context: Text = ""

    @model_validator(mode="after")
    def _forward(self) -> Self:
        if self.end_line < self.start_line:
            raise ValueError("the last line of a chunk is before its first line")
        return self


def text_digest(type: str, content: str) -> str:
    """Digest that is equal for records of one type with the same text."""
    return blake2b(f"{type}\n{' '.join(content.split()).casefold()}".encode(), digest_size=16).hexdigest()


def _with_opaque_payload(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields with an opaque payload if this process does not know the type, so that nothing is lost."""
    payload = fields.get("payload")
    if fields.get("type") in knowledge_types() or isinstance(payload, Opaque):
        return fields
    return {**fields, "payload": Opaque(fields=payload)}


def _payload(kind: KnowledgeType, given: Any) -> Payload | None:
    if isinstance(given, Opaque):
        given = given.fields
    if given is None or type(given) is kind.payload:
        return given
    if isinstance(given, Payload):
        raise ValueError(f"the payload of a {kind.name} is a {type(given).__name__}; pass a {kind.payload.__name__}")
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ValueError(f"payload is not a mapping; pass the fields of {kind.payload.__name__}")
    try:
        return kind.payload.make(**given)
    except InvalidInput as exc:
        raise ValueError(f"payload is {exc}") from None


class Knowledge(Taintable, Record):
    """A knowledge record."""

    repr_fields = ("type", "content")

    version: Count = 1
    type: Label
    content: Text = Field(min_length=1)
    payload: SerializeAsAny[Payload] | None = None
    confidence: Share = 0.8
    tags: Labels = ()
    files: FilePaths = ()
    modules: Labels = ()

    level: Level = Level.GLOBAL
    visibility: Visibility = Visibility.PROJECT
    owner: Key = "local"
    source: Source = Source.AGENT_EXPLICIT
    session: Key | None = None
    commit: Label | None = None
    provenance_sessions: Keys = ()
    source_ids: Keys = ()
    work_unit: WorkUnit | None = None
    methodology: Label | None = None
    node: Key | None = None
    impacted_nodes: Keys = ()
    relations: tuple[Relation, ...] = ()
    superseded_by: Key | None = None

    created_at: Instant
    updated_at: Instant
    last_accessed_at: Instant
    access_count: Count = 0
    uses: Count = 0
    half_life_days: float | None = Field(default=None, gt=0)
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    stale_at: Instant | None = None
    deprecated_at: Instant | None = None
    deleted_at: Instant | None = None

    needs_review: bool = False
    user_verified: bool = False
    pinned: bool = False
    flagged: bool = False
    muted: bool = False
    """Never given to an agent unasked; searches still find it."""
    tainted: bool = False
    taint: Taint | None = None

    citation: Text | None = Field(default=None, max_length=CITATION_CHARACTERS)
    language: Label | None = None
    chunk: RecordChunk | None = None

    @classmethod
    def from_stored(cls, fields: Mapping[str, Any]) -> Self:
        return super().from_stored(_with_opaque_payload(fields))

    @property
    def conflicts(self) -> tuple[Relation, ...]:
        """Relations to records that it superseded, or that it contradicts until a person decides."""
        return tuple(each for each in self.relations if each.record is not None and each.kind in CONFLICTS)

    @property
    def open_conflicts(self) -> tuple[str, ...]:
        """Ids of the records that it contradicts, while it waits for review."""
        if not self.needs_review:
            return ()
        found = (each.record for each in self.conflicts if each.kind is RelationKind.CONFLICTS_WITH)
        return tuple(dict.fromkeys(id for id in found if id is not None))

    @property
    def is_from_person(self) -> bool:
        """Whether a person taught or confirmed it."""
        return self.user_verified or self.source is Source.USER_TAUGHT

    def details(self) -> tuple[tuple[str, str], ...]:
        """Texts of the payload that the content does not include, each with the name of its field.

        None for learned statements: their content is complete, and subject and attribute are only keys.
        """
        content = self.content.casefold()
        keys = Stated.model_fields if self.source is Source.CONSOLIDATION else ()
        texts = payload_texts(self.payload)
        return tuple((name, text) for name, text in texts if name not in keys and text.casefold() not in content)

    def replace(self, **changes: Any) -> Self:
        """Like `Value.replace`, also for unknown types, whose empty payload is an `Opaque` without fields."""
        if isinstance(self.payload, Opaque) and "type" not in changes and changes.get("payload", self) is None:
            changes["payload"] = Opaque()
        return super().replace(**changes)

    @model_validator(mode="before")
    @classmethod
    def _payload_of_type(cls, fields: Any, info: ValidationInfo) -> Any:
        if not isinstance(fields, dict) or not isinstance(fields.get("type"), str):
            return fields
        if info.mode == "json":
            fields = _with_opaque_payload(fields)
        payload = fields.get("payload")
        known = knowledge_types().get(fields["type"])
        if known is None and isinstance(payload, Opaque):
            return fields
        try:
            kind = known or knowledge_type(fields["type"])
        except InvalidInput as exc:
            raise ValueError(str(exc)) from None
        made = _payload(kind, payload)
        return fields if made is payload else {**fields, "payload": made}

    @model_validator(mode="after")
    def _valid_forwards(self) -> Self:
        if self.valid_from and self.valid_until and self.valid_until < self.valid_from:
            raise ValueError("valid_until is before valid_from")
        return self
