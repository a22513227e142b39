"""One linear history for both engines. `REVISIONS` lists it, so that opening a database does not import Alembic."""

REVISIONS = tuple(f"{number:04}" for number in range(1, 15))
