"""The code of a project through `memory.code`, on both engines: current after every change, and honest."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.code_projects import code_of, fresh, fresh_graph, stored, written
from treering.code.api import Code
from treering.code.files import skip_reasons
from treering.code.index import indexer as indexing
from treering.code.index import update as updating
from treering.code.index.resolution import resolve_file
from treering.core.errors import Conflict, InvalidInput, NotFound
from treering.memory import Memory

FILES = {
    "app/tokens.py": "def verify(token):\n    return decode(token)\n\n\ndef decode(token):\n    return token\n",
    "app/login.py": "from app.tokens import verify\n\n\ndef login(token):\n    return verify(token)\n",
    "app/__init__.py": "",
    "tests/test_login.py": "from app.login import login\n\n\ndef test_login():\n    assert login('x')\n",
    "go.mod": "module example.com/app\n",
    "main.go": "package main\n\nfunc main() { helper() }\n\nfunc helper() {}\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path / "project", FILES)


@pytest.fixture
def code(memory: Memory) -> Code:
    return code_of(memory)


def edges(code: Code) -> set[tuple[str, str]]:
    return {(edge.origin, edge.target) for edge in code._current.graph().edges()}


def test_nothing_can_be_asked_before_it_is_indexed(code: Code) -> None:
    with pytest.raises(NotFound, match="treering index"):
        code.impact("verify")
    with pytest.raises(NotFound, match="treering index"):
        code.status()


def test_the_index_matches_the_files(memory: Memory, code: Code, root: Path) -> None:
    done = code.index(root)
    assert (done.read, done.resolved, done.removed, done.complete) == (len(FILES), len(FILES), 0, True)
    assert stored(memory) == fresh(FILES)
    assert code._current.graph().edges() == fresh_graph(FILES).edges()
    assert done.totals == code.status().totals
    assert done.totals.languages == {"go": 2, "python": 4}


def test_a_change_reaches_its_dependents(code: Code, root: Path) -> None:
    code.index(root)
    found = code.impact("decode")
    assert found.node == "app/tokens.py::decode"
    assert found.dependents.ids[:2] == ("app/tokens.py::verify", "app/login.py::login")
    assert found.tests == ("tests/test_login.py::test_login",)
    assert found.status.up_to_date
    assert code.dependencies("login").dependencies.ids[0] == "app/tokens.py::verify"
    way = code.path("test_login", "decode")
    assert way.ids[-1] == "app/tokens.py::decode"
    assert [entry.id for entry in code.entry_points()] == ["main.go::main"]
    assert code.data_flow("verify").sinks
    assert not code.cycles()
    assert {path for module in code.module_map().modules for path in module.files} >= {"app/login.py"}


def test_impact_includes_memories_about_the_code(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    near = memory.remember("Tokens are opaque", files=["app/tokens.py"])
    further = memory.remember("Login is rate limited", files=["app/login.py"])
    memory.remember("About something else", files=["main.go"])
    flagged = memory.remember("Doubtful", files=["app/tokens.py"])
    memory.flag(flagged.id)
    found = code.impact("decode")
    assert [record.id for record in found.memories] == [near.id, further.id]


def test_unknown_and_ambiguous_names_are_rejected(code: Code, root: Path) -> None:
    written(root, {"other.py": "def verify(): ...\n"})
    code.index(root)
    with pytest.raises(InvalidInput, match=r"app/tokens.py::verify.*name one of them"):
        code.impact("verify")
    with pytest.raises(NotFound, match="nothing_like_it"):
        code.impact("nothing_like_it")
    assert code.impact("tokens.py:verify").node == "app/tokens.py::verify"
    with pytest.raises(InvalidInput, match="level"):
        code.cycles("planet")
    with pytest.raises(InvalidInput, match="entry point"):
        code.entry_points(kind="window")


def test_an_edit_is_seen_by_the_next_question(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    assert ("app/login.py::login", "app/tokens.py::verify") in edges(code)
    changed = {
        **FILES,
        "app/login.py": "from app.tokens import decode\n\n\ndef login(token):\n    return decode(token)\n",
    }
    written(root, changed)
    assert ("app/login.py::login", "app/tokens.py::decode") in edges(code)
    assert ("app/login.py::login", "app/tokens.py::verify") not in edges(code)
    assert stored(memory) == fresh(changed)


def test_an_edit_of_the_same_size_in_the_same_moment_is_seen(memory: Memory, code: Code, root: Path) -> None:
    import os

    code.index(root)
    before = (root / "app/tokens.py").stat()
    changed = {**FILES, "app/tokens.py": FILES["app/tokens.py"].replace("decode", "encode")}
    (root / "app/tokens.py").write_text(changed["app/tokens.py"])
    os.utime(root / "app/tokens.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    code.index(root)
    assert stored(memory) == fresh(changed)


def test_files_that_vanish_move_and_appear_are_followed(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    now = dict(FILES)
    (root / "app/tokens.py").rename(root / "app/keys.py")
    now["app/keys.py"] = now.pop("app/tokens.py")
    done = code.index(root)
    assert (done.read, done.removed) == (1, 1)
    assert stored(memory) == fresh(now)
    assert ("app/login.py", "app/tokens.py") not in edges(code)
    (root / "app/keys.py").rename(root / "app/tokens.py")
    code.index(root)
    assert stored(memory) == fresh(FILES)
    assert code._current.graph().edges() == fresh_graph(FILES).edges()


def test_unchanged_files_are_not_read_again(code: Code, root: Path) -> None:
    code.index(root)
    assert not code.index(root).changed
    written(root, {"app/tokens.py": FILES["app/tokens.py"]})
    assert not code.index(root).changed
    written(root, {"app/tokens.py": FILES["app/tokens.py"].replace("return token", "return token + ''")})
    done = code.index(root)
    assert (done.read, done.resolved) == (1, 1)


def test_too_many_changes_are_left_out_and_reported_as_stale(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    hurried = code_of(memory, inline_files=0)
    hurried._current._roots.add(root)
    whole = edges(hurried)
    written(root, {"app/login.py": "def login(): ...\n"})
    found = hurried.impact("verify")
    assert found.status.stale == ("app/login.py",)
    assert "app/login.py::login" not in found.dependents.ids
    written(root, {"app/login.py": FILES["app/login.py"]})
    assert edges(hurried) == whole
    assert hurried.impact("verify").status.up_to_date


def test_changes_indexed_by_another_process_are_visible(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    reader = code_of(memory)
    before = edges(reader)
    written(root, {"app/login.py": "def login(): ...\n"})
    code.index(root)
    assert edges(reader) == edges(code) != before
    (root / "main.go").unlink()
    code.index(root)
    assert edges(reader) == edges(code)


def test_two_that_index_at_once_do_not_mix(memory: Memory, root: Path, code: Code) -> None:
    clock = memory._parts.clock
    with memory.store.transaction(memory.scope, clock()) as tx:
        assert tx.code.take_lease("somebody", timedelta(minutes=1))
    with pytest.raises(Conflict, match="is indexing this project"):
        code.index(root)
    with memory.store.transaction(memory.scope, clock()) as tx:
        tx.code.release_lease("somebody")
    code.index(root)
    assert stored(memory) == fresh(FILES)


def test_an_interrupted_run_leaves_a_consistent_incomplete_index(
    memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = code_of(memory, batch=2)
    times = list[object]()

    def breaks(*given: Any) -> Any:
        times.append(given)
        if len(times) == 3:
            raise RuntimeError("the power went")
        return resolve_file(*given)

    monkeypatch.setattr(updating, "resolve_file", breaks)
    with pytest.raises(RuntimeError, match="power"):
        code.index(root)
    monkeypatch.undo()
    reader = code_of(memory)
    reader._current._roots.clear()
    found = reader.find("verify")
    assert found.matches
    graph = reader._current.graph()
    assert set(graph.edges()) <= set(fresh_graph(FILES).edges())
    assert reader.module_map().status.incomplete
    assert len(reader.module_map().status.stale) == len(FILES) - 2
    done = code_of(memory, batch=2).index(root)
    assert (done.read, done.resolved) == (0, len(FILES) - 2)
    assert stored(memory) == fresh(FILES)
    assert code_of(memory).module_map().status.up_to_date


def edit_while_resolving(root: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Change a file whenever the index resolves one; returns all files as they are then."""
    changed = {**FILES, "app/login.py": "def login(): ...\n"}

    def edits(*given: Any) -> Any:
        written(root, changed)
        return resolve_file(*given)

    monkeypatch.setattr(updating, "resolve_file", edits)
    return changed


