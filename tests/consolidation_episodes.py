"""Episodes whose likeness a test decides, and one run of the stage that merges them."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.samples import NOW, sample
from treering.core.episodes import Episode
from treering.core.errors import ModelUnavailable
from treering.core.privacy import ModelLocation
from treering.core.queries import EpisodeFilter
from treering.core.settings import EpisodeConsolidationSettings, Settings
from treering.episodes.consolidation.stage import consolidate_episodes
from treering.jobs.stage import StageRun
from treering.memory import Memory

DIMENSION = 16
MATURE = {"status": "mature"}


@dataclass
class Compass:
    """An embedder for texts such as `task 3 at 10`: a direction of their own for each task, turned by some degrees."""

    local: bool = True
    model: str = "compass"
    dimension: int = DIMENSION
    contextual: bool = False
    location: ModelLocation = ModelLocation.HERE

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self._direction(text) for text in texts], np.float32).reshape(len(texts), DIMENSION)

    def query(self, text: str) -> NDArray[np.float32]:
        return self.documents([text])

    def reliability(self, text: str) -> float:
        return 1.0

    def forget_queries(self) -> None: ...

    def close(self) -> None: ...

    def _direction(self, text: str) -> NDArray[np.float64]:
        found = np.zeros(DIMENSION)
        words = text.split()
        if words[:1] == ["exactly"]:
            given = [float(word) for word in words[1].split(",")]
            found[: len(given)] = given
        elif words[:1] == ["task"]:
            turned = math.radians(float(words[3]))
            found[2 * int(words[1])], found[2 * int(words[1]) + 1] = math.cos(turned), math.sin(turned)
        return found


@dataclass
class OneModel:
    """Has an embedder, or does not."""

    found: Compass | None = field(default_factory=Compass)

    def embedder(self, known: Sequence[str], *, hurried: bool) -> Compass:
        if self.found is None:
            raise ModelUnavailable("no embedder")
        return self.found

    def failed(self, part: str, error: ModelUnavailable) -> None: ...


@dataclass
class Counted:
    """Progress that remembers."""

    counts: Counter[str] = field(default_factory=Counter)
    cursors: list[str | None] = field(default_factory=list)
    expected: int = 0
    steps: int = 0

    def expect(self, total: int) -> None:
        self.expected = total

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        self.cursors.append(cursor)
        self.steps += steps
        self.counts.update(counts)


def consolidate(
    memory: Memory, models: OneModel | None = None, *, now: datetime = NOW, cursor: str | None = None, **options: Any
) -> Counted:
    progress, dry_run = Counted(), options.pop("dry_run", False)
    settings = Settings(consolidation=EpisodeConsolidationSettings(**options))
    run = StageRun(
        scope=memory.scope,
        store=memory.store,
        now=now,
        settings=settings,
        models=models or OneModel(),  # type: ignore[arg-type]
        new_id=lambda: "unused",
        progress=progress,
        cursor=cursor,
        dry_run=dry_run,
    )
    consolidate_episodes(run)
    return progress


def episode(id: str, input: str = "task 0 at 0", *, days: float = 60, **fields: Any) -> Episode:
    made: Episode = sample(
        Episode,
        id,
        at=NOW - timedelta(days=days),
        task={"input": input},
        **{"metadata": {"domain": "web", "task_type": "fix"}, "lifecycle": MATURE} | fields,
    )
    return made


def keep(memory: Memory, *episodes: Episode) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.episodes.create_many(episodes)


def all_of(memory: Memory, **where: Any) -> dict[str, Episode]:
    with memory.store.reading(memory.scope, NOW) as tx:
        return {each.id: each for each in tx.episodes.stream(EpisodeFilter.make(**where))}


def standing(memory: Memory) -> list[Episode]:
    """Those that stand for others, and nothing stands for."""
    found = all_of(memory).values()
    return sorted((each for each in found if each.consolidation and not each.lifecycle.consolidated_into), key=_first)


def _first(each: Episode) -> datetime:
    assert each.consolidation is not None
    return each.consolidation.first_at


def members(each: Episode) -> tuple[str, ...]:
    assert each.consolidation is not None
    return each.consolidation.members


def three(**fields: Any) -> list[Episode]:
    return [episode(f"e{place}", f"task 0 at {place}", days=60 - place, **fields) for place in range(3)]
