"""`memory.context.prefetch`: reads earlier sessions and companions of files, and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput
from treering.core.past_sessions import PastFile, PastSession
from treering.core.queries import CoAccessFilter, ObservedSessionFilter, Order, ShareRange

if TYPE_CHECKING:
    from treering.context.prefetch.ranking import PrefetchedFile
    from treering.core.observations import ObservedSession
    from treering.core.values import FilePaths
    from treering.ports.store import Transaction

MAX_LIMIT = 100
MAX_SESSIONS_READ = 400  # newest finished sessions; a new process takes 0.5 s to compute their words
MAX_NAMED = 20  # files at hand and in the prompt whose companions are read
MAX_LINKS = 150  # companions of each kind
MIN_WEIGHT = 0.1  # a weaker link is chance

_GIT_PREFIX = "git-"  # ids of co-access edges that come from commits


def prefetch(tx: Transaction, prompt: str, files: Sequence[str] = (), limit: int = 12) -> tuple[PrefetchedFile, ...]:
    """The files that a session with this prompt will probably touch, the likeliest first, at most `limit`.

    `files` are those already at hand, relative to the root; they are not part of the result. Raises `InvalidInput` if
    the limit is not from 1 to 100 or a file is outside the project.
    """
    from treering.context.prefetch.ranking import rank_files
    from treering.context.prefetch.words import read_prompt

    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(f"limit must be from 1 to {MAX_LIMIT}, not {limit}")
    given = _paths(files)
    past = past_sessions(tx)
    seen = {file.path for session in past for file in session.files}
    named = [path for path in sorted(read_prompt(prompt).paths) if path in seen]
    near = tuple(dict.fromkeys([*given, *named]))[:MAX_NAMED]
    sessions, commits = _co_access(tx, near)
    return rank_files(prompt, given, past, limit=limit, co_access=sessions, co_change=commits, code=_code(tx, near))


def past_sessions(tx: Transaction) -> tuple[PastSession, ...]:
    """The newest finished sessions, the newest last."""
    where = ObservedSessionFilter(finished=True)
    newest = tx.observed_sessions.find(where, order=Order(by="started_at"), limit=MAX_SESSIONS_READ).items
    return tuple(_past_session(session) for session in reversed(newest))


def _past_session(session: ObservedSession) -> PastSession:
    files = tuple(PastFile(file.path, file.reads, file.edits, file.first_step) for file in session.files)
    return PastSession(session.id, session.started_at, session.type, session.prompts, files)


def _paths(files: Sequence[str]) -> FilePaths:
    return CoAccessFilter.make(files=tuple(files)[:MAX_NAMED]).files if files else ()


def _co_access(tx: Transaction, files: FilePaths) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Companions by sessions, and by commits."""
    sessions: dict[str, dict[str, float]] = {}
    commits: dict[str, dict[str, float]] = {}
    if files:
        where = CoAccessFilter(files=files, weight=ShareRange(at_least=MIN_WEIGHT))
        for edge in tx.co_access.find(where, order=Order(by="weight"), limit=MAX_LINKS).items:
            found = commits if edge.id.startswith(_GIT_PREFIX) else sessions
            found.setdefault(edge.first, {})[edge.second] = edge.weight
            found.setdefault(edge.second, {})[edge.first] = edge.weight
    return sessions, commits


def _code(tx: Transaction, files: FilePaths) -> Mapping[str, Mapping[str, float]]:
    """Files whose code is used by these files, or uses them."""
    found: dict[str, dict[str, float]] = {}
    for tie in tx.code.ties(files, limit=MAX_LINKS) if files else ():
        found.setdefault(tie.origin, {})[tie.target] = tie.weight
        found.setdefault(tie.target, {})[tie.origin] = tie.weight
    return found
