"""Unread files: in any order of reports and writes, a possibly changed file is not served, and no report is lost."""

from hypothesis import given
from hypothesis import strategies as st

from treering.code.files.folder_listings import DiscoveredFile
from treering.code.index.file_cache import Changes
from treering.code.live.unread_files import UnreadFiles

FILES = ("a.py", "pkg/b.py", "pkg/sub/c.py", "next.js/d.py")
FOLDERS = ("pkg", "pkg/sub", "next.js")
told = st.sets(st.sampled_from((*FILES, *FOLDERS)), max_size=4)
stored = st.dictionaries(st.sampled_from(FILES), st.integers(1, 9))


def concerned(paths: set[str]) -> set[str]:
    return {file for file in FILES if file in paths or any(file.startswith(f"{path}/") for path in paths)}


@given(told, told, stored)
def test_files_reported_while_others_are_read_stay_unread(
    before: set[str], meanwhile: set[str], files: dict[str, int]
) -> None:
    unread = UnreadFiles()
    unread.add(before)
    assert concerned(before) & files.keys() <= unread.stale(files, complete=True)
    moment = unread.moment
    unread.add(meanwhile)
    unread.forget_until(moment)
    assert unread.stale(files, complete=True) & files.keys() == concerned(meanwhile) & files.keys()
    unread.forget_until(unread.moment)
    assert unread.stale(files, complete=True) == set()


@given(st.sets(st.sampled_from(FILES)), st.sets(st.sampled_from(FILES)), st.integers(1, 9), stored, st.booleans())
def test_scanned_changes_are_unread_until_stored_later(
    changed: set[str], gone: set[str], generation: int, files: dict[str, int], complete: bool
) -> None:
    unread = UnreadFiles()
    unread.set_scan(
        Changes(tuple(DiscoveredFile(path, "python", "") for path in sorted(changed)), tuple(sorted(gone))), generation
    )
    stale = unread.stale(files, complete=complete)
    new = changed - files.keys() if complete else set()
    assert stale == {path for path in (changed | gone) & files.keys() if files[path] <= generation} | new
    unread.set_scan(Changes(), generation)
    assert unread.stale(files, complete=complete) == set()
