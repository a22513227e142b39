"""Size limits of a SCIP index, and the threshold for accepting a document."""

from dataclasses import dataclass

from treering.core.settings.index import IndexSettings


@dataclass(frozen=True, slots=True)
class ScipLimits:
    index_bytes: int = IndexSettings().scip_bytes
    document_bytes: int = 16 * 2**20
    """About twenty times the size of the source file; files above a megabyte are not indexed."""
    min_match: float = 0.9
    """Minimum share of a document's names found at their positions; below it, the file changed since it was indexed.
    Quoted keys and similar names, which are spelled differently, account for the rest.
    """
    max_named_problems: int = 50
    """Maximum number of documents named in the problems; all are counted."""
