"""No library at all: exact cosine over the same vectors, to check the others against."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.peers.embeddings import Embedder, model_folder
from bench.peers.trial import LIMIT, run


class Exact:
    def __init__(self, embedder: Embedder) -> None:
        self.embed = embedder.embed
        self.ids: dict[str, list[str]] = defaultdict(list)
        self.vectors: dict[str, list[NDArray[np.float32]]] = defaultdict(list)
        self.stacked: dict[str, NDArray[np.float32]] = {}

    @property
    def searches(self) -> Mapping[str, Callable[[str, str], list[str]]]:
        return {"exact cosine": self.search}

    def add(self, group: str, identity: str, text: str) -> bool:
        self.ids[group].append(identity)
        self.vectors[group].append(self.embed(text))
        return True

    def search(self, group: str, query: str) -> list[str]:
        if group not in self.stacked:
            self.stacked[group] = np.stack(self.vectors[group])
        scores = self.stacked[group] @ self.embed(query)
        return [self.ids[group][place] for place in np.argsort(-scores, kind="stable")[:LIMIT]]


@contextmanager
def opened(folder: Path) -> Iterator[Exact]:
    yield Exact(Embedder(model_folder()))


if __name__ == "__main__":
    run("wordllama", opened)