def test_a_file_that_changes_while_others_are_read_is_read_again(
    memory: Memory, code: Code, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = edit_while_resolving(root, monkeypatch)
    monkeypatch.setattr(indexing, "MAX_UNCHECKED_CHANGES", 0)
    done = code.index(root)
    assert done.complete
    assert stored(memory) == fresh(changed)


def test_a_file_that_changes_during_a_small_update_is_read_by_the_next_one(
    memory: Memory, code: Code, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = edit_while_resolving(root, monkeypatch)
    assert code.index(root).complete
    monkeypatch.undo()
    assert code.index(root).read == 1
    assert stored(memory) == fresh(changed)


def test_files_read_by_another_version_are_read_again(
    memory: Memory, code: Code, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code.index(root)
    for module in ("index.indexer", "index.update", "live.current"):
        monkeypatch.setattr(f"treering.code.{module}.reading_version", lambda: "newer")
    newer = code_of(memory)
    assert newer.module_map().status.incomplete
    done = newer.index(root)
    assert done.read == len(FILES)
    assert stored(memory) == fresh(FILES)
    assert newer.module_map().status.up_to_date


def test_bad_files_are_reported_and_affect_only_themselves(
    memory: Memory, code: Code, root: Path, tmp_path: Path
) -> None:
    bad: dict[str, str | bytes] = {
        "binary.py": b"\x00\x01\x02",
        "generated.py": "# Code generated by x. DO NOT EDIT.\n",
        "latin.py": b"def caf\xe9(): pass\ndef plain(): pass\n",
        "broken.py": "def (:\n",
        "tsconfig.json": "{",
    }
    written(root, bad)
    (root / "link.py").symlink_to(tmp_path / "memory.db")
    done = code.index(root)
    assert done.complete
    assert done.skipped[skip_reasons.BINARY] == done.skipped[skip_reasons.GENERATED] == 1
    assert {problem.path for problem in done.problems} >= {"tsconfig.json"}
    assert stored(memory) == fresh(
        {**FILES, **{name: bad[name] for name in ("latin.py", "broken.py", "tsconfig.json")}}
    )
    again = code.index(root)
    assert (again.read, again.skipped) == (0, done.skipped)


def test_a_root_that_is_not_a_folder_is_rejected(code: Code, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="not a readable folder"):
        code.index(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="not a readable folder"):
        code.index(tmp_path / "file")


def test_a_folder_that_was_indexed_elsewhere_is_not_read(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    stranger = code_of(memory)
    stranger._current._roots.clear()
    before = edges(stranger)
    written(root, {"app/login.py": "def login(): ...\n"})
    assert edges(stranger) == before


def test_files_that_belong_together_are_related_without_history(code: Code, root: Path) -> None:
    code.index(root)
    found = code.related("app/login.py")
    assert found.without_history
    assert "app/tokens.py" in {each.path for each in found.related}
    claimed = {reason for each in found.related for reason in each.reasons}
    assert claimed <= {"imports", "named alike", "path alike", "same folder", "test and code"}
    assert not any(each.together for each in found.related)


def test_unresolved_uses_are_stored(code: Code, root: Path) -> None:
    written(root, {"odd.py": "def odd(thing):\n    return thing.whatever()\n"})
    code.index(root)
    assert [use.text for use in code.unresolved("odd.py")] == ["thing.whatever"]
