"""Lists of episode ids in views of patterns."""

from collections.abc import Sequence

from rich.text import Text

from treering.interfaces.cli import views as show


def episodes(count: int, ids: Sequence[str], limit: int) -> Text:
    """The first `limit` ids, and the number of others."""
    named = Text(", ").join(Text(show.safe(id), show.ID) for id in ids[:limit])
    more = count - min(limit, len(ids))
    return Text.assemble(named, f" and {more:,} more") if more > 0 else named
