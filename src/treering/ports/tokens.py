"""Token counting."""

from typing import Protocol


class Tokenizer(Protocol):
    """Counts the tokens of a text, deterministically."""

    @property
    def name(self) -> str:
        """The vocabulary, such as `o200k_base`, or the kind of estimate; counts of different names are never mixed."""
        ...

    @property
    def exact(self) -> bool:
        """Whether it counts as the provider does, rather than estimating."""
        ...

    def count(self, text: str) -> int: ...
