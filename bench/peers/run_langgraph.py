"""LangGraph's SqliteStore: one file a set, one namespace a group, our embedder as its `embed` function."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from langgraph.store.sqlite import SqliteStore

from bench.peers.embeddings import DIMENSIONS, Embedder
from bench.peers.trial import LIMIT, run


class LangGraph:
    def __init__(self, store: SqliteStore, embedder: Embedder) -> None:
        self.store = store
        self.embedder = embedder

    @property
    def searches(self) -> Mapping[str, Callable[[str, str], list[str]]]:
        return {"LangGraph SqliteStore": self.search}

    def embed(self, text: str) -> object:
        return self.embedder([text])

    def add(self, group: str, identity: str, text: str) -> bool:
        # the `fields` of the index are ignored by 3.1.2, which would embed the whole value as JSON
        self.store.put(("bench", group), identity, {"text": text, "id": identity}, index=["text"])
        return True

    def search(self, group: str, query: str) -> list[str]:
        return [item.value["id"] for item in self.store.search(("bench", group), query=query, limit=LIMIT)]


@contextmanager
def opened(folder: Path) -> Iterator[LangGraph]:
    embedder = Embedder(Path(os.environ["BENCH_MODEL"]))
    index = {"dims": DIMENSIONS, "embed": embedder}
    with SqliteStore.from_conn_string(str(folder / "store.db"), index=index) as store:
        store.setup()
        yield LangGraph(store, embedder)


if __name__ == "__main__":
    run("langgraph-checkpoint-sqlite", opened)
