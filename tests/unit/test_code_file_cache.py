"""The cache of stored files: bounded, and searched without iterating over all files."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest

from treering.code.encoding import pack_keys
from treering.code.facts import Key
from treering.code.index.file_cache import FileCache
from treering.code.index.stored_symbols import StoredSymbols, SymbolQueries
from treering.code.index.worker_pool import ENDED_ITS_READER
from treering.ports.code import CodeIndex, FileKeys, ListedFile


class Empty:
    def listed(self) -> tuple[ListedFile, ...]:
        return ()


@contextmanager
def _empty() -> Iterator[CodeIndex]:
    yield cast(CodeIndex, Empty())


def cache_of(paths: list[str]) -> FileCache:
    with _empty() as index:
        cache = FileCache(None, index, _empty, "")
    cache.files = Files({path: ListedFile(path, "python", "", "", 0, True, "", 0) for path in paths})
    return cache


class Files(dict[str, ListedFile]):
    """Counts how often all of them were looked at."""

    looks = 0

    def __iter__(self) -> Iterator[str]:
        self.looks += 1
        return super().__iter__()


def test_many_reported_build_products_cost_one_iteration(tmp_path: Path) -> None:
    cache = cache_of([f"pkg/sub{number % 7}/f{number}.py" for number in range(100)])
    built = {f"objects/o{number}.o" for number in range(400)}
    assert cache.folders_of(built, tmp_path) == frozenset()
    assert cast(Files, cache.files).looks <= 1


@pytest.mark.parametrize(
    ("told", "folders"),
    [
        ("pkg", None),
        ("pkg/sub", None),
        ("pkg/su", frozenset()),
        ("pkg/sub/f.py", frozenset({"pkg/sub/"})),
        ("pkg/sub/new.py", frozenset({"pkg/sub/"})),
        ("other", frozenset()),
        ("top.py", frozenset({""})),
    ],
)
def test_a_deleted_folder_requires_a_full_scan(tmp_path: Path, told: str, folders: frozenset[str] | None) -> None:
    assert cache_of(["pkg/sub/f.py", "top.py"]).folders_of({told}, tmp_path) == folders


def test_only_the_latest_deleted_fatal_files_stay_marked() -> None:
    cache = cache_of(["there.py"])
    cache.fatal = {"there.py": ENDED_ITS_READER, **{f"gone{number}.py": ENDED_ITS_READER for number in range(300)}}
    while_reading = cache.with_fatal(None, all_seen=False)
    assert while_reading is not None
    assert len(json.loads(while_reading)["deadly"]) == 301
    in_the_end = cache.with_fatal(json.dumps({"skipped": {}}), all_seen=True)
    assert in_the_end is not None
    told = json.loads(in_the_end)
    assert told == {"skipped": {}, "deadly": dict.fromkeys(("there.py", *_last_gone()), ENDED_ITS_READER)}


def _last_gone() -> list[str]:
    return [f"gone{number}.py" for number in range(200, 300)]


def test_cached_answers_are_bounded() -> None:
    symbols = StoredSymbols((), lambda _path: {}, max_answers=50)
    symbols.put("a.py", {("python", f"a{number}"): number for number in range(1_000)})
    for number in range(1_000):
        assert symbols.ask(("python", f"nobody{number}")) == ()
        assert symbols.ask(("python", f"a{number}")) == (("a.py", number),)
        assert symbols.ask(("python", "a0")) == (("a.py", 0),)
    assert len(symbols._answers) <= 100


def test_symbols_that_several_files_query_are_read_once() -> None:
    built: list[str] = []

    def surface_of(path: str) -> Mapping[Key, int]:
        built.append(path)
        return surfaces[path]

    surfaces: dict[str, Mapping[Key, int]] = {
        f"{number}.py": {("python", "x", f"f{number}"): number} for number in range(9)
    }
    files = [FileKeys(path, pack_keys(surface), b"") for path, surface in surfaces.items()]
    symbols = StoredSymbols(files, surface_of, max_entries=2)
    for asker in ("one.py", "other.py", "third.py"):
        queries = SymbolQueries(symbols, asker)
        for number in range(9):
            assert queries("python", "x", f"f{number}") == ((f"{number}.py", number),)
    assert sorted(built) == sorted(surfaces)


def test_a_changed_symbol_is_answered_anew_after_its_surface_was_evicted() -> None:
    symbols = StoredSymbols((), lambda _path: {}, max_entries=2)
    symbols.put("a.py", {("python", "a"): 1, ("python", "b"): 1})
    assert symbols.ask(("python", "a"), "z.py") == (("a.py", 1),)
    symbols.put("b.py", {("python", "c"): 1, ("python", "d"): 1})
    assert symbols.put("a.py", {("python", "a"): 2, ("python", "b"): 1}) >= {("python", "a")}
    assert symbols.ask(("python", "a"), "z.py") == (("a.py", 2),)
    symbols.remove("a.py")
    assert symbols.ask(("python", "a"), "z.py") == ()
