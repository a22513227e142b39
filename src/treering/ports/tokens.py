"""What Treering needs to know how many tokens something takes."""

from typing import Protocol


class Tokenizer(Protocol):
    """Counts the tokens of a text. The same text always has the same count."""

    @property
    def name(self) -> str:
        """The vocabulary, such as `o200k_base`, or what is estimated; counts of different names never mix."""
        ...

    @property
    def exact(self) -> bool:
        """Whether it is the provider's own way of counting rather than an estimate."""
        ...

    def count(self, text: str) -> int: ...
