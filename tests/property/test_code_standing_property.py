"""Whatever is told of and stored in whatever order: what may be another by now is not served, and nothing is lost."""

from hypothesis import given
from hypothesis import strategies as st

from treering.code.build.file_cache import Changes
from treering.code.files.discovery import DiscoveredFile
from treering.code.live.unread_files import Unread

FILES = ("a.py", "pkg/b.py", "pkg/sub/c.py", "next.js/d.py")
FOLDERS = ("pkg", "pkg/sub", "next.js")
told = st.sets(st.sampled_from((*FILES, *FOLDERS)), max_size=4)
stored = st.dictionaries(st.sampled_from(FILES), st.integers(1, 9))


def concerned(paths: set[str]) -> set[str]:
    return {file for file in FILES if file in paths or any(file.startswith(f"{path}/") for path in paths)}


@given(told, told, stored)
def test_what_is_told_of_while_others_are_read_stays_unread(
    before: set[str], meanwhile: set[str], files: dict[str, int]
) -> None:
    unread = Unread()
    unread.hear(before)
    assert concerned(before) & files.keys() <= unread.stale(files, complete=True)
    moment = unread.moment
    unread.hear(meanwhile)
    unread.read(moment)
    assert unread.stale(files, complete=True) & files.keys() == concerned(meanwhile) & files.keys()
    unread.read(unread.moment)
    assert unread.stale(files, complete=True) == set()


@given(st.sets(st.sampled_from(FILES)), st.sets(st.sampled_from(FILES)), st.integers(1, 9), stored, st.booleans())
def test_what_was_found_is_unread_until_it_is_stored_after_that(
    changed: set[str], gone: set[str], generation: int, files: dict[str, int], complete: bool
) -> None:
    unread = Unread()
    unread.find(
        Changes(tuple(DiscoveredFile(path, "python", "") for path in sorted(changed)), tuple(sorted(gone))), generation
    )
    stale = unread.stale(files, complete=complete)
    new = changed - files.keys() if complete else set()
    assert stale == {path for path in (changed | gone) & files.keys() if files[path] <= generation} | new
    unread.find(Changes(), generation)
    assert unread.stale(files, complete=complete) == set()
