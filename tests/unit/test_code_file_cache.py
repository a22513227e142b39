"""What indexing remembers of a project between two changes is as much as it needs, and found without looking at all."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest

from treering.code.index.file_cache import FileCache
from treering.code.index.stored_symbols import StoredSymbols
from treering.code.index.worker_pool import ENDED_ITS_READER
from treering.ports.code import CodeIndex, ListedFile


class Empty:
    def listed(self) -> tuple[ListedFile, ...]:
        return ()


@contextmanager
def _empty() -> Iterator[CodeIndex]:
    yield cast(CodeIndex, Empty())


def shelf_of(paths: list[str]) -> FileCache:
    with _empty() as index:
        shelf = FileCache(None, index, _empty, "")
    shelf.files = Files({path: ListedFile(path, "python", "", "", 0, True, "", 0) for path in paths})
    return shelf


class Files(dict[str, ListedFile]):
    """Counts how often all of them were looked at."""

    looks = 0

    def __iter__(self) -> Iterator[str]:
        self.looks += 1
        return super().__iter__()


def test_a_watcher_that_tells_of_many_built_files_costs_one_look(tmp_path: Path) -> None:
    shelf = shelf_of([f"pkg/sub{number % 7}/f{number}.py" for number in range(100)])
    built = {f"objects/o{number}.o" for number in range(400)}
    assert shelf.folders_of(built, tmp_path) == frozenset()
    assert cast(Files, shelf.files).looks <= 1


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
def test_a_folder_that_is_gone_concerns_what_was_in_it(
    tmp_path: Path, told: str, folders: frozenset[str] | None
) -> None:
    assert shelf_of(["pkg/sub/f.py", "top.py"]).folders_of({told}, tmp_path) == folders


def test_few_files_that_ended_a_process_and_are_gone_are_remembered() -> None:
    shelf = shelf_of(["there.py"])
    shelf.fatal = {"there.py": ENDED_ITS_READER, **{f"gone{number}.py": ENDED_ITS_READER for number in range(300)}}
    while_reading = shelf.with_deadly(None, all_seen=False)
    assert while_reading is not None
    assert len(json.loads(while_reading)["deadly"]) == 301
    in_the_end = shelf.with_deadly(json.dumps({"skipped": {}}), all_seen=True)
    assert in_the_end is not None
    told = json.loads(in_the_end)
    assert told == {"skipped": {}, "deadly": dict.fromkeys(("there.py", *_last_gone()), ENDED_ITS_READER)}


def _last_gone() -> list[str]:
    return [f"gone{number}.py" for number in range(200, 300)]


def test_questions_that_nothing_answers_do_not_fill_the_memory() -> None:
    world = StoredSymbols((), lambda _path: {}, most_entries=50)
    world.put("a.py", {("python", "a"): 1})
    for number in range(1_000):
        assert world.ask(("python", f"nobody{number}")) == ()
        assert world.ask(("python", "a")) == (("a.py", 1),)
    assert len(world._surfaces.answers) <= 50
