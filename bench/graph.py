"""The code graph in memory, up to 50,000 nodes and 500,000 edges: loading, impact, changing a file, memory."""

import gc
import pickle
import random
import subprocess
import sys
import time
from bisect import bisect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.results import percentile, table, write_section
from treering.code.facts import CallFlow, Definition, DefinitionKind, Edge
from treering.code.graph import CodeGraph, EdgeColumns, GraphColumns
from treering.code.graph.kinds import KIND_CODE
from treering.core.graph import EdgeKind

NODES, EDGES, FOLDERS = 50_000, 500_000, 125
FILE_SIZE = 20
QUESTIONS = 400
CAP = 500
# Fewer than those after which the graph counts by itself.
BEFORE_COUNTING = 90
EDITS = 200
SIZES = (5_000, 15_000, 50_000)
# How far uses stay in the file, in the folder, and below: code leans on what is under it, and seldom the other way.
SAME_FILE, SAME_FOLDER = 0.25, 0.3
KINDS = ((EdgeKind.CALLS, 0.9), (EdgeKind.IMPORTS, 0.97), (EdgeKind.EXTENDS, 0.985), (EdgeKind.IMPLEMENTS, 1.0))

# Who is called by many is not therefore inherited from by many; interfaces stand near what implements them.
INHERITING = (EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS)


@dataclass(frozen=True, slots=True)
class Code:
    """Made-up code: definitions by file, and edges by the file that owns them."""

    files: dict[str, tuple[Definition, ...]]
    edges: dict[str, list[Edge]]

    @property
    def ids(self) -> list[str]:
        return [*self.files, *(f"{path}::{each.qualname}" for path, all in self.files.items() for each in all)]


def made_up(nodes: int, edges: int, *, tangled: bool, seed: int = 7) -> Code:
    """Layered code, or a tangle in which anybody uses anybody. A few are used by very many, most by few."""
    chance = random.Random(seed)
    count = nodes // FILE_SIZE
    paths = [f"src/part_{place * FOLDERS // count:03}/file_{place:05}.py" for place in range(count)]
    files = {path: tuple(_definitions(chance)) for path in paths}
    flat = [(place, f"{path}::{each.qualname}") for place, path in enumerate(paths) for each in files[path]]
    chance.shuffle(flat)
    flat.sort(key=lambda each: each[0])
    first = [0, *accumulate(len(files[path]) for path in paths)]
    fame = list(accumulate(chance.paretovariate(1.1) for _ in flat))
    owned: dict[str, list[Edge]] = {path: [] for path in paths}
    for number in range(edges):
        place, origin = flat[number % len(flat)] if number < len(flat) else chance.choice(flat)
        kind = _kind(chance)
        low, high = _where(chance, place, first, count, tangled=tangled, near=kind in INHERITING)
        floor = fame[low - 1] if low else 0.0
        aim = bisect(fame, floor + chance.random() * (fame[high - 1] - floor))
        target_place, target = flat[chance.randrange(low, high) if kind in INHERITING else min(aim, high - 1)]
        if kind is EdgeKind.IMPORTS:
            origin, target = paths[place], paths[target_place]
        elif kind is EdgeKind.EXTENDS:
            origin, target = origin.partition(".method")[0], target.partition(".method")[0]
        confidence = chance.choice((1.0, 1.0, 1.0, 0.9, 0.6))
        owned[paths[place]].append(Edge(origin, target, kind, confidence, chance.randrange(1, 400), CallFlow.RESULT))
    return Code(files, owned)


def _definitions(chance: random.Random) -> Iterable[Definition]:
    test = chance.random() < 0.2
    for number in range(FILE_SIZE - 1):
        inside = number % 6
        name = f"Class{number // 6}.method_{inside}" if inside else f"Class{number // 6}"
        kind = DefinitionKind.METHOD if inside else DefinitionKind.CLASS
        yield Definition(name, kind, 20 * number + 1, 20 * number + 19, test=test and kind is DefinitionKind.METHOD)


