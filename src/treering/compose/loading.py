"""What a memory is made of, loaded before anybody asks for it."""

from importlib import import_module

_FIRST_USED = (
    "treering.adapters.sql.store",
    "treering.adapters.sql.sqlite",
    "treering.adapters.sql.embedded_index",
    "treering.adapters.sql.entities",
    "treering.adapters.sql.turns",
    "treering.adapters.blobs",
    "treering.adapters.models.choosing",
    "treering.adapters.models.bundled",
    "treering.compose.working",
    "treering.learn.upkeep.background",
    "treering.memory",
    "treering.retrieve.code_hits",
    "treering.retrieve.recall",
    "treering.retrieve.returned",
)


def load_ahead() -> None:
    """What opening a memory and the first search in it load: half a second that a server has while nobody asks."""
    for name in _FIRST_USED:
        import_module(name)
    from treering.core.language.terms import query_terms
    from treering.retrieve.kinds import kind_of

    # Both make their tables when they are first asked; a word alone is compared with few rules.
    query_terms("word")
    kind_of("two words")
