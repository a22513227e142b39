"""What a process needs that asks a stored code graph, or watches a repository; `bench.code_index` starts it."""

import argparse
import json
import random
from pathlib import Path
from typing import NamedTuple

import treering
from bench.code_index import edit
from bench.process_memory import peak, resident
from treering.memory import Memory

QUESTIONS = 150
"""More than those after which the graph counts the totals of all nodes, which takes the most memory."""


class Held(NamedTuple):
    """Megabytes: of a process that has opened the memory, later on, and the most there ever were."""

    opened: float
    later: float
    peak: float


def asking(memory: Memory) -> None:
    """Load the graph, and ask about many nodes."""
    paths = memory.code._current.graph().paths
    for path in random.Random(7).choices(paths, k=QUESTIONS):
        memory.code.impact(path)


def watching(memory: Memory, root: Path) -> None:
    """Look at all files, load the graph, and read one edited file after the other, with a question between."""
    current = memory.code._current
    current.catch_up(root, None)
    asking(memory)
    edit(root, memory, random.Random(8), told=True, after_each=memory.code.impact)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("what", choices=("asking", "watching"))
    options.add_argument("root", type=Path)
    options.add_argument("database", type=Path)
    chosen = options.parse_args()
    with treering.open(chosen.database, project="bench", background=False) as memory:
        opened = resident()
        if chosen.what == "asking":
            asking(memory)
        else:
            watching(memory, chosen.root)
        print(json.dumps(Held(opened, resident(), peak())))


if __name__ == "__main__":
    main()
