"""The tree-sitter queries of each language."""

from importlib.resources import files

from tree_sitter import Language, Query


def query_of(grammar: Language, *names: str) -> Query:
    """Load the query of a language; several names are concatenated, for languages that share a part."""
    return Query(grammar, "\n".join(files(__name__).joinpath(f"{name}.scm").read_text("utf-8") for name in names))
