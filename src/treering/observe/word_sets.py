"""Sets of words, written as text."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text that whitespace separates."""
    return frozenset(text.split())
