"""What only the pictures of patterns are made of: episodes by name."""

from collections.abc import Sequence

from rich.text import Text

from treering.interfaces.cli import views as show


def episodes(count: int, ids: Sequence[str], most: int) -> Text:
    """The first few by their ids, and how many there are besides."""
    named = Text(", ").join(Text(show.safe(id), show.ID) for id in ids[:most])
    more = count - min(most, len(ids))
    return Text.assemble(named, f" and {more:,} more") if more > 0 else named
