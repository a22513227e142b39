"""Kinds and sources of edges in the code graph. Importing this must stay cheap: every process that reads code does."""

from enum import StrEnum


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
