"""Relatives of a file: what history, names and imports say, and that the score is what it shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.test_history_counts import COMMITS, PATHS, commit, counted
from treering.code.history.co_access_seeds import co_access_edges, edge_id, weight_of
from treering.code.history.names import name_of
from treering.code.history.ranking import related
from treering.core.settings import HistorySettings
from treering.ports.commits import Commit, Touch

FILES = commit(*(f"A {name}.py" for name in ("pkg/a", "pkg/b", "other/c", "other/d", "tests/test_a", "lib/z")))
SOLO = [commit(f"M {name}.py") for name in ("lib/z", "other/d", "pkg/b")]


def paths(*args: object, **options: object) -> list[str]:
    return [each.path for each in related(*args, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "subject", "is_test"),
    [
        ("tests/test_app.py", "app", True),
        ("src/app.py", "app", False),
        ("src/app.test.ts", "app", True),
        ("binding/form_test.go", "form", True),
        ("src/router/index.ts", "router", False),
        ("pkg/tests/__init__.py", "pkg", True),
        ("src/lib.rs", "lib", False),
        ("contest.py", "contest", False),
        ("", "", False),
    ],
)
def test_a_test_shares_the_subject_of_the_tested_file(path: str, subject: str, is_test: bool) -> None:
    assert (name_of(path).subject, name_of(path).is_test) == (subject, is_test)


def test_files_changed_together_come_first() -> None:
    counts = counted(FILES, *[commit("M pkg/a.py", "M other/c.py")] * 4, *SOLO)
    best = related(counts, "pkg/a.py")[0]
    assert (best.path, best.together) == ("other/c.py", 5)
    assert max(best.why, key=lambda term: term.gain).name == "together"


def test_a_small_commit_counts_more_than_a_large_one() -> None:
    large = commit("M pkg/a.py", "M other/c.py", *(f"A other/{number}.py" for number in range(20)))
    counts = counted(FILES, commit("M pkg/a.py", "M other/d.py"), large)
    values = {each.path: {term.name: term.value for term in each.why} for each in related(counts, "pkg/a.py", 50)}
    assert values["other/d.py"]["together"] > values["other/c.py"]["together"]


def test_a_file_no_commit_has_seen_finds_its_test_by_name() -> None:
    counts = counted(*(commit(f"A {name}") for name in ("pkg/b.py", "other/c.py", "tests/test_new.py", "lib/z.py")))
    assert paths(counts, "pkg/new.py")[0] == "tests/test_new.py"


def test_imports_are_taken_from_outside_as_a_mapping_or_a_callable() -> None:
    counts = counted(FILES, *SOLO)
    for imports in ({"pkg/a.py": ["lib/z.py", "gone.py"]}, {"pkg/a.py": ["lib/z.py", "gone.py"]}.__getitem__):
        found = {each.path: each for each in related(counts, "pkg/a.py", 50, imports)}
        assert [path for path, each in found.items() if "imports" in {term.name for term in each.why}] == ["lib/z.py"]


def test_deleted_files_are_not_relatives() -> None:
    counts = counted(FILES, commit("M pkg/a.py", "M other/c.py"), commit("D other/c.py"))
    assert "other/c.py" not in paths(counts, "pkg/a.py", limit=50)


def test_nothing_known_gives_nothing() -> None:
    assert related(counted(), "a.py") == []


@given(COMMITS, PATHS, st.integers(0, 12))
def test_a_score_is_the_sum_of_its_terms_and_excludes_the_file_itself(
    commits: list[Commit], path: str, limit: int
) -> None:
    counts = counted(*commits)
    found = related(counts, path, limit)
    assert len(found) <= limit
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    for each in found:
        assert each.score == pytest.approx(sum(term.gain for term in each.why))
        assert each.path != path or counts.number(path) is None
        assert counts.number(each.path) is not None


def test_seeds_name_both_files_how_often_and_when() -> None:
    counts = counted(FILES, commit("M pkg/b.py", "M pkg/a.py", at=86_400))
    (edge,) = co_access_edges(counts)
    assert (edge.first, edge.second, edge.count) == ("pkg/a.py", "pkg/b.py", 2)
    assert edge.last_seen_at.timestamp() == 86_400
    assert edge.id == edge_id("pkg/b.py", "pkg/a.py")
    assert edge.weight == pytest.approx(weight_of(2, 2, 2, 1.0)) == pytest.approx(2 / 3)


def test_a_path_that_no_record_can_hold_is_left_out() -> None:
    touches = tuple(Touch("M", path, path) for path in ("a.py", "\udcff.py", "b.py"))
    edges = co_access_edges(counted(Commit("c", 1, touches), Commit("d", 2, touches)))
    assert [(edge.first, edge.second) for edge in edges] == [("a.py", "b.py")]


@given(COMMITS, st.integers(1, 3))
def test_seeds_are_bounded_and_each_pair_is_named_once(commits: list[Commit], most: int) -> None:
    settings = HistorySettings(most_per_file=most, least_together=1, least_weight=0.0)
    edges = co_access_edges(counted(*commits, settings=settings))
    ends = [path for edge in edges for path in (edge.first, edge.second)]
    assert all(ends.count(path) <= most for path in ends)
    assert all(0 <= edge.weight <= 1 for edge in edges)
    assert len({edge.id for edge in edges}) == len(edges)
    assert [edge.weight for edge in edges] == sorted((edge.weight for edge in edges), reverse=True)
