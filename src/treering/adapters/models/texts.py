"""Preparation of texts for models."""

from collections.abc import Iterator, Sequence


def encodable(text: str) -> str:
    """Replace lone surrogates, which neither JSON nor a tokenizer accepts."""
    return text.encode("utf-8", "replace").decode()


def clipped(text: str, max_bytes: int) -> str:
    """The longest prefix of whole characters within the limit, encodable. It has at most as many tokens as bytes."""
    return text[:max_bytes].encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")


def in_batches(texts: Sequence[str], max_texts: int, max_characters: int) -> Iterator[list[str]]:
    """Batches in order; a text that exceeds the limit is a batch of its own."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == max_texts or characters + len(text) > max_characters):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch
