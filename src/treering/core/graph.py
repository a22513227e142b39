"""Kinds and sources of edges in the code graph, and co-access of files."""

from enum import StrEnum

from pydantic import Field

from treering.core.values import EMPTY, Count, FilePath, FrozenMap, Instant, Record, Share


class EdgeKind(StrEnum):
    IMPORTS = "imports"
    CALLS = "calls"
    IMPLEMENTS = "implements"
    EXTENDS = "extends"
    EXPORTS = "exports"
    IS_ENTRYPOINT_FOR = "is_entrypoint_for"
    FLOWS_TO = "flows_to"
    DEPENDS_LOGICALLY = "depends_logically"
    HANDLES_ERRORS_FROM = "handles_errors_from"
    APPLIES_PATTERN = "applies_pattern"
    # Uses of a definition other than calls (docs/decisions/0034-references.md). Stored edges hold the position of their
    # kind in this list, so new kinds are added at the end.
    REFERENCES = "references"
    REGISTERS = "registers"
    ANNOTATES = "annotates"
    RAISES = "raises"
    CATCHES = "catches"


class GraphSource(StrEnum):
    AST = "ast"
    SCIP = "scip"
    LLM = "llm"
    AGENT = "agent"


class CoAccessEdge(Record):
    """Co-access of two files: frequency, sessions, time between accesses and direction."""

    first: FilePath
    second: FilePath
    weight: Share = 0.0
    count: Count = 0
    sessions: Count = 0
    tainted_sessions: Count = 0
    mean_delta_ms: float | None = Field(default=None, ge=0)
    directional: bool = False
    by_task_type: FrozenMap = EMPTY
    last_seen_at: Instant
    promoted_at: Instant | None = None
