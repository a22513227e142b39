"""Run by Alembic on the connection of `migrate.py`, inside its transaction."""

from alembic import context

from treering.adapters.sql.migrate import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
