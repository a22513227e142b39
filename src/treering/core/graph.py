"""Nodes and edges of the code knowledge graph, and co-access of files."""

from enum import StrEnum

from pydantic import Field

from treering.core.values import EMPTY, Count, FilePath, FrozenMap, Instant, Key, Keys, Label, Record, Share, Text


class NodeKind(StrEnum):
    FILE = "file"
    DIRECTORY = "directory"
    MODULE = "module"
    CLASS = "class"
    INTERFACE = "interface"
    FUNCTION = "function"
    PATTERN = "pattern"
    DATAFLOW = "dataflow"
    INVARIANT = "invariant"
    DECISION = "decision"


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


class Layer(StrEnum):
    STRUCTURAL = "structural"
    SEMANTIC = "semantic"
    KNOWLEDGE = "knowledge"


class GraphSource(StrEnum):
    AST = "ast"
    SCIP = "scip"
    LLM = "llm"
    AGENT = "agent"


class GraphNode(Record):
    """A file, a symbol, or a concept attached to them."""

    kind: NodeKind
    label: Text
    file: FilePath | None = None
    language: Label | None = None
    start_line: Count | None = None
    end_line: Count | None = None
    layer: Layer = Layer.STRUCTURAL
    source: GraphSource = GraphSource.AST
    confidence: Share = 1.0
    records: Keys = ()
    created_at: Instant
    updated_at: Instant
    stale_at: Instant | None = None
    metadata: FrozenMap = EMPTY


class GraphEdge(Record):
    """`origin` depends on, calls, extends… `target`."""

    origin: Key
    target: Key
    kind: EdgeKind
    layer: Layer = Layer.STRUCTURAL
    weight: Share = 1.0
    source: GraphSource = GraphSource.AST
    confidence: Share = 1.0
    created_at: Instant
    updated_at: Instant
    stale_at: Instant | None = None
    metadata: FrozenMap = EMPTY


class CoAccessEdge(Record):
    """Co-access of two files: frequency, sessions, time between accesses and direction."""

    first: FilePath
    second: FilePath
    weight: Share = 0.0
    count: Count = 0
    sessions: Count = 0
    mean_delta_ms: float | None = Field(default=None, ge=0)
    directional: bool = False
    by_task_type: FrozenMap = EMPTY
    last_seen_at: Instant
    promoted_at: Instant | None = None
