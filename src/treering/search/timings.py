"""How long each stage took."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Stopwatch:
    """Measures stages by name; a stage that runs twice adds up."""

    def __init__(self) -> None:
        self._started = perf_counter()
        self._stages: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = perf_counter()
        try:
            yield
        finally:
            self._stages[name] = self._stages.get(name, 0.0) + (perf_counter() - started) * 1000

    def milliseconds(self) -> dict[str, float]:
        """By stage, and in all."""
        return {**self._stages, "total": (perf_counter() - self._started) * 1000}
