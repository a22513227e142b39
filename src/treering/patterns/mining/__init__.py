"""Candidate patterns that come out of episodes by themselves: deterministic, counted, each with its evidence."""
