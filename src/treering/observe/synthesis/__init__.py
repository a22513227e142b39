"""Statistics over sessions, and the records that they support."""
