"""What is looked for in the trees of each language, as tree-sitter queries."""

from importlib.resources import files

from tree_sitter import Language, Query


def query_of(grammar: Language, *names: str) -> Query:
    """The query kept under the name of its language; under several names, for languages that share a part."""
    return Query(grammar, "\n".join(files(__name__).joinpath(f"{name}.scm").read_text("utf-8") for name in names))
