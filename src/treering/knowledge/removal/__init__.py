"""How memory lets go: what faded leaves softly, then for good, and what is gone is shown to be gone."""

from treering.knowledge.removal.expiry import has_faded, is_faded
from treering.knowledge.removal.stage import forget_faded

__all__ = ["forget_faded", "has_faded", "is_faded"]
