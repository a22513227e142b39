"""How much of a change of confidence travels along relations."""

from pydantic import Field

from treering.core.values import LABELS, Value


class Propagation(Value):
    """How much of a change of confidence travels along a relation."""

    validates: float = Field(default=0.6, ge=-1, le=1)
    required_with: float = Field(default=0.3, ge=-1, le=1)
    conflicts_with: float = Field(default=-0.4, ge=-1, le=1)
    derived_from: float = Field(default=0.5, ge=-1, le=1)
    supersedes: float = Field(default=-0.8, ge=-1, le=0)
    """Only a rise travels: the surer the new record, the less the old one counts."""
    least: float = Field(default=0.05, gt=0, le=1)
    """A change that would be no greater than this stops."""
    depth: int = Field(default=3, ge=0)
    """Relations in a row that are followed; even the strongest leave a fifth after three."""
    most: int = Field(default=100, ge=1, le=LABELS)
    """Records that one change may reach; who is related to more is related to none in particular."""
    ceiling: float = Field(default=0.95, ge=0, le=1)
    """Related records lift each other no further: only a person is surer."""


PROPAGATION = Propagation.defaults()
