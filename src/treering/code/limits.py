"""Limits of code chunks and of the git history. Importing this must stay cheap: every process that reads code does."""

import json
from dataclasses import asdict, dataclass, replace


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Sizes of the chunks that files are divided into. A change applies to a file when it is next read."""

    most_bytes: int = 1_600
    """Maximum bytes of a chunk with its prefix: about 500 tokens, the input size of small embedding models. In bytes,
    because counting tokens takes longer than parsing."""
    joined_bytes: int = 500
    """Bytes up to which neighbouring definitions are joined: a getter of three lines says little on its own."""
    prose_lines: int = 100
    """Lines of a chunk in files without definitions: prose, data, configuration."""
    prose_slack: int = 20
    """Lines by which such a chunk may be shorter or longer to end at a blank line."""
    group: int = 6
    """One name in this many, selected by its hash, begins a new group of neighbours, so that an edit moves only nearby
    boundaries."""


CHUNK_LIMITS = ChunkLimits()
TEXT_CHUNK_LIMITS = replace(CHUNK_LIMITS, most_bytes=6_400)
"""Limits in files of prose, configuration and data: about a hundred lines. A model that reads less than that embeds the
beginning of a chunk; its words are all found."""


@dataclass(frozen=True, slots=True)
class HistoryLimits:
    """Limits of co-change counting; changing one recounts the history. The weights of `related` were fitted with these
    values (`bench/cochange.py`)."""

    most_files: int = 30
    """Maximum files of a commit that is counted: a larger one (formatting, licence headers) relates unrelated files."""
    habit_half_life: float = 13.5
    """Commits of a file after which an earlier co-change counts half for `related`. Only commits of that file count,
    because a large repository has thousands of others in between. 34 performed about as well."""
    half_life: float = 1_500.0
    """Commits of the repository after which the co-access weight of a pair is halved."""
    busy_half_life: float = 20.0
    """Commits after which a change of a file counts half as current work."""
    recent: int = 8
    """Number of newest commits whose files may be suggested without any other relation."""
    least_together: int = 2
    """Minimum common commits of a co-access pair: one may be chance."""
    least_weight: float = 0.05
    """Minimum weight of a co-access pair; excludes old ones."""
    most_per_file: int = 20
    """Maximum co-access pairs of one file: retrieval uses no more neighbours."""


HISTORY_LIMITS = HistoryLimits()


def limits_text(limits: ChunkLimits | HistoryLimits) -> str:
    """The limits as text that changes with them: what is stored under other limits is not used."""
    return json.dumps(asdict(limits), separators=(",", ":"))
