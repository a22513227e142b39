"""Entities mentioned in records: extracted from text, linked with records, merged, and described in profiles."""
