"""Error fingerprints that ignore paths, numbers and addresses."""

from treering.core.values import Count, Instant, Keys, Label, Record, Text


class ErrorFingerprint(Record):
    """One kind of failure, its number of occurrences and its resolution."""

    fingerprint: Label
    tool: Label | None = None
    message: Text
    occurrences: Count = 1
    sessions: Keys = ()
    resolution: Text | None = None
    first_seen_at: Instant
    last_seen_at: Instant
