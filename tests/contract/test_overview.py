"""The overview of a memory: counts, score, coverage and activity."""

from tests.injection_occasions import taught
from treering.memory import Memory


def test_an_empty_memory_has_no_score(memory: Memory) -> None:
    overview = memory.maintenance.overview()
    assert (overview.total, overview.score, overview.parts) == (0, None, ())
    assert len(overview.days) == 30


def test_records_that_wait_for_review_lower_the_score(memory: Memory) -> None:
    first = taught(memory, "The quay is open at night.")
    taught(memory, "The crane has a licence.")
    before = memory.maintenance.overview()
    memory.flag(first.id)
    after = memory.maintenance.overview()
    assert (after.total, after.needs_review) == (2, 1)
    assert (after.score or 0) < (before.score or 0)
    assert {each.name: each.lowered_by for each in after.parts}["reviewed"] == 1
    assert sum(day.records for day in after.days) == 2


def test_coverage_counts_files_with_records(memory: Memory) -> None:
    taught(memory, "Tides are computed here.", files=["sea/tides.py"])
    taught(memory, "Waves too.", files=["sea/tides.py", "land/dunes.py"])
    modules = {"sea": ("sea", ("sea/tides.py", "sea/waves.py")), "land": ("land", ("land/dunes.py",))}
    found = memory.maintenance.overview(modules).modules
    assert [(each.module, each.files, each.covered, each.records) for each in found] == [
        ("sea", 2, 1, 2),
        ("land", 1, 1, 1),
    ]
