"""From notes of one session to records: evidence over sessions, gates, texts, and one transaction."""
