"""Purges episodes that were forgotten long ago, on request and with the same checks as the forget stage."""

from datetime import datetime, timedelta

from treering.core.episodes import Episode
from treering.core.errors import NotFound
from treering.core.queries import EpisodeFilter
from treering.episodes.consolidation.dissolution import purge_representatives
from treering.jobs.record_pages import record_pages
from treering.jobs.stage import StageRun
from treering.knowledge.reflection.withdrawal import withdraw_source
from treering.knowledge.removal.stage import GRACE
from treering.knowledge.removal.traces import erase_traces


def purge_deleted(run: StageRun, kept_days: float) -> tuple[str, ...]:
    """Purge episodes that were forgotten at least `kept_days` ago, with their traces, and return their ids.

    Reflections no longer cite them, consolidated episodes that represent them are purged too, and the audit log gives
    the reason.
    """
    until = run.now - timedelta(days=kept_days)
    pages = record_pages(run, "episode", EpisodeFilter(deleted=True))
    due = [each.id for page in pages for each in page.records if _is_due(each, until)]
    purged = tuple(id for id in due if _purge(run, id, until))
    if purged:
        # Once for all of them, because it may rewrite the whole database file.
        erase_traces(run)
    return purged


def _purge(run: StageRun, id: str, until: datetime) -> bool:
    """Purge one episode in its own transaction; return False if it was restored or removed meanwhile."""
    with run.store.transaction(run.scope, run.now) as tx:
        tx.claim(f"record {id}")
        if not _is_due(tx.episodes.get(id), until):
            return False
        try:
            withdraw_source(tx, id, run.new_id)
            purge_representatives(tx, id, run.settings.episodes, lambda each: withdraw_source(tx, each, run.new_id))
            tx.episodes.purge(id, {"reason": GRACE})
        except NotFound:
            return False
    return True


def _is_due(episode: Episode | None, until: datetime) -> bool:
    return episode is not None and episode.deleted_at is not None and episode.deleted_at <= until
