"""What is done to texts before a model sees them."""

from collections.abc import Iterator, Sequence


def encodable(text: str) -> str:
    """The text with half characters replaced: neither JSON nor a tokenizer takes them."""
    return text.encode("utf-8", "replace").decode()


def clipped(text: str, most_bytes: int) -> str:
    """The beginning of the text, in whole characters, encodable. A tokenizer makes no more tokens of it than bytes."""
    return text[:most_bytes].encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore")


def in_batches(texts: Sequence[str], most_texts: int, most_characters: int) -> Iterator[list[str]]:
    """The texts in their order; a text longer than a batch is a batch of its own."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == most_texts or characters + len(text) > most_characters):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch
