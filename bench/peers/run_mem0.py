"""mem0 with infer=False: its default local Qdrant, one collection a set, one user a group."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from mem0 import Memory

from bench.peers.trial import LIMIT, run

DIMENSIONS = 256


class Mem0:
    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @property
    def searches(self) -> Mapping[str, Callable[[str, str], list[str]]]:
        return {"mem0ai": self.search}

    def embed(self, text: str) -> object:
        return self.memory.embedding_model.embed(text, "search")

    def add(self, group: str, identity: str, text: str) -> bool:
        return bool(self.memory.add(text, user_id=group, metadata={"doc": identity}, infer=False)["results"])

    def search(self, group: str, query: str) -> list[str]:
        # threshold 0: ten results are asked for, none is to be held back as too distant
        found = self.memory.search(query, top_k=LIMIT, filters={"user_id": group}, threshold=0.0)
        return [memory["metadata"]["doc"] for memory in found["results"]]


@contextmanager
def opened(folder: Path) -> Iterator[Mem0]:
    local = {"api_key": "unused", "openai_base_url": os.environ["BENCH_EMBEDDINGS"]}
    memory = Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": DIMENSIONS},
            },
            "embedder": {"provider": "openai", "config": {"model": "bundled", **local}},
            "llm": {"provider": "openai", "config": {"model": "never-called", **local}},
            "history_db_path": str(folder / "history.db"),
        }
    )
    try:
        yield Mem0(memory)
    finally:
        memory.vector_store.client.close()
        memory.close()


if __name__ == "__main__":
    run("mem0ai", opened)
