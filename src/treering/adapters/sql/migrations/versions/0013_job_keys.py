"""PostgreSQL: look up and lock the keys of jobs in one call, so that a write queues its jobs in one round trip."""

from alembic import op

revision = "0013"
down_revision = "0012"

# Each statement of a volatile function sees what was committed before it began: the states are read after the locks.
# No worker leases a queued job that is locked here before the transaction ends, so that the job sees its records. A
# queued job that another transaction has locked is about to begin, so it counts as leased.
FUNCTION = """
    CREATE FUNCTION treering_lock_job_keys(
        of_tenant text, of_project text, kinds text[], keys text[], locks text[]
    ) RETURNS TABLE (job_kind text, job_key text, job_state text, job_run_at bigint) LANGUAGE plpgsql VOLATILE AS $$
    DECLARE
        held text[];
    BEGIN
        FOR place IN 1 .. cardinality(locks) LOOP
            IF NOT EXISTS (
                SELECT FROM jobs WHERE tenant = of_tenant AND project = of_project AND kind = kinds[place]
                AND key = keys[place] AND state IN ('queued', 'leased')
            ) THEN
                PERFORM pg_advisory_xact_lock(hashtextextended(locks[place], 0));
            END IF;
        END LOOP;
        held := ARRAY(
            SELECT jobs.id FROM unnest(kinds, keys) AS wanted (kind, key) JOIN jobs USING (kind, key)
            WHERE tenant = of_tenant AND project = of_project AND state = 'queued' FOR SHARE OF jobs SKIP LOCKED
        );
        RETURN QUERY SELECT DISTINCT jobs.kind, jobs.key,
            CASE WHEN state = 'queued' AND id <> ALL(held) THEN 'leased' ELSE state END, jobs.run_at
            FROM unnest(kinds, keys) AS wanted (kind, key) JOIN jobs USING (kind, key)
            WHERE tenant = of_tenant AND project = of_project AND state IN ('queued', 'leased', 'dead');
    END $$
"""


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(FUNCTION)
