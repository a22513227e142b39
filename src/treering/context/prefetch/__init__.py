"""Ranking of the files that a session will touch, from its first prompt and earlier sessions."""
