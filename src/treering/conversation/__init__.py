"""Conversations: every message is stored, and the context sent to the model stays within its window."""
