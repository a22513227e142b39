"""Removal: expired records are deleted, purged after a grace period, and proven to be gone."""
