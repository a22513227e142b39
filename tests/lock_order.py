"""The order in which write transactions take locks that another transaction may hold.

On a server, two transactions that take two locks in opposite orders wait for each other until the server aborts one.
Every transaction takes its locks by growing rank; several of one rank in the order of their names or ids. A claim is
an advisory lock (`Transaction.claim`); the rank of a table is that of the locks on its rows. Learning finds the records
that it changes one after the other and cannot keep this order: `Store.write` runs it again if it is aborted.
"""

CLAIMS: dict[str, int] = {
    # The work: a transaction takes at most one of these, or those of a statement before that of its text.
    "schedule": 0,
    "conversation": 0,
    "task": 0,
    "learning": 0,
    "statement": 0,
    "text": 0,
    "code": 0,
    "reflection": 0,
    "promotion": 0,
    # The subject, then the records that it changes.
    "facts": 1,
    "observed": 1,
    "injection": 1,
    "trust": 1,
    "record": 2,
    "consolidation": 3,
    "entities": 5,
}
TABLES: dict[str, int] = {
    # The id of a new record; only the transaction that holds it inserts that record.
    "ids": 4,
    "knowledge": 4,
    "turns": 4,
    "episodes": 4,
    "patterns": 4,
    "applications": 4,
    "entity_links": 6,
    "entities": 6,
    # Sessions quote records, so they follow them; follow-up jobs come after both.
    "sessions": 7,
    "runs": 8,
    "jobs": 8,
}
JOB_KEYS = 9
"""Keys of jobs come last: they are the only locks that all transactions of a project share.

Just before them, a transaction that purges takes the lock of the posting blocks, which moves of words only try to take.
"""

CLAIMED = frozenset({"ids", "knowledge", "turns", "episodes", "patterns", "applications"})
"""Rows that a transaction holds already when it has claimed their record or, to insert them, has taken their id: they
may be locked at any time after that."""
DERIVED = frozenset({"facets", "documents", "postings", "posting_blocks", "vectors", "nearby", "revisions", "audit"})
"""Rows about a record: a transaction changes them only if it has locked the record, or with `SKIP LOCKED`."""
OBSERVED = frozenset({"observed_sessions", "scratchpads", "signal_evidence", "injected_items", "project_settings"})
"""Rows that a transaction changes only if it has claimed promotion, or the one setting that it changes; a checkpoint,
or a note of what was injected, writes new ones and nothing else."""
