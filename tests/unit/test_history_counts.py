"""What commits say of files: through renames and deletes, with sweeps left out and old commits fading."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treering.code.history.counts import CoChange
from treering.code.limits import HistoryLimits
from treering.ports.commits import Commit, Touch


def commit(*touches: str, at: int = 1_000) -> Commit:
    """`M a.py`, `A a.py`, `D a.py` or `R a.py b.py`."""
    parts = [touch.split() for touch in touches]
    return Commit("c", at, tuple(Touch(part[0], part[1], part[-1]) for part in parts))


def add_all(counts: CoChange, commits: Iterable[Commit]) -> None:
    for each in commits:
        counts.add(each)


def counted(*commits: Commit, settings: HistoryLimits | None = None) -> CoChange:
    counts = CoChange(lambda path: path.endswith(".py"), settings)
    add_all(counts, commits)
    return counts


def together(counts: CoChange, one: str, other: str) -> int:
    first, second = counts.number(one), counts.number(other)
    assert first is not None
    assert second is not None
    pair = counts.pairs.get(first, {}).get(second)
    return pair.count if pair else 0


def test_files_of_one_commit_are_counted_together() -> None:
    counts = counted(commit("A a.py", "A b.py"), commit("M a.py", "M b.py"), commit("M a.py"))
    assert together(counts, "a.py", "b.py") == together(counts, "b.py", "a.py") == 2


def test_renames_are_followed_through_chains() -> None:
    counts = counted(
        commit("A a.py", "A b.py"), commit("R a.py x/a.py"), commit("R x/a.py y/z.py"), commit("M y/z.py", "M b.py")
    )
    assert together(counts, "y/z.py", "b.py") == 2
    assert counts.number("a.py") is counts.number("x/a.py")


def test_a_renamed_folder_takes_its_files_along() -> None:
    names = [f"{number}.py" for number in range(40)]
    counts = counted(
        commit("A old/1.py", "A old/2.py"),
        commit(*(f"A old/{name}" for name in names if name not in ("1.py", "2.py"))),
        commit(*(f"R old/{name} new/{name}" for name in names)),
    )
    assert together(counts, "new/1.py", "new/2.py") == 1
    assert len(counts.by_folder["new"]) == 40
    assert not counts.by_folder["old"]


def test_two_files_may_change_places() -> None:
    counts = counted(commit("A a.py", "A b.py"), commit("A c.py", "M a.py"), commit("R a.py b.py", "R b.py a.py"))
    assert together(counts, "b.py", "c.py") == 1
    assert together(counts, "a.py", "c.py") == 0


def test_a_path_used_again_after_a_delete_is_another_file() -> None:
    counts = counted(commit("A a.py", "A b.py"), commit("D a.py"), commit("A a.py"), commit("M b.py"))
    assert together(counts, "a.py", "b.py") == 0


def test_a_new_file_where_another_was_moved_away_is_another_file() -> None:
    counts = counted(commit("A a.py", "A b.py"), commit("R a.py c.py"), commit("A a.py"))
    assert together(counts, "a.py", "b.py") == 0
    assert together(counts, "c.py", "b.py") == 1


def test_a_change_on_another_branch_counts_for_the_renamed_file() -> None:
    counts = counted(commit("A a.py", "A b.py"), commit("R a.py c.py"), commit("M a.py", "M b.py"))
    assert together(counts, "c.py", "b.py") == 2


def test_a_file_that_is_overwritten_by_a_rename_is_gone() -> None:
    counts = counted(commit("A a.py", "A b.py", "A c.py"), commit("R a.py b.py"))
    assert together(counts, "b.py", "c.py") == 1
    assert sorted(map(counts.path, filter(counts.exists, range(3)))) == ["b.py", "c.py"]


def test_a_deleted_file_is_not_there() -> None:
    counts = counted(commit("A a.py", "A b.py"), commit("D a.py", "M b.py"))
    assert counts.number("a.py") is None
    assert [path for path in ("a.py", "b.py") if counts.number(path) is not None] == ["b.py"]


@pytest.mark.parametrize(("files", "expected"), [(30, 1), (31, 0)])
def test_a_large_commit_counts_no_pairs(files: int, expected: int) -> None:
    counts = counted(commit(*(f"A {number}.py" for number in range(files))))
    assert together(counts, "0.py", "1.py") == expected


def test_uncounted_files_neither_count_nor_enlarge_a_commit() -> None:
    counts = counted(commit("A a.py", "A b.py", *(f"A {number}.txt" for number in range(50))))
    assert together(counts, "a.py", "b.py") == 1
    assert not counts.exists(counts.lineage.numbers["0.txt"])


def test_pair_counts_decay_with_the_commits_of_the_file() -> None:
    settings = HistoryLimits(habit_half_life=10.0)
    begun = commit("A a.py", "A b.py")
    counts = counted(begun, *[commit("M c.py")] * 50, *[commit("M a.py")] * 10, settings=settings)
    first, second = counts.number("a.py"), counts.number("b.py")
    assert first is not None
    assert second is not None

    def now(one: int, other: int) -> float:
        return counts.pairs[one][other].now(counts.files[one].touched, settings.habit_half_life)

    assert now(first, second) == pytest.approx(0.5)
    assert now(second, first) == pytest.approx(1.0)


PATHS = st.sampled_from([f"{folder}{name}.py" for folder in ("", "x/", "y/") for name in "abc"])
TOUCHES = st.one_of(
    st.builds(lambda letter, path: Touch(letter, path, path), st.sampled_from("AMDT"), PATHS),
    st.builds(lambda before, after: Touch("R", before, after), PATHS, PATHS),
)
ONE_LINE_A_PATH = st.lists(TOUCHES, max_size=5, unique_by=lambda touch: touch.after)
COMMITS = st.lists(st.builds(lambda touches: Commit("c", 1, tuple(touches)), ONE_LINE_A_PATH), max_size=30)


@given(COMMITS)
def test_every_path_has_at_most_one_file_for_any_commits(commits: list[Commit]) -> None:
    counts = counted(*commits)
    there = [number for number in range(len(counts.lineage.paths)) if counts.exists(number)]
    assert set(there) == counts.lineage.alive
    assert {number for files in counts.by_folder.values() for number in files} == set(there)
    assert {number for files in counts.by_subject.values() for number in files} == set(there)
    for number in there:
        assert counts.files[number].last <= counts.moment
        for other, pair in counts.pairs.get(number, {}).items():
            back = counts.pairs[other][number]
            assert (back.count, back.moment) == (pair.count, pair.moment)
            assert 0 < pair.count <= min(counts.files[number].touched, counts.files[other].touched)
            assert pair.value <= pair.count


@given(COMMITS, st.integers(0, 30))
def test_counting_in_two_parts_is_counting_at_once(commits: list[Commit], cut: int) -> None:
    whole, parts = counted(*commits), counted(*commits[:cut])
    add_all(parts, commits[cut:])
    assert (whole.pairs, whole.files, whole.folder_pairs) == (parts.pairs, parts.files, parts.folder_pairs)
    assert whole.lineage.paths == parts.lineage.paths