def _kind(chance: random.Random) -> EdgeKind:
    drawn = chance.random()
    return next(kind for kind, share in KINDS if drawn <= share)


def _where(
    chance: random.Random, place: int, first: list[int], count: int, *, tangled: bool, near: bool
) -> tuple[int, int]:
    """From which stretch of all definitions a use is chosen: lower files are the foundations."""
    if tangled:
        return 0, first[-1]
    drawn, size = chance.random(), count // FOLDERS
    if near:
        start = place // size * size
        return first[start], first[start + 1]
    if drawn < SAME_FILE:
        return first[place], first[place + 1]
    if drawn < SAME_FILE + SAME_FOLDER:
        start = place // size * size
        return first[start], first[max(start + 1, place)]
    return 0, first[max(1, place)]


def columns(code: Code) -> GraphColumns:
    """As a store would hold it."""
    ids = code.ids
    place = {id: number for number, id in enumerate(ids)}
    edges = [(edge, path) for path, owned in code.edges.items() for edge in owned]
    number, byte = np.int32, np.uint8
    return GraphColumns(
        code.files,
        ids,
        EdgeColumns(
            np.array([place[edge.origin] for edge, _ in edges], number),
            np.array([place[edge.target] for edge, _ in edges], number),
            np.array([place[path] for _, path in edges], number),
            np.array([KIND_CODE[edge.kind] for edge, _ in edges], byte),
            np.zeros(len(edges), byte),
            np.array([edge.flow for edge, _ in edges], byte),
            np.array([edge.line for edge, _ in edges], number),
            np.array([edge.confidence for edge, _ in edges], np.float32),
        ),
    )


class Spent(NamedTuple):
    """Seconds on the clock, and of the processor: others work on this machine too."""

    clock: float
    processor: float


def timed(action: Callable[[], object]) -> Spent:
    start, start_processor = time.perf_counter(), time.thread_time()
    action()
    return Spent(time.perf_counter() - start, time.thread_time() - start_processor)


def questions(graph: CodeGraph, ids: list[str], cap: int | None) -> list[Spent]:
    return [timed(partial(graph.impact, id, cap=cap)) for id in ids]


def edited(graph: CodeGraph, code: Code, chance: random.Random) -> tuple[list[Spent], list[Spent]]:
    """Files replaced one after the other, and a question after each."""
    edits, after = [], []
    for path, id in zip(chance.choices(list(code.files), k=EDITS), chance.choices(code.ids, k=EDITS), strict=True):
        edits.append(timed(partial(graph.replace_file, path, code.files[path], code.edges[path])))
        after.append(timed(partial(graph.impact, id)))
    return edits, after


def _many(spent: list[Spent]) -> tuple[str, ...]:
    clock, processor = [each.clock for each in spent], [each.processor for each in spent]
    shares = ((clock, 0.5), (clock, 0.95), (processor, 0.5), (processor, 0.95))
    return tuple(f"{percentile(seconds, share):.2f} ms" for seconds, share in shares)


def _once(spent: Spent) -> tuple[str, ...]:
    return f"{spent.clock * 1000:,.1f} ms", "", f"{spent.processor * 1000:,.1f} ms", ""


