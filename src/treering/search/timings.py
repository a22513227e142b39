"""Durations of the stages of a search."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Stopwatch:
    """Measures stages by name; repeated stages add up."""

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
        """Milliseconds by stage, and the `total`."""
        return {**self._stages, "total": (perf_counter() - self._started) * 1000}
