"""Learning from a finished task right away; mining reads its episode later, together with all others."""

from datetime import datetime

from treering.core.episodes import Episode
from treering.core.jobs import learning_job
from treering.core.scope import Scope
from treering.core.settings import Settings
from treering.patterns.episode_learning import learn_from_episode
from treering.ports.clock import NewId
from treering.ports.store import Store, Transaction


def learn_from_task(
    scope: Scope, store: Store, now: datetime, new_id: NewId, episode: Episode, *, settings: Settings
) -> None:
    """Count the patterns that the task followed or names, end its session, and queue learning from the session."""
    learn_from_episode(scope, store, now, episode.id, settings)

    def end_session(tx: Transaction) -> None:
        session = tx.sessions.get(episode.session) if episode.session else None
        if session is not None and tx.sessions.end(session.id) and session.turns > session.learned:
            tx.jobs.enqueue(learning_job(session, tx.now, new_id()))

    store.write(scope, now, end_session)
