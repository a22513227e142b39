"""Prefixes that embedding models expect before a text, according to their documentation."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prefixes:
    query: str = ""
    document: str = ""


_TASK = "Instruct: Given a question, retrieve memories that answer it\nQuery: "
_PASSAGES = "Represent this sentence for searching relevant passages: "

# The first family whose name occurs in the model's name decides: longer names come before names they contain.
_FAMILIES = {
    "qwen3-embedding": Prefixes(query=_TASK),
    "nomic-embed-text": Prefixes("search_query: ", "search_document: "),
    "embeddinggemma": Prefixes("task: search result | query: ", "title: none | text: "),
    "mxbai-embed-large": Prefixes(query=_PASSAGES),
    "snowflake-arctic-embed2": Prefixes(query="query: "),
    "snowflake-arctic-embed-l-v2": Prefixes(query="query: "),
    "snowflake-arctic-embed-m-v2": Prefixes(query="query: "),
    "snowflake-arctic-embed": Prefixes(query=_PASSAGES),
    "bge-small-en": Prefixes(query=_PASSAGES),
    "bge-base-en": Prefixes(query=_PASSAGES),
    "bge-large-en": Prefixes(query=_PASSAGES),
    "multilingual-e5-large-instruct": Prefixes(query=_TASK),
    "multilingual-e5": Prefixes("query: ", "passage: "),
}
_NONE = Prefixes()


def prefixes_of(model: str) -> Prefixes:
    """Prefixes by the model's name in any spelling; none for unknown models."""
    name = model.lower()
    return next((prefixes for family, prefixes in _FAMILIES.items() if family in name), _NONE)
