"""PostgreSQL: blocks of postings, which take a fraction of the space of single rows."""

from collections.abc import Iterator

from alembic import op

revision = "0016"
down_revision = "0015"

HERE = "tenant = current_setting('treering.tenant', true) AND project = current_setting('treering.project', true)"
ME = "current_setting('treering.principal', true)"


def upgrade() -> None:
    """Leave the block table empty: words are rebuilt after every migration, in the same transaction."""
    if op.get_bind().dialect.name == "postgresql":
        for statement in _postgresql():
            op.execute(statement)


def _postgresql() -> Iterator[str]:
    # The key includes what counting documents needs, so that it does not read the blocks.
    yield (
        'CREATE TABLE posting_blocks (tenant TEXT COLLATE "C" NOT NULL, project TEXT COLLATE "C" NOT NULL, '
        "code BIGINT NOT NULL, first BIGINT NOT NULL, last BIGINT NOT NULL, held SMALLINT NOT NULL, "
        "postings BIGINT[] NOT NULL, CONSTRAINT posting_blocks_key PRIMARY KEY (tenant, project, code, first) "
        "INCLUDE (last, held))"
    )
    # As in 0010: the upper half of a code is the owner's.
    digest = f"substr(encode(sha256(convert_to({ME}, 'UTF8')), 'hex'), 1, 8)"
    whose = f"(SELECT greatest(('x' || {digest})::bit(32)::bigint & 2147483647, 1))"
    seen = f"{HERE} AND (code < 4294967296 OR code >> 32 = {whose})"
    yield "ALTER TABLE posting_blocks ENABLE ROW LEVEL SECURITY"
    yield "ALTER TABLE posting_blocks FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY scope ON posting_blocks USING ({seen}) WITH CHECK ({seen})"
