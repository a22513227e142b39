"""Co-access of two files."""

from pydantic import Field

from treering.core.values import EMPTY, Count, FilePath, FrozenMap, Instant, Record, Share


class CoAccessEdge(Record):
    """Co-access of two files: frequency, sessions, time between accesses and direction."""

    first: FilePath
    second: FilePath
    weight: Share = 0.0
    count: Count = 0
    sessions: Count = 0
    tainted_sessions: Count = 0
    mean_delta_ms: float | None = Field(default=None, ge=0)
    directional: bool = False
    by_task_type: FrozenMap = EMPTY
    last_seen_at: Instant
    promoted_at: Instant | None = None
