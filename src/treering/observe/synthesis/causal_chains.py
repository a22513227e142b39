"""Chains of files in different modules that sessions go through in the same order. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from treering.observe.scratchpad.path_kinds import module_of

if TYPE_CHECKING:
    from treering.core.co_access import CoAccessEdge

MIN_WEIGHT = 0.7  # of every link, exclusively
MAX_FILES = 5  # of one chain
_MAX_LINKS = 2_000
_MAX_CHAINS = 10_000  # considered; more would be a graph in which everything follows everything


@dataclass(frozen=True, slots=True)
class CausalChain:
    """Files in their order, with the edges between them."""

    files: tuple[str, ...]
    links: tuple[CoAccessEdge, ...]

    @property
    def weight(self) -> float:
        """Of the weakest link."""
        return min(each.weight for each in self.links)

    @property
    def sessions(self) -> int:
        """Of the weakest link."""
        return min(each.sessions for each in self.links)


def causal_chains(edges: Sequence[CoAccessEdge]) -> list[CausalChain]:
    """Longest chains of directional edges whose ends lie in different modules, the strongest first.

    A chain that is part of a longer one is left out.
    """
    strong = sorted(
        (each for each in edges if each.directional and each.weight > MIN_WEIGHT),
        key=lambda each: (-each.weight, each.first, each.second),
    )[:_MAX_LINKS]
    following: dict[str, list[CoAccessEdge]] = {}
    for each in strong:
        following.setdefault(each.first, []).append(each)
    followers = {each.second for each in strong}
    # A cycle has no file that follows none; each of its files begins a chain.
    starts = [path for path in following if path not in followers] or [*following]
    found = _all_from(starts, following)
    reached = {path for chain in found for path in chain.files}
    found += _all_from([path for path in following if path not in reached], following)
    crossing = [each for each in found if module_of(each.files[0]) != module_of(each.files[-1])]
    return sorted(crossing, key=lambda each: (-each.weight, -each.sessions, each.files))


def _all_from(starts: Sequence[str], following: Mapping[str, Sequence[CoAccessEdge]]) -> list[CausalChain]:
    return list(islice((chain for path in starts for chain in _from(path, following)), _MAX_CHAINS))


def _from(start: str, following: Mapping[str, Sequence[CoAccessEdge]]) -> Iterator[CausalChain]:
    """Chains that begin with this file and cannot be continued."""
    open_ = [CausalChain((start,), ())]
    while open_:
        chain = open_.pop()
        next_ = [each for each in following.get(chain.files[-1], ()) if each.second not in chain.files]
        if (not next_ or len(chain.files) >= MAX_FILES) and chain.links:
            yield chain
        elif len(chain.files) < MAX_FILES:
            open_ += [CausalChain((*chain.files, each.second), (*chain.links, each)) for each in reversed(next_)]
