"""Adding a SCIP index to the stored graph is idempotent and atomic, on both engines."""

import os
from pathlib import Path

import pytest

from tests.code_projects import code_of, written
from tests.scip_indexes import Project
from treering.code.api import Code
from treering.code.encoding import edges_in, pack_further, unpack_further
from treering.code.facts import Edge
from treering.code.index.report import ScipIndex
from treering.core.errors import InvalidInput
from treering.core.graph import EdgeKind, GraphSource
from treering.memory import Memory

FILES = {
    "tools.py": "def helper(x):\n    return x\n\n\ndef other(x):\n    return x\n",
    "user.py": "import tools\n\n\ndef go(known):\n    getattr(tools, known)(1)\n    known.helper(1)\n",
    "second.py": "def again(known):\n    known.other(2)\n",
}
HELPER, OTHER = "scip x d 1 tools/helper().", "scip x d 1 tools/other()."
FIRST = {"user.py::go": "tools.py::helper", "second.py::again": "tools.py::other"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path / "project", FILES)


@pytest.fixture
def code(memory: Memory) -> Code:
    return code_of(memory)


def index_of(*paths: str) -> bytes:
    """Return a SCIP index of these files and their uses."""
    made = Project({path: FILES[path] for path in ("tools.py", *paths)})
    made.mention("tools.py", "helper", HELPER, defines=True)
    made.mention("tools.py", "other", OTHER, defines=True)
    if "user.py" in paths:
        made.mention("user.py", "helper", HELPER)
    if "second.py" in paths:
        made.mention("second.py", "other", OTHER)
    return made.bytes()


def further(memory: Memory) -> dict[GraphSource, dict[str, str]]:
    """Return (origin, target) of all edges that do not come from the source code, by graph source."""
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        packed = [unpack_further(file.further) for file in tx.code.contents()]
    found: dict[GraphSource, dict[str, str]] = {}
    for each in packed:
        for source, edges in each.items():
            found.setdefault(source, {}).update({edge.origin: edge.target for edge in edges_in(edges)})
    return found


def generation(memory: Memory) -> int:
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        state = tx.code.state()
    assert state is not None
    return state.generation


def test_adding_an_index_is_idempotent(memory: Memory, code: Code, root: Path, tmp_path: Path) -> None:
    (tmp_path / "index.scip").write_bytes(index_of("user.py", "second.py"))
    notes = [code.index(root, scip=tmp_path / "index.scip").notes for _ in range(3)]
    assert further(memory) == {GraphSource.SCIP: FIRST}
    assert notes[0] == notes[1] == notes[2]
    assert "confirms 0 edges known from the source, adds 2" in notes[0][0]
    assert code.impact("helper").dependents.ids == ("user.py::go",)


def test_adding_the_same_scip_index_again_changes_nothing(
    memory: Memory, code: Code, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "index.scip").write_bytes(index_of("user.py"))
    code.index(root, scip=tmp_path / "index.scip")
    before = generation(memory)
    code.index(root, scip=tmp_path / "index.scip")
    assert generation(memory) == before


def test_edges_missing_in_a_new_index_are_removed(memory: Memory, code: Code, root: Path, tmp_path: Path) -> None:
    (tmp_path / "index.scip").write_bytes(index_of("user.py", "second.py"))
    code.index(root, scip=str(tmp_path / "index.scip"))
    (tmp_path / "index.scip").write_bytes(index_of("second.py"))
    code.index(root, scip=str(tmp_path / "index.scip"))
    assert further(memory) == {GraphSource.SCIP: {"second.py::again": "tools.py::other"}}
    assert code.impact("helper").dependents.ids == ()


