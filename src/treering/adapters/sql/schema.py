"""The complete schema, for comparison with a database: all tables and indexes.

Statements need neither the tables of the other parts nor any index, so nothing else imports this.
"""

from treering.adapters.sql import code_chunks, code_history, code_tables
from treering.adapters.sql.tables import declare_indexes, metadata

__all__ = ["code_chunks", "code_history", "code_tables", "metadata"]

declare_indexes()
