"""Co-access edges of files, updated after every session. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import sqrt
from typing import TYPE_CHECKING

from treering.core.co_access import CoAccessEdge
from treering.core.errors import InvalidInput
from treering.core.values import FrozenDict

if TYPE_CHECKING:
    from datetime import datetime

FilePairKey = tuple[str, str]
"""Two paths in alphabetical order."""

ID_PREFIX = "session-"  # edges from commits begin with "git-"
MIN_DIRECTED = 0.8  # share of accesses in one order that makes a session's pair directional
_MAX_TASK_TYPES = 20


@dataclass(frozen=True, slots=True)
class SessionPair:
    """Accesses of two files shortly after one another in one session; the files are in alphabetical order."""

    count: int
    forward: int = 0
    """Times that the first one came first."""
    delay_ms: float = 0.0
    """Sum of the times between the accesses."""

    @property
    def direction(self) -> int:
        """1 if the first file comes first, -1 if the second does, 0 if neither prevails or there was one access."""
        share = self.forward / self.count if self.count > 0 else 0.5
        if self.count < 2 or 1 - MIN_DIRECTED < share < MIN_DIRECTED:
            return 0
        return 1 if share >= MIN_DIRECTED else -1


def edge_id(first: str, second: str) -> str:
    """The same id for both orders, different from the id of the edge that commits give."""
    together = "\0".join(sorted((first, second)))
    return ID_PREFIX + sha256(together.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def updated_edges(
    existing: Mapping[FilePairKey, CoAccessEdge],
    pairs_of_session: Mapping[FilePairKey, SessionPair],
    session_count_by_file: Mapping[str, int],
    now: datetime,
    *,
    task_type: str = "",
) -> list[CoAccessEdge]:
    """The edges that a session adds or changes, by pair.

    `existing` holds the edges of earlier sessions for the files of this one; `session_count_by_file` the number of
    sessions that touched each file of an existing or new edge, this one included. The weight of an edge falls if one of
    its files was touched without the other. Pairs that a record cannot hold (paths outside the project) are left out.
    """
    changed = [*_seen(existing, pairs_of_session, session_count_by_file, now, task_type)]
    for key in sorted(existing.keys() - pairs_of_session.keys()):
        edge = existing[key]
        weight = weight_of(edge.sessions, *(session_count_by_file.get(path, edge.sessions) for path in key))
        if weight != edge.weight:
            changed.append(edge.model_copy(update={"weight": weight}))
    return changed


def pair_of(edge: CoAccessEdge) -> FilePairKey:
    return (edge.first, edge.second) if edge.first <= edge.second else (edge.second, edge.first)


def renamed_edges(
    edges: Iterable[CoAccessEdge], renamed: Mapping[str, str], session_count_by_file: Mapping[str, int]
) -> list[CoAccessEdge]:
    """The edges with the new paths. Edges that then have the same files are added; a file has no edge to itself.

    A session that used a file under both names may be counted twice, but never more sessions than a file has.
    """
    by_pair: dict[FilePairKey, list[CoAccessEdge]] = defaultdict(list)
    for edge in edges:
        first, second = (renamed.get(path, path) for path in (edge.first, edge.second))
        if first != second:
            moved = edge.model_copy(update={"first": first, "second": second})
            by_pair[pair_of(moved)].append(moved)
    return [_sum(key, each, session_count_by_file) for key, each in by_pair.items()]


def _sum(key: FilePairKey, edges: Sequence[CoAccessEdge], session_count_by_file: Mapping[str, int]) -> CoAccessEdge:
    total = sum(each.sessions for each in edges)
    files = [session_count_by_file.get(path, total) for path in key]
    sessions = max(min(total, *files), *(each.sessions for each in edges))
    orders = {(each.first, each.second) if each.directional else None for each in edges}
    order = orders.pop() if len(orders) == 1 else None
    first, second = order or key
    timed = [each for each in edges if each.mean_delta_ms is not None]
    delay = sum((each.mean_delta_ms or 0.0) * each.count for each in timed)
    task_types = sum((Counter(dict(each.by_task_type)) for each in edges), Counter[str]())
    return edges[0].model_copy(
        update={
            "id": edge_id(*key),
            "first": first,
            "second": second,
            "directional": order is not None,
            "weight": weight_of(sessions, *files),
            "count": sum(each.count for each in edges),
            "sessions": sessions,
            "tainted_sessions": min(sessions, sum(each.tainted_sessions for each in edges)),
            "mean_delta_ms": round(delay / max(1, sum(each.count for each in timed)), 1) if timed else None,
            "by_task_type": FrozenDict(dict(task_types.most_common(_MAX_TASK_TYPES))),
            "last_seen_at": max(each.last_seen_at for each in edges),
            "promoted_at": min((each.promoted_at for each in edges if each.promoted_at), default=None),
        }
    )


def weight_of(sessions: int, first: int, second: int) -> float:
    """Geometric mean of the two conditional frequencies, reduced if sessions are few; as for commits, from 0 to 1."""
    most = max(first, sessions, 1) * max(second, sessions, 1)
    return round(sessions / sqrt(most) * sessions / (sessions + 1), 6)


def _seen(
    existing: Mapping[FilePairKey, CoAccessEdge],
    pairs: Mapping[FilePairKey, SessionPair],
    session_count_by_file: Mapping[str, int],
    now: datetime,
    task_type: str,
) -> Iterator[CoAccessEdge]:
    for key in sorted(pairs):
        pair, before = pairs[key], existing.get(key)
        if pair.count <= 0 or key[0] == key[1]:
            continue
        sessions = (before.sessions if before else 0) + 1
        first, second, directional = _order(key, pair, before)
        try:
            yield CoAccessEdge.make(
                id=before.id if before else edge_id(*key),
                first=first,
                second=second,
                weight=weight_of(sessions, *(session_count_by_file.get(path, sessions) for path in key)),
                count=(before.count if before else 0) + pair.count,
                sessions=sessions,
                mean_delta_ms=_mean_delay(pair, before),
                directional=directional,
                by_task_type=_task_types(before, task_type),
                last_seen_at=max(now, before.last_seen_at) if before else now,
                promoted_at=before.promoted_at if before else None,
            )
        except InvalidInput:
            continue


def _order(key: FilePairKey, pair: SessionPair, before: CoAccessEdge | None) -> tuple[str, str, bool]:
    """The files in their usual order, and whether there is one: a session with another order ends it for good."""
    direction = pair.direction
    ordered = key if direction >= 0 else (key[1], key[0])
    if before is None:
        return (*ordered, direction != 0)
    agrees = before.directional and (direction == 0 or (before.first, before.second) == ordered)
    return (before.first, before.second, True) if agrees else (*key, False)


def _mean_delay(pair: SessionPair, before: CoAccessEdge | None) -> float:
    known = before.count if before and before.mean_delta_ms is not None else 0
    total = known * (before.mean_delta_ms or 0.0 if before else 0.0) + max(0.0, pair.delay_ms)
    return round(total / (known + pair.count), 1)


def _task_types(before: CoAccessEdge | None, task_type: str) -> FrozenDict:
    """Number of sessions by task type."""
    counts = dict(before.by_task_type) if before else {}
    if task_type and (task_type in counts or len(counts) < _MAX_TASK_TYPES):
        counts[task_type] = int(counts.get(task_type, 0)) + 1
    return FrozenDict(counts)