def test_known_edges_are_confirmed_and_only_others_are_added(code: Code, tmp_path: Path) -> None:
    known = {"tools.py": FILES["tools.py"], "user.py": "from tools import helper\n\n\ndef go(x):\n    helper(x)\n"}
    guessed = "from tools import helper, other\n\n\ndef go(x):\n    (helper if x else other)(1)\n    x.other(2)\n"
    for text, told in ((known["user.py"], "confirms 1 edge known"), (guessed, "confirms 1 edge known")):
        root = written(tmp_path / "project", {**known, "user.py": text})
        made = Project({**known, "user.py": text})
        made.mention("tools.py", "helper", HELPER, defines=True)
        made.mention("tools.py", "other", OTHER, defines=True)
        name = "helper" if "other" not in text else "other"
        made.mention("user.py", name, HELPER if name == "helper" else OTHER, nth=text.count(name) - 1)
        (tmp_path / "index.scip").write_bytes(made.bytes())
        (note,) = (each for each in code.index(root, scip=tmp_path / "index.scip").notes if "scip" in each)
        assert told in note
        assert note.endswith("adds 0")


def test_a_scip_index_of_other_code_is_rejected_without_changes(
    memory: Memory, code: Code, root: Path, tmp_path: Path
) -> None:
    right, wrong = tmp_path / "index.scip", tmp_path / "wrong.scip"
    right.write_bytes(index_of("user.py"))
    code.index(root, scip=right)
    made = Project({"elsewhere.py": "def helper(x): ...\n"})
    made.mention("elsewhere.py", "helper", HELPER, defines=True)
    wrong.write_bytes(made.bytes())
    for named in (wrong, [right, wrong]):
        with pytest.raises(
            InvalidInput, match=r"wrong\.scip does not match this project.*1 rejected: the file is not in the project"
        ):
            code.index(root, scip=named)
        assert further(memory) == {GraphSource.SCIP: {"user.py::go": "tools.py::helper"}}
        assert [each.name for each in code.status().scip] == ["index.scip"]


def test_the_status_lists_scip_indexes_until_their_files_change(code: Code, root: Path, tmp_path: Path) -> None:
    (tmp_path / "index.scip").write_bytes(index_of("user.py", "second.py"))
    code.index(root)
    assert (code.status().scip, code.status().scip_edges) == ((), 0)
    code.index(root, scip=tmp_path / "index.scip")
    in_it = ScipIndex("index.scip", "hand", confirmed=0, added=2, edges=2)
    assert (code.status().scip, code.status().scip_edges) == ((in_it,), 2)
    assert code.status().to_document()["scip"][0]["tool"] == "hand"
    (root / "user.py").write_text("x = 1\n")
    code.index(root)
    assert (code.status().scip, code.status().scip_edges) == ((in_it,), 1)
    (root / "second.py").write_text("x = 1\n")
    code.index(root)
    assert (code.status().scip, code.status().scip_edges) == ((), 0)


def test_answers_contain_source_and_confidence_of_edges(code: Code, root: Path, tmp_path: Path) -> None:
    (tmp_path / "index.scip").write_bytes(index_of("user.py"))
    code.index(root, scip=tmp_path / "index.scip")
    (user,) = code.impact("helper").dependents
    (used,) = (each for each in code.dependencies("go").dependencies if each.id == "tools.py::helper")
    step = code.path("go", "helper").steps[-1]
    (sink,) = (each for each in code.data_flow("go").sinks if each.id == "tools.py::helper")
    (source,) = code.data_flow("helper").sources
    told = [(each.source, each.confidence) for each in (user, used, step, sink, source)]
    assert told == [(GraphSource.SCIP, 1.0)] * 5


def test_several_indexes_are_added_together(memory: Memory, code: Code, root: Path, tmp_path: Path) -> None:
    named = [tmp_path / "one.scip", tmp_path / "two.scip"]
    named[0].write_bytes(index_of("user.py"))
    named[1].write_bytes(index_of("second.py"))
    assert len([note for note in code.index(root, scip=named).notes if ".scip by hand" in note]) == 2
    assert further(memory) == {GraphSource.SCIP: FIRST}


