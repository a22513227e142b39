"""Communities of files that use each other more than others, by modularity (Louvain with Leiden's refinement).

Nodes move one by one to the neighbouring group with the largest gain in modularity until none gains; then each group is
split into connected parts, and the parts move as one, until nothing changes. Nodes are visited in the given order and
ties are broken by number, so that the same graph always gives the same groups.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence

Neighbours = Sequence[Mapping[int, float]]

_MIN_GAIN = 1e-9
_ROUNDS = 20


def communities(neighbours: Neighbours, *, resolution: float = 1.0) -> list[int]:
    """The group of each node, numbered by first appearance; `neighbours` are undirected weights."""
    parts = [[node] for node in range(len(neighbours))]
    graph: list[dict[int, float]] = [dict(each) for each in neighbours]
    group = list(range(len(neighbours)))
    for _ in range(_ROUNDS):
        moved = _settle(graph, group, resolution)
        split = _connected_parts(graph, group)
        count = max(split, default=-1) + 1
        if not moved and count == len(graph):
            break
        group_of_part = {split[node]: group[node] for node in range(len(graph))}
        graph = _joined(graph, split, count)
        parts = _merged(parts, split, count)
        group = [group_of_part[part] for part in range(count)]
    labels = [0] * len(neighbours)
    for part, members in enumerate(parts):
        for node in members:
            labels[node] = group[part]
    return _renumbered(labels)


def _settle(graph: Neighbours, group: list[int], resolution: float) -> bool:
    """Move nodes while modularity rises; returns whether any moved."""
    degree = [sum(each.values()) + each.get(node, 0.0) for node, each in enumerate(graph)]
    total = sum(degree)
    if not total:
        return False
    load: defaultdict[int, float] = defaultdict(float)
    for node, each in enumerate(group):
        load[each] += degree[node]
    waiting, queued = deque(range(len(graph))), set(range(len(graph)))
    moved = False
    while waiting:
        node = waiting.popleft()
        queued.discard(node)
        here = group[node]
        links: defaultdict[int, float] = defaultdict(float)
        for neighbour, weight in graph[node].items():
            if neighbour != node:
                links[group[neighbour]] += weight
        load[here] -= degree[node]
        pull = resolution * degree[node] / total
        best, gain = here, links.get(here, 0.0) - pull * load[here]
        for other in sorted(links):
            offered = links[other] - pull * load[other]
            if offered > gain + _MIN_GAIN:
                best, gain = other, offered
        load[best] += degree[node]
        if best != here:
            group[node], moved = best, True
            for neighbour in graph[node]:
                if neighbour not in queued and group[neighbour] != best:
                    queued.add(neighbour)
                    waiting.append(neighbour)
    return moved


def _connected_parts(graph: Neighbours, group: Sequence[int]) -> list[int]:
    """Groups, split into their connected parts."""
    part = [-1] * len(graph)
    count = 0
    for start in range(len(graph)):
        if part[start] >= 0:
            continue
        part[start] = count
        waiting = [start]
        while waiting:
            node = waiting.pop()
            for neighbour in graph[node]:
                if part[neighbour] < 0 and group[neighbour] == group[node]:
                    part[neighbour] = count
                    waiting.append(neighbour)
        count += 1
    return part


def _joined(graph: Neighbours, part: Sequence[int], count: int) -> list[dict[int, float]]:
    """The graph whose nodes are the parts; edges inside a part become a loop."""
    joined: list[dict[int, float]] = [{} for _ in range(count)]
    for node, each in enumerate(graph):
        own = joined[part[node]]
        for neighbour, weight in each.items():
            inside = part[neighbour] == part[node]
            # An edge inside a part is seen from both of its ends, a loop from one.
            share = weight / 2 if inside and neighbour != node else weight
            own[part[neighbour]] = own.get(part[neighbour], 0.0) + share
    return joined


def _merged(parts: Sequence[Sequence[int]], into: Sequence[int], count: int) -> list[list[int]]:
    merged: list[list[int]] = [[] for _ in range(count)]
    for part, members in enumerate(parts):
        merged[into[part]].extend(members)
    return merged


def _renumbered(labels: Iterable[int]) -> list[int]:
    numbers: dict[int, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def modularity(neighbours: Neighbours, group: Sequence[int], *, resolution: float = 1.0) -> float:
    """Share of weight inside groups, minus the share expected by chance."""
    total = sum(sum(each.values()) + each.get(node, 0.0) for node, each in enumerate(neighbours))
    if not total:
        return 0.0
    inside: defaultdict[int, float] = defaultdict(float)
    load: defaultdict[int, float] = defaultdict(float)
    for node, each in enumerate(neighbours):
        load[group[node]] += sum(each.values()) + each.get(node, 0.0)
        inside[group[node]] += sum(weight for other, weight in each.items() if group[other] == group[node])
        inside[group[node]] += each.get(node, 0.0)
    return sum(inside[each] / total - resolution * (load[each] / total) ** 2 for each in load)
