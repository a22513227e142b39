"""`memory.context.prefetch`: reads earlier sessions and companions of files, and ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from os.path import isabs
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput
from treering.core.queries import CoAccessFilter, Order, ShareRange

if TYPE_CHECKING:
    from treering.code.files.outer_ignore_rules import GitHome
    from treering.context.prefetch.checkout import Checkout
    from treering.context.prefetch.ranking import PrefetchedFile
    from treering.core.past_sessions import PastSession
    from treering.core.values import FilePaths
    from treering.ports.store import Transaction

MAX_LIMIT = 100
MAX_BUDGET = 200_000  # tokens
MAX_SESSIONS_READ = 400  # newest finished sessions
MAX_REFUSED = 50  # ranked files that may turn out to be deleted or ignored
MAX_ROOTS = 5  # folders of the newest sessions that are looked for, such as worktrees
MAX_NAMED = 20  # files at hand and in the prompt whose companions are read
MAX_LINKS = 150  # companions of each kind
MIN_WEIGHT = 0.1  # a weaker link is chance

_GIT_PREFIX = "git-"  # ids of co-access edges that come from commits


@dataclass(frozen=True, slots=True)
class Prefetch:
    """A request for files, and where they are on this machine."""

    prompt: str
    files: Sequence[str] = ()
    """Files already at hand, relative to the root; they are not part of the result."""
    limit: int = 12
    root: str | Path | None = None
    """The project's folder; None for the one in which the caller's newest sessions worked."""
    git: Callable[[], GitHome | None] = lambda: None
    """Where git keeps the user's global ignore rules."""

    def run(self, tx: Transaction) -> tuple[tuple[PrefetchedFile, ...], Checkout | None]:
        """The files that a session will probably touch, the likeliest first, and the folder that contains them."""
        if not 1 <= self.limit <= MAX_LIMIT:
            raise InvalidInput(f"limit must be from 1 to {MAX_LIMIT}, not {self.limit}")
        past = tx.observed_sessions.newest_finished(limit=MAX_SESSIONS_READ)
        ranked = _ranked(tx, self.prompt, self.files, past, self.limit + MAX_REFUSED)
        checkout = self._checkout(past, ranked)
        offered = (file for file in ranked if _is_offered(file.path, checkout))
        return tuple(islice(offered, self.limit)), checkout

    def _checkout(self, past: Sequence[PastSession], ranked: Sequence[PrefetchedFile]) -> Checkout | None:
        """The project's folder, if it is on this machine."""
        from treering.context.prefetch.checkout import Checkout

        if self.root is not None:
            return Checkout.at(self.root, self.git)
        roots = dict.fromkeys(session.root for session in reversed(past) if isabs(session.root))
        for root in islice(roots, MAX_ROOTS):
            checkout = Checkout.at(root, self.git)
            # A folder without any of the files is not the one that the sessions worked in, such as in a replay.
            if checkout is not None and any(checkout.holds(file.path) for file in ranked):
                return checkout
        return None


def _is_offered(path: str, checkout: Checkout | None) -> bool:
    from treering.context.prefetch.checkout import may_hold_credentials

    return not (may_hold_credentials(path) if checkout is None else checkout.refusal(path))


def _ranked(
    tx: Transaction, prompt: str, files: Sequence[str], past: Sequence[PastSession], limit: int
) -> tuple[PrefetchedFile, ...]:
    from treering.context.prefetch.ranking import rank_files
    from treering.context.prefetch.words import read_prompt

    given = _paths(files)
    seen = {file.path for session in past for file in session.files}
    named = [path for path in sorted(read_prompt(prompt).paths) if path in seen]
    near = tuple(dict.fromkeys([*given, *named]))[:MAX_NAMED]
    sessions, commits = _co_access(tx, near)
    return rank_files(prompt, given, past, limit=limit, co_access=sessions, co_change=commits, code=_code(tx, near))


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
