"""How records are kept and worked on."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from treering.core.values import LABELS, Value

_SOME_DAY = datetime(2026, 1, 1)


def _moments(cron: str) -> str:
    """A schedule that somebody wrote: it says so here, and not at night to nobody, where it is none."""
    if not cron:
        return cron
    from croniter import CroniterError, croniter

    advice = "write five fields, such as 0 3 * * * for 3:00, or nothing"
    if len(cron.split()) != 5:
        raise ValueError(f"{cron!r} is not a schedule; {advice}")
    try:
        croniter(cron, _SOME_DAY, ret_type=datetime).get_next()
    except CroniterError as exc:
        raise ValueError(f"{cron!r} is not a schedule ({exc}); {advice}") from None
    return cron


Cron = Annotated[str, AfterValidator(_moments)]


class StoreSettings(Value):
    busy_seconds: float = Field(default=60.0, gt=0)
    """How long a writer waits for another process; eight busy writers need well under a second each."""
    connect_seconds: float = Field(default=10.0, gt=0)
    """How long to wait for a server before saying that it is not there."""
    pool_size: int = Field(default=8, ge=1)
    """Open connections kept for threads of one process."""
    blob_bytes: int = Field(default=262_144, ge=1_024)
    """Text above this goes to the blob store: SQLite reads rows page by page, and long overflow chains slow scans."""
    vectors_only: bool = False
    """Keep the text of records in the blob folder of this machine; the database has vectors, word codes and labels."""
    import_line_bytes: int = Field(default=134_217_728, ge=1_024)
    """The longest line that an import reads: an artifact of 96 MB. A line is held in memory several times."""
    synchronous: Literal["full", "off"] = "full"
    """Whether SQLite syncs each commit to disk; `off` can lose acknowledged writes in a power failure. For tests."""

    @property
    def text_bytes(self) -> int:
        """Length above which text goes to the blob store."""
        return 0 if self.vectors_only else self.blob_bytes


class SecretSettings(Value):
    on_secret: Literal["redact", "refuse"] = "redact"
    """Redact keeps the rest of the text; refuse raises `SecretRefused`."""


class KnowledgeSettings(Value):
    conflict_candidates: int = Field(default=20, ge=0, le=LABELS)
    """Records about the same thing that a new one is compared with, the newest; 0 compares none."""


class JobSettings(Value):
    lease_seconds: float = Field(default=180.0, gt=0)
    """How long a worker that died keeps others waiting; one that lives renews it five times in that time.

    What is left between two renewals is how far the clocks of two machines may be apart: more than two minutes.
    """
    stuck_seconds: float = Field(default=3600.0, gt=0)
    """How long a job may take that says nothing of itself: a slow model reads a long session in less."""
    inline_seconds: float = Field(default=0.3, ge=0)
    """How long a command does small jobs of its own before it ends; what is left waits for `treering settle`."""
    keep_done_days: float = Field(default=7.0, ge=0)
    """Finished jobs are kept as long as somebody may ask what happened last week; then they only take room."""
    keep_dead_days: float = Field(default=90.0, ge=0)
    """Dead letters are kept until a season has passed without anybody trying them again."""


class MaintenanceSettings(Value):
    """When maintenance runs: five fields of cron. An empty one leaves it to the user or the caller to start it."""

    timezone: str = ""
    """Whose nights are meant, such as Europe/Berlin; empty is the zone of the machine."""
    nightly: Cron = "0 3 * * *"
    """All stages, one after the other; few sessions are open at three."""
    weekly: Cron = "0 3 * * 0"
    """The stage that looks back on a week, in its place among the others of that night."""
    by_hand: tuple[str, ...] = ()
    """Stages that the schedule leaves out."""
    keep_runs: int = Field(default=60, ge=10)
    """Runs of each stage that are remembered: two months of nights."""
    close_seconds: float = Field(default=2.0, ge=0)
    """How long `close` waits for the background thread; a job that takes longer is taken over by the next worker."""
