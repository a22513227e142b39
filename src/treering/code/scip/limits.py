"""How much of an index is read, and when a document of it is believed."""

from dataclasses import dataclass

from treering.core.settings.index import IndexSettings


@dataclass(frozen=True, slots=True)
class ScipLimits:
    index_bytes: int = IndexSettings().scip_bytes
    document_bytes: int = 16 * 2**20
    """What is written about one file: some twenty times its size, and files above a megabyte are not indexed."""
    fitting: float = 0.9
    """The share of a document's names that must stand where the index says; below it the file is another one by now.
    Keys in quotes and the like, which are written otherwise, are the few that may be missing."""
    told_problems: int = 50
    """Documents that are named in the problems; all are counted."""
