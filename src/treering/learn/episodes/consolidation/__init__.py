"""Several episodes of the same task become one that stands for them; they stay, archived, and can come back."""

from treering.learn.episodes.consolidation.consolidate import consolidate_episodes
from treering.learn.episodes.consolidation.dissolving import dissolve, withdraw_standing

__all__ = ["consolidate_episodes", "dissolve", "withdraw_standing"]
