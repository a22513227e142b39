"""One linear history for both engines. `REVISIONS` lists it, so that opening a database does not import Alembic."""

REVISIONS = (
    "0001",
    "0002",
    "0003",
    "0004",
    "0005",
    "0006",
    "0007",
    "0008",
    "0009",
    "0010",
    "0011",
    "0012",
    "0013",
    "0015",
    "0016",
    "0017",
)
