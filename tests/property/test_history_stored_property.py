"""Counts that are stored and counted on are those that are counted at once, whatever the commits were."""

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.test_history_counts import PATHS, add_all, counted
from treering.code.history.co_access_seeds import co_access_edges
from treering.code.history.counts import CoChange
from treering.code.history.encoding import pack, unpack
from treering.code.history.ranking import related
from treering.code.limits import HistoryLimits
from treering.ports.commits import Commit, Touch

SETTINGS = HistoryLimits()
# Files that do not take part are followed as well: one may become code by a rename.
ANY = st.one_of(PATHS, st.sampled_from(["a.txt", "x/b.txt"]))
TOUCHES = st.one_of(
    st.builds(lambda letter, path: Touch(letter, path, path), st.sampled_from("AMDT"), ANY),
    st.builds(lambda before, after: Touch("R", before, after), ANY, ANY),
)
TOUCHED = st.lists(TOUCHES, max_size=5, unique_by=lambda touch: touch.after)
COMMIT = st.builds(lambda at, touches: Commit("c", at, tuple(touches)), st.integers(0, 9), TOUCHED)
COMMITS = st.lists(COMMIT, max_size=30)


def through_the_store(counts: CoChange) -> CoChange:
    return unpack(pack(counts), lambda path: path.endswith(".py"), SETTINGS)


def everything(counts: CoChange) -> dict[str, object]:
    lineage = counts.lineage
    return {
        "lineage": (lineage.numbers, lineage.paths, lineage.alive),
        "when": (counts.moment, counts.times),
        "pairs": {(first, second): pair for first, near in counts.pairs.items() for second, pair in near.items()},
        "files": counts.files,
        "folders": {(one, other): n for one, near in counts.folder_pairs.items() for other, n in near.items()},
        "places": {number: counts.path(number) for number in lineage.alive if counts.exists(number)},
        "by_folder": {folder: files for folder, files in counts.by_folder.items() if files},
        "by_subject": {subject: files for subject, files in counts.by_subject.items() if files},
        "recent": list(counts.recent),
    }


@given(COMMITS, st.lists(st.integers(0, 30), max_size=4), PATHS)
def test_stored_and_followed_is_counted_anew(commits: list[Commit], stops: list[int], asked: str) -> None:
    whole, parts, begin = counted(*commits), counted(), 0
    for stop in sorted(stops):
        add_all(parts, commits[begin:stop])
        parts, begin = through_the_store(parts), max(begin, stop)
    add_all(parts, commits[begin:])
    assert everything(through_the_store(parts)) == everything(parts) == everything(whole)
    assert related(parts, asked) == related(whole, asked)
    assert co_access_edges(parts) == co_access_edges(whole)


@given(st.lists(st.text(st.characters(blacklist_characters="\0"), min_size=1), min_size=1, max_size=5, unique=True))
def test_any_path_comes_back_as_it_was(names: list[str]) -> None:
    paths = [f"{name.encode('utf-8', 'surrogatepass').decode('utf-8', 'surrogateescape')}.py" for name in names]
    counts = counted(Commit("c", 1, tuple(Touch("A", path, path) for path in paths)))
    assert everything(through_the_store(counts)) == everything(counts)
