"""Modules that a memory needs, imported before the first request."""

from importlib import import_module

_FIRST_USED = (
    "treering.adapters.sql.store",
    "treering.adapters.sql.sqlite",
    "treering.adapters.sql.embedded_index",
    "treering.adapters.sql.project_index",
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
    "treering.search.api",
    "treering.search.accesses",
    "treering.search.api",
    "treering.context.injection.api",
    "treering.context.injection.points",
    "treering.context.injection.selection",
    "treering.render.injection",
)


def preload_modules() -> None:
    """Import what opening a memory and its first search need: half a second that a server can spend in advance."""
    for name in _FIRST_USED:
        import_module(name)
    from treering.core.language.terms import query_terms
    from treering.search.query_kinds import classify_query

    # Both build their tables on first use.
    query_terms("word")
    classify_query("two words")
