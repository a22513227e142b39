"""Settings that belong to a project rather than to a machine, such as its trust level."""

from treering.core.values import EMPTY, FrozenMap, Instant, Record

TRUST = "trust"
"""Id of the trust level: `level`, and what was counted since it was set."""
INJECTION_RATES = "injection rates"
"""Id of what was learned from outcomes: used, ignored and contradicted items by point and type."""


class ProjectSetting(Record):
    """A named setting of a project, shared by everyone who works in it."""

    changed_at: Instant
    values: FrozenMap = EMPTY
