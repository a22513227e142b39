"""The pattern index cache: consistent with the store, rebuilt in the background."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from tests.samples import NOW, sample
from treering.core.patterns import Pattern, PatternStatus
from treering.patterns.matching.index_cache import PatternIndexCache
from treering.ports.patterns import PatternMark, PatternStamp


@dataclass
class Told:
    """A store of patterns that counts how much is read of it."""

    kept: dict[str, Pattern] = field(default_factory=dict)
    read: int = 0

    @property
    def patterns(self) -> "Told":
        return self

    def marks(self) -> dict[str, PatternMark]:
        return {id: (each.version, int(each.updated_at.timestamp())) for id, each in self.kept.items()}

    def stamp(self) -> PatternStamp:
        versions, moments = [sum(each) for each in zip(*self.marks().values(), strict=True)] or (0, 0)
        return PatternStamp(len(self.kept), versions, moments)

    def get_many(self, ids: Iterable[str]) -> dict[str, Pattern]:
        found = {id: self.kept[id] for id in ids}
        self.read += len(found)
        return found

    def put(self, id: str, minutes: int = 0, **fields: Any) -> None:
        at = NOW + timedelta(minutes=minutes)
        self.kept[id] = sample(Pattern, id, status=PatternStatus.VALIDATED, updated_at=at, **fields)


class Later:
    """Work that is done when the test says so."""

    def __init__(self) -> None:
        self.waiting = list[Callable[[], None]]()

    def __call__(self, work: Callable[[], None]) -> None:
        self.waiting.append(work)


def names(shelf: PatternIndexCache, told: Any) -> list[str]:
    return [each.name for each in shelf.index(told).applicable({})]


def grown() -> tuple[Told, PatternIndexCache, Later]:
    """A shelf that was built of one pattern, and a hundred that came since."""
    told, later = Told(), Later()
    shelf = PatternIndexCache(in_background=later)
    told.put("p", 0, name="first")
    names(shelf, told)
    for number in range(100):
        told.put(f"q{number:03}", 1 + number, name=f"n{number}")
    return told, shelf, later


def test_only_what_changed_is_read_again() -> None:
    told, shelf = Told(), PatternIndexCache(in_background=Later())
    for number in range(10):
        told.put(f"p{number}", number, name=f"n{number}")
    assert len(names(shelf, told)) == 10
    assert told.read == 10
    names(shelf, told)
    assert told.read == 10
    told.put("p3", 60, name="other", version=2)
    assert "other" in names(shelf, told)
    assert told.read == 11
    del told.kept["p4"]
    assert len(names(shelf, told)) == 9
    assert told.read == 11


def test_what_was_taken_away_or_exchanged_is_noticed() -> None:
    told, shelf = Told(), PatternIndexCache(in_background=Later())
    for number in range(4):
        told.put(f"p{number}", number, name=f"n{number}")
    names(shelf, told)
    del told.kept["p0"]
    assert names(shelf, told) == ["n1", "n2", "n3"]
    # As many, of the same versions, the newest the same.
    del told.kept["p1"]
    told.put("q", 0, name="exchanged")
    assert sorted(names(shelf, told)) == ["exchanged", "n2", "n3"]


def test_rebuild_in_the_background_does_not_change_results() -> None:
    told, shelf, later = grown()
    before = names(shelf, told)
    assert len(before) == 101
    names(shelf, told)
    assert len(later.waiting) == 1
    # What changes while it is built stays newer than what is built.
    told.put("q050", 300, name="changed", version=2)
    assert "changed" in names(shelf, told)
    later.waiting.pop()()
    after = names(shelf, told)
    assert len(after) == len(before)
    assert set(after) == set(before) - {"n50"} | {"changed"}
    del told.kept["p"]
    assert "first" not in names(shelf, told)


def test_what_is_taken_away_while_it_is_built_does_not_come_back() -> None:
    told, shelf, later = grown()
    names(shelf, told)
    (work,) = later.waiting
    del told.kept["q007"]
    assert "n7" not in names(shelf, told)
    work()
    assert "n7" not in names(shelf, told)
    assert len(names(shelf, told)) == 100


def test_what_is_changed_back_while_it_is_built_stays_so() -> None:
    """An undo: the same patterns, of which one is read again though its moment lies before the newest."""
    told, shelf, later = grown()
    names(shelf, told)
    (work,) = later.waiting
    told.put("q007", 8, name="undone", version=3)
    assert "undone" in names(shelf, told)
    work()
    assert "undone" in names(shelf, told)
    assert "n7" not in names(shelf, told)


def test_a_build_that_fails_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told, shelf, later = grown()
    names(shelf, told)
    with monkeypatch.context() as broken:
        broken.setattr("treering.patterns.matching.index_cache.PatternIndex", lambda patterns: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            later.waiting.pop()()
    assert len(names(shelf, told)) == 101
    assert len(later.waiting) == 1
