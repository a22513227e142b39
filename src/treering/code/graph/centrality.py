"""Centrality of files: PageRank along uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from treering.code.graph.file_graph import FileGraph, Weights

_DAMPING = 0.85
_ROUNDS = 100
_TOLERANCE = 1e-10


def centrality(graph: FileGraph) -> Weights:
    """PageRank of each file; the values sum to one."""
    size = len(graph.paths)
    if not size:
        return np.zeros(0)
    out = np.bincount(graph.tails, graph.weights, minlength=size)
    share = graph.weights / out[graph.tails] if len(graph.tails) else graph.weights
    rank = np.full(size, 1.0 / size)
    for _ in range(_ROUNDS):
        given = np.bincount(graph.heads, share * rank[graph.tails], minlength=size).astype(np.float64)
        given += rank[out == 0].sum() / size
        new = (1 - _DAMPING) / size + _DAMPING * given
        moved = float(np.abs(new - rank).sum())
        rank = new
        if moved < _TOLERANCE:
            break
    return np.round(rank, 9)
