"""mcp-memory-service: one sqlite-vec database a group, since its keyword half does not tell groups apart.

Texts that differ in nothing are refused, and the rest would be when merely similar: naming a conversation, as its
interface provides, turns the second off. A memory stands for every id whose text it holds, and ten ids are counted.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from mcp_memory_service.services.memory_service import MemoryService
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage

from bench.peers.trial import LIMIT, run


class McpMemoryService:
    def __init__(self, folder: Path, runner: asyncio.Runner) -> None:
        self.folder = folder
        self.runner = runner
        self.services: dict[str, Any] = {}
        self.ids: dict[tuple[str, str], list[str]] = defaultdict(list)

    @property
    def searches(self) -> Mapping[str, Callable[[str, str], list[str]]]:
        return {
            "mcp-memory-service": partial(self.search, mode="semantic"),
            "mcp-memory-service, hybrid": partial(self.search, mode="hybrid"),
        }

    def embed(self, text: str) -> object:
        return next(iter(self.services.values())).storage.embedding_model.encode([text])

    def add(self, group: str, identity: str, text: str) -> bool:
        if group not in self.services:
            storage = SqliteVecMemoryStorage(str(self.folder / f"{len(self.services)}.db"))
            self.runner.run(storage.initialize())
            self.services[group] = MemoryService(storage)
        storing = self.services[group].store_memory(text, metadata={"doc": identity}, conversation_id=group)
        stored = self.runner.run(storing)
        self.ids[group, text.strip().lower()].append(identity)
        if not stored["success"] and "uplicate" not in stored["error"]:
            raise RuntimeError(stored["error"])
        return bool(stored["success"])

    def search(self, group: str, query: str, mode: str) -> list[str]:
        searching = self.services[group].storage.search_memories(query=query, mode=mode, limit=LIMIT)
        found = self.runner.run(searching)
        if "error" in found or not found["memories"]:  # it logs what went wrong and returns nothing
            raise RuntimeError(found.get("error", "a search found nothing"))
        contents = [memory["content"] for memory in found["memories"]]
        ids = chain.from_iterable(self.ids[group, content.strip().lower()] for content in contents)
        return list(ids)[:LIMIT]

    def close(self) -> None:
        for service in self.services.values():
            self.runner.run(service.storage.close())


@contextmanager
def opened(folder: Path) -> Iterator[McpMemoryService]:
    with asyncio.Runner() as runner:
        peer = McpMemoryService(folder, runner)
        try:
            yield peer
        finally:
            peer.close()


if __name__ == "__main__":
    run("mcp-memory-service", opened)
