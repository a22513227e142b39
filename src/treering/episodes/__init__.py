"""Whole task executions: kept, fetched back whole, moved through their lives."""
