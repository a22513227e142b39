"""Mining of candidate patterns from episodes: deterministic, by counting, each with its evidence."""
