"""The tables of the code graph.

Definitions and edges are packed, one blob a file: 500,000 rows take longer to read than the whole graph may take to
load, and a change always replaces all edges of a file. What uses what is indexed both ways at the grain of files.
"""

from sqlalchemy import Column, LargeBinary

from treering.adapters.sql.tables import add_index, flag, integer, metadata, moment, real, table, text

__all__ = ["code_facts", "code_files", "code_state", "code_ties", "code_uses", "metadata"]


def _packed(name: str) -> Column[bytes]:
    return Column(name, LargeBinary, nullable=False)


code_state = table(
    "code_state",
    text("root"),
    text("version"),
    flag("complete"),
    integer("generation"),
    text("told"),
    text("lease_owner", nullable=True),
    moment("lease_until", nullable=True),
    key=(),
)

code_files = table(
    "code_files",
    text("path"),
    text("language"),
    text("digest"),
    text("stamp"),
    integer("read_at"),
    flag("resolved"),
    text("skipped"),
    integer("generation"),
    integer("defined"),
    integer("used"),
    integer("unknown"),
    integer("problems"),
    _packed("definitions"),
    _packed("edges"),
    _packed("further"),
    key=("path",),
)
add_index(code_files, "generation", "path")

code_facts = table("code_facts", text("path"), _packed("given"), _packed("facts"), key=("path",))
"""Needed only for indexing; separate, because it would slow down reading the graph."""

code_uses = table("code_uses", text("path"), _packed("asked"), _packed("unresolved"), key=("path",))
"""Names that a resolution looked for and did not find; rewritten while the facts stay."""

code_ties = table("code_ties", text("origin"), text("target"), real("weight"), key=("origin", "target"), clustered=True)
add_index(code_ties, "target", "origin")
