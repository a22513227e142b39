"""Settings of the database, secrets, jobs and maintenance."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from treering.core.values import LABELS, Value

_ANY_DATE = datetime(2026, 1, 1)


def _valid_cron(cron: str) -> str:
    """The schedule unchanged; `ValueError` if it cannot be parsed, so that it fails on start and not at night."""
    if not cron:
        return cron
    from croniter import CroniterError, croniter

    advice = "write five fields, such as 0 3 * * * for 3:00, or nothing"
    if len(cron.split()) != 5:
        raise ValueError(f"{cron!r} is not a schedule; {advice}")
    try:
        croniter(cron, _ANY_DATE, ret_type=datetime).get_next()
    except CroniterError as exc:
        raise ValueError(f"{cron!r} is not a schedule ({exc}); {advice}") from None
    return cron


Cron = Annotated[str, AfterValidator(_valid_cron)]


class StoreSettings(Value):
    busy_seconds: float = Field(default=60.0, gt=0)
    """Seconds a writer waits for the write lock of another process before it fails. Raise it if long imports run beside
    other writers."""
    connect_seconds: float = Field(default=10.0, gt=0)
    """Seconds to wait for a connection to the database server before it is reported as unreachable."""
    pool_size: int = Field(default=8, ge=1)
    """Open database connections that a process keeps, for all its memories in one PostgreSQL database together; under
    load it opens as many again."""
    blob_bytes: int = Field(default=262_144, ge=1_024)
    """Bytes above which a text goes to the blob store: long rows slow SQLite scans."""
    vectors_only: bool = False
    """Keep the text of records in the blob folder of this machine only; the database holds vectors, word codes and
    labels."""
    import_line_bytes: int = Field(default=134_217_728, ge=1_024)
    """Maximum bytes of one line of an import; the default fits an artifact of 96 MB. A line is held in memory several
    times."""
    synchronous: Literal["full", "off"] = "full"
    """Whether SQLite syncs each commit to disk. `off` can lose acknowledged writes in a power failure; use it only for
    tests."""

    @property
    def text_bytes(self) -> int:
        """Length above which text goes to the blob store."""
        return 0 if self.vectors_only else self.blob_bytes


class SecretSettings(Value):
    on_secret: Literal["redact", "refuse"] = "redact"
    """What happens to a text that contains a secret: `redact` replaces the secret, `refuse` raises `SecretRefused`."""


class KnowledgeSettings(Value):
    conflict_candidates: int = Field(default=20, ge=0, le=LABELS)
    """Maximum number of records on the same subject, newest first, that a new record is compared with; 0 disables the
    comparison."""


class JobSettings(Value):
    lease_seconds: float = Field(default=180.0, gt=0)
    """Seconds until the jobs of a dead worker are taken over. A live worker renews its lease five times in that period,
    so the clocks of two machines may differ by more than two minutes."""
    stuck_seconds: float = Field(default=3600.0, gt=0)
    """Seconds for which a job that reports no progress keeps its lease; then another worker may take over. Raise it for
    very slow models."""
    inline_seconds: float = Field(default=0.3, ge=0)
    """Seconds that a command spends on its own small jobs before it exits; the rest waits for `treering settle` or a
    worker."""
    keep_done_days: float = Field(default=7.0, ge=0)
    """Days until finished jobs are deleted."""
    keep_dead_days: float = Field(default=90.0, ge=0)
    """Days until dead jobs that were not retried are deleted."""


class MaintenanceSettings(Value):
    """Schedule of maintenance, as five cron fields; if empty, maintenance runs only on request."""

    timezone: str = ""
    """Time zone of the schedule, such as `Europe/Berlin`; empty: that of the machine."""
    nightly: Cron = "0 3 * * *"
    """Cron schedule of all stages, run one after the other; empty: no schedule."""
    weekly: Cron = "0 3 * * 0"
    """Cron schedule of the `reflect` and `synthesise` stages, which run with the nightly stages; empty: no schedule."""
    by_hand: tuple[str, ...] = ()
    """Stages that the schedule leaves out, such as `forget`."""
    keep_runs: int = Field(default=60, ge=10)
    """Number of past runs kept for each stage; the default covers two months."""
    close_seconds: float = Field(default=2.0, ge=0)
    """Maximum seconds that `close` waits for the background thread; another worker takes over an unfinished job."""
