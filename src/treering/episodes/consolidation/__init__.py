"""Consolidation: similar episodes are represented by one; the members are archived and can be restored."""
