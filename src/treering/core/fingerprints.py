"""Errors recognised again although paths, numbers and addresses differ."""

from treering.core.values import Count, Instant, Keys, Label, Record, Text


class ErrorFingerprint(Record):
    """One kind of failure, how often it came, and what ended it."""

    fingerprint: Label
    tool: Label | None = None
    message: Text
    occurrences: Count = 1
    sessions: Keys = ()
    resolution: Text | None = None
    first_seen_at: Instant
    last_seen_at: Instant
