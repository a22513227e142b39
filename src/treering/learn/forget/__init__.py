"""How memory lets go: what faded leaves softly, then for good, and what is gone is shown to be gone."""

from treering.learn.forget.fading import has_faded, is_faded
from treering.learn.forget.stage import forget_faded

__all__ = ["forget_faded", "has_faded", "is_faded"]