def test_edges_from_other_sources_are_kept(memory: Memory, code: Code, root: Path, tmp_path: Path) -> None:
    code.index(root)
    told = Edge("user.py::go", "tools.py::other", EdgeKind.CALLS, 0.5, 5)
    desk = code._project.at(root)
    with desk.writing() as index:
        new = index.describe(desk.owner, seen=generation(memory), root=str(root), version="v", complete=True)
        index.add_further({"user.py": pack_further({GraphSource.AGENT: [told]})}, new)
        index.release_lease(desk.owner)
    (tmp_path / "index.scip").write_bytes(index_of("user.py"))
    from treering.code.scip.merge import add_scip, read_scip_files

    for _ in range(2):
        add_scip(desk, read_scip_files([tmp_path / "index.scip"], 1_000_000))
        assert further(memory) == {
            GraphSource.AGENT: {"user.py::go": "tools.py::other"},
            GraphSource.SCIP: {"user.py::go": "tools.py::helper"},
        }


@pytest.mark.parametrize(
    "damage", [b"", b"SQLite format 3\x00" * 20, index_of("user.py")[:-9], b"\x0a\x00\x12\x01\xff"]
)
def test_a_damaged_index_is_noticed_before_anything_is_read(
    memory: Memory, code: Code, root: Path, tmp_path: Path, damage: bytes
) -> None:
    (tmp_path / "index.scip").write_bytes(damage)
    with pytest.raises(InvalidInput, match=r"index\.scip"):
        code.index(root, scip=tmp_path / "index.scip")
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        assert tx.code.state() is None


def test_no_source_is_read_through_a_link_or_beyond_the_limit(memory: Memory, root: Path, tmp_path: Path) -> None:
    (tmp_path / "index.scip").write_bytes(index_of("user.py", "second.py"))
    code_of(memory).index(root)
    from treering.code.scip.merge import add_scip, read_scip_files

    (root / "user.py").rename(tmp_path / "elsewhere.py")
    os.symlink(tmp_path / "elsewhere.py", root / "user.py")
    desk = code_of(memory, largest_file=len(FILES["tools.py"]))._project.at(root)
    (said,) = add_scip(desk, read_scip_files([tmp_path / "index.scip"], 1_000_000))
    assert "1 rejected: the file is not in the project" in said
    assert further(memory) == {GraphSource.SCIP: {"second.py::again": "tools.py::other"}}
    small = code_of(memory, largest_file=8)._project.at(root)
    with pytest.raises(InvalidInput, match="does not match this project"):
        add_scip(small, read_scip_files([tmp_path / "index.scip"], 1_000_000))


def test_indexes_above_the_limit_are_rejected_before_they_are_read(memory: Memory, root: Path, tmp_path: Path) -> None:
    first, second, huge = (tmp_path / f"{name}.scip" for name in ("first", "second", "huge"))
    first.write_bytes(index_of("user.py"))
    second.write_bytes(index_of("second.py"))
    with huge.open("wb") as file:
        file.truncate(2**40)
    size = max(first.stat().st_size, second.stat().st_size)
    code = code_of(memory, scip_bytes=size)
    code.index(root, scip=first)
    with pytest.raises(InvalidInput, match=r"second\.scip has .* the files before it .* setting index\.scip_bytes"):
        code.index(root, scip=[first, second])
    with pytest.raises(InvalidInput, match=rf"huge\.scip has 1,099,511,627,776 bytes; at most {size:,} bytes"):
        code.index(root, scip=huge)
    assert further(memory)[GraphSource.SCIP] == {"user.py::go": "tools.py::helper"}


def test_a_pipe_or_device_does_not_block(memory: Memory, root: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "index.scip")
    for path in (tmp_path / "index.scip", Path("/dev/zero"), tmp_path):
        with pytest.raises(InvalidInput, match=r"pass an index\.scip"):
            code_of(memory).index(root, scip=path)
