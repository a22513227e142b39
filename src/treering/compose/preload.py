"""What a memory is made of, loaded before anybody asks for it."""

from importlib import import_module

_FIRST_USED = (
    "treering.adapters.sql.store",
    "treering.adapters.sql.sqlite",
    "treering.adapters.sql.embedded_index",
    "treering.adapters.sql.entities",
    "treering.adapters.sql.turns",
    "treering.adapters.blobs",
    "treering.adapters.models.selection",
    "treering.adapters.models.bundled",
    "treering.compose.workers",
    "treering.maintenance.background",
    "treering.memory",
    "treering.search.code_hits",
    "treering.search.pipeline",
    "treering.search.accesses",
)


def load_ahead() -> None:
    """What opening a memory and the first search in it load: half a second that a server has while nobody asks."""
    for name in _FIRST_USED:
        import_module(name)
    from treering.core.language.terms import query_terms
    from treering.search.query_kinds import classify_query

    # Both make their tables when they are first asked; a word alone is compared with few rules.
    query_terms("word")
    classify_query("two words")