def rows(nodes: int, edges: int, *, tangled: bool) -> list[tuple[object, ...]]:
    name = f"{nodes:,} / {edges:,} {'tangled' if tangled else 'layered'}"
    code = made_up(nodes, edges, tangled=tangled)
    chance = random.Random(1)
    ids = chance.choices(code.ids, k=QUESTIONS)
    stored = columns(code)
    load = min(timed(partial(CodeGraph.load, [stored])) for _ in range(3))
    graph = CodeGraph.load([stored])
    first = timed(partial(graph.impact, ids[0]))
    searched = questions(graph, ids[:BEFORE_COUNTING], CAP)
    counting = timed(graph.prepare)
    capped, uncapped = questions(graph, ids, CAP), questions(graph, ids, None)
    sizes = sorted(graph.impact(id).total for id in ids)
    edits, after = edited(graph, code, chance)
    whole = (
        ("graph of files with closure", lambda: graph.file_graph().dependents(next(iter(code.files)))),
        ("module map", graph.module_map),
        ("cycles of symbols", partial(graph.cycles, "symbol")),
        ("first search for a name", partial(graph.find, "Class1.method_3")),
        ("search for a name with a typo", partial(graph.find, "file_00100.Class1.metod_3")),
    )
    return [
        (name, "load from columns", *_once(load)),
        (name, "first query (names are sorted)", *_once(first)),
        (name, f"impact, {CAP} listed, exact total", *_many(capped)),
        (name, "the same, before totals are counted", *_many(searched)),
        (name, "counting the totals of all nodes", *_once(counting)),
        (name, "impact, all listed", *_many(uncapped)),
        (name, "replace a file", *_many(edits)),
        (name, "impact right after that", *_many(after)),
        *((name, what, *_once(timed(action))) for what, action in whole),
        (
            name,
            "dependents of a node",
            f"{sizes[len(sizes) // 2]:,}",
            f"{sizes[round(0.95 * (len(sizes) - 1))]:,}",
            "",
            "",
        ),
    ]


def figures() -> dict[str, float]:
    """Processor time of impact, and of replacing a file, in the smallest graph."""
    code = made_up(SIZES[0], 10 * SIZES[0], tangled=False)
    graph, chance = CodeGraph.load([columns(code)]), random.Random(1)
    graph.prepare()
    asked = questions(graph, chance.choices(code.ids, k=QUESTIONS), CAP)
    edits, _ = edited(graph, code, chance)
    return {
        "graph.impact": percentile([each.processor for each in asked], 0.5),
        "graph.replace": percentile([each.processor for each in edits], 0.5),
    }


def memory() -> str:
    """What a graph adds to a process that does nothing else, in megabytes: loaded, and at its peak while counting."""
    told = subprocess.run([sys.executable, "-m", "bench.graph", "memory"], capture_output=True, text=True, check=True)
    return told.stdout.strip()


def measure_memory() -> None:
    made = subprocess.run([sys.executable, "-m", "bench.graph", "made"], capture_output=True, check=True).stdout
    stored: GraphColumns = pickle.loads(made)
    del made
    gc.collect()
    # Forget the peak of making the columns (Linux).
    Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmRSS")
    graph = CodeGraph.load([stored])
    graph.impact(stored.names[0])
    loaded = _resident("VmRSS")
    graph.prepare()
    peak = _resident("VmHWM")
    print(f"{loaded - before:,.0f} MB loaded, at most {peak - before:,.0f} MB while totals are counted")


def _resident(what: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024


def main() -> None:
    lines = [row for nodes in SIZES for row in rows(nodes, 10 * nodes, tangled=False)]
    lines += rows(NODES, EDGES, tangled=True)
    note = (
        f"Synthetic code with {FILE_SIZE - 1} definitions per file: nine edges of ten are calls, a few definitions are "
        "used by very many others. *Layered* code uses lower layers, with cycles inside files; in *tangled* code any "
        f"definition may use any other, so nearly everything reaches everything. Queries are about {QUESTIONS} random "
        "nodes: files, classes with their methods, and methods. Goals at 50,000 nodes and 500,000 "
        f"edges: load < 400 ms, impact with {CAP} listed and the exact total p95 < 1 ms, with all listed p95 < 10 ms, "
        "memory < 200 MB. After an edit, totals are computed one by one until counting them all is cheaper.\n\n"
        f"Memory of the layered graph of {NODES:,} nodes: {memory()}."
    )
    headers = ("nodes / edges", "what", "p50, or once", "p95", "of processor time", "p95 of it")
    write_section("graph", "Code graph in memory", f"{note}\n\n{table(headers, lines)}")


if __name__ == "__main__":
    if sys.argv[1:] == ["memory"]:
        measure_memory()
    elif sys.argv[1:] == ["made"]:
        sys.stdout.buffer.write(pickle.dumps(columns(made_up(NODES, EDGES, tangled=False))))
    else:
        main()
