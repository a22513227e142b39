"""Export, import and backup: nothing is lost on the way, nothing half-read is kept."""

import gzip
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import treering
from tests.conftest import ENGINES, OpenMemory
from tests.examples import examples
from tests.property.strategies import RECORDS, records, values
from tests.samples import COLLECTIONS, NOW, SMALL_BLOBS, free_of_secrets, knowledge, put, sample
from treering.archive.export import export_lines, export_to
from treering.archive.portable import PARTS
from treering.core.co_access import CoAccessEdge
from treering.core.episodes import Episode
from treering.core.errors import Conflict, InvalidInput, StoreError, StoreReadOnly, TreeringError
from treering.core.history import AuditEntry, Revision
from treering.core.jobs import Job
from treering.core.records import Knowledge
from treering.memory import Memory

LONG = "a long story " * 200
HISTORY = (AuditEntry, Revision)


def fill(memory: Memory) -> None:
    """Something of every kind, with changes, blobs and an artifact."""
    digest = memory._parts.blobs.put(memory.scope, b"artifact")  # type: ignore[attr-defined]
    artifact = {"name": "a", "digest": digest, "size": 8}
    with memory.store.transaction(memory.scope, NOW) as tx:
        put(tx, [sample(cls, f"x-{cls.__name__}") for cls in COLLECTIONS if cls not in HISTORY])
        outcome = {"status": "SUCCESS", "artifacts": [artifact]}
        put(tx, [sample(Episode, "with artifact", outcome=outcome)])
    old = memory.remember(LONG, tags=["old"], visibility="personal")
    memory.correct(old.id, "outdated", text=f"newer {LONG}")
    memory.turn(session="talk", role="user", text=LONG, at="1:56 pm on 8 May, 2023")
    memory.forget(memory.remember("forgotten").id)


def lines(memory: Memory, **options: bool) -> list[str]:
    """What an export would hold, but for its header; unlike a real one this leaves no entry in the audit log."""
    history = options.get("history", False)
    blobs = memory._parts.blobs  # type: ignore[attr-defined]
    return list(export_lines(memory.scope, memory.store, blobs, NOW, history=history))[1:]


def test_every_kind_but_jobs_has_a_place_in_an_export() -> None:
    assert {part.value for part in PARTS} == set(RECORDS) - {Job}


@pytest.mark.parametrize("other", ENGINES)
@pytest.mark.parametrize("name", ["memory.jsonl", "memory.jsonl.gz"])
def test_an_export_read_by_another_memory_is_exported_the_same(
    open_memory: OpenMemory, open_engine: OpenMemory, tmp_path: Path, other: str, name: str
) -> None:
    source = open_memory(settings=SMALL_BLOBS)
    fill(source)
    file = tmp_path / name
    assert source.export(file) == len(lines(source)) + 1
    target = open_engine(other, project="elsewhere", settings=SMALL_BLOBS)

    read = target.import_(file)

    assert (read.added, read.known, read.conflicts) == (len(lines(source)) - 2, 0, ())  # but for blob and footer
    assert lines(target) == lines(source)
    assert {hit.text for hit in target.search("story")} == {hit.text for hit in source.search("story")}
    assert target.doctor().healthy


def test_history_travels_too_where_it_is_asked_for(open_memory: OpenMemory, tmp_path: Path) -> None:
    source, target = open_memory(project="source"), open_memory(project="target")
    fill(source)
    source.export(tmp_path / "plain.jsonl")
    source.export(tmp_path / "whole.jsonl", history=True)
    assert b"forgotten" not in (tmp_path / "plain.jsonl").read_bytes()

    target.import_(tmp_path / "whole.jsonl")

    with source.store.reading(source.scope, NOW) as tx:
        revisions, log = list(tx.revisions.stream()), list(tx.audit.stream())
    with target.store.reading(target.scope, NOW) as tx:
        assert list(tx.revisions.stream()) == revisions
        assert set(log) <= set(tx.audit.stream())
    undone = target.undo(next(entry.subject for entry in reversed(log) if entry.kind == "knowledge"))
    assert undone is not None


def test_importing_twice_is_importing_once(open_memory: OpenMemory, tmp_path: Path) -> None:
    source, target = open_memory(project="source"), open_memory(project="target")
    fill(source)
    source.export(tmp_path / "x.jsonl", history=True)
    first = target.import_(tmp_path / "x.jsonl")
    before = lines(target, history=True)

    second = target.import_(tmp_path / "x.jsonl")

    assert (second.added, second.known, second.conflicts) == (0, first.added, ())
    assert lines(target, history=True) == before


def test_a_record_that_differs_is_left_as_it_is_and_named(open_memory: OpenMemory, tmp_path: Path) -> None:
    source, target = open_memory(project="source"), open_memory(project="target")
    source.remember("theirs", id="same")
    target.remember("mine", id="same")
    source.export(tmp_path / "x.jsonl")
    read = target.import_(tmp_path / "x.jsonl")
    assert read.conflicts == ("knowledge same",)
    assert target.get("same").content == "mine"


def test_a_computed_record_that_differs_is_left_as_it_is_and_named(open_memory: OpenMemory, tmp_path: Path) -> None:
    source, target = open_memory(project="source"), open_memory(project="target")
    for memory, second in ((source, "theirs.py"), (target, "mine.py")):
        with memory.store.transaction(memory.scope, NOW) as tx:
            put(tx, [sample(CoAccessEdge, "same", second=second)])
    source.export(tmp_path / "x.jsonl")

    read = target.import_(tmp_path / "x.jsonl")

    assert (read.added, read.conflicts) == (0, ("co_access same",))
    with target.store.reading(target.scope, NOW) as tx:
        assert tx.co_access.get("same") == sample(CoAccessEdge, "same", second="mine.py")


def test_lines_of_kinds_that_are_no_longer_stored_are_skipped_and_counted(memory: Memory, tmp_path: Path) -> None:
    node = {"id": "n", "kind": "file", "label": "a.py"}
    entries = [
        {"treering": 1, "project": "old", "exported_at": "2026-05-08T13:56:00Z"},
        {"kind": "knowledge", "value": json.loads(knowledge("kept").to_json())},
        *({"kind": kind, "value": node} for kind in ("graph_node", "graph_node", "graph_edge")),
        {"end": {"knowledge": 1, "graph_node": 2, "graph_edge": 1}},
    ]
    (tmp_path / "old.jsonl").write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))

    read = memory.import_(tmp_path / "old.jsonl")

    assert (read.added, read.known, read.conflicts) == (1, 0, ())
    assert read.skipped == {"graph_node": 2, "graph_edge": 1}
    assert memory.get("kept").content == knowledge("kept").content


def test_personal_records_belong_to_the_importing_principal(open_memory: OpenMemory, tmp_path: Path) -> None:
    source = open_memory(project="source", principal="ada")
    target = open_memory(project="target", principal="bob")
    source.remember("personal", id="own", visibility="personal")
    source.remember("shared", id="shared")
    source.export(tmp_path / "x.jsonl")

    assert target.import_(tmp_path / "x.jsonl").added == 2

    assert (target.get("own").owner, target.get("shared").owner) == ("bob", "ada")


@examples(8)
@given(data=st.data())
def test_any_records_survive_the_trip(open_memory: OpenMemory, tmp_path: Path, data: st.DataObject) -> None:
    drawn = [data.draw(values(cls)) for cls in RECORDS if cls not in (Job, Episode)] + data.draw(records(Knowledge))
    mine = [each.replace(owner="local") if "owner" in type(each).model_fields else each for each in drawn]
    assume(all(map(free_of_secrets, mine)))
    source, target = open_memory(project=f"a{uuid.uuid4()}"), open_memory(project=f"b{uuid.uuid4()}")
    with source.store.transaction(source.scope, NOW) as tx:
        put(tx, {(type(each), each.id): each for each in mine}.values())
    source.export(tmp_path / "x.jsonl")
    target.import_(tmp_path / "x.jsonl")
    assert [line for line in lines(target) if '"session"' not in line[:30]] == [
        line for line in lines(source) if '"session"' not in line[:30]
    ]
    for memory in (source, target):
        memory.close()


DAMAGES: dict[str, Callable[[list[str]], list[str]]] = {
    "cut off": lambda good: good[:-2],
    "without its end": lambda good: good[:-1],
    "cut in a line": lambda good: [*good[:-2], good[-2][: len(good[-2]) // 2]],
    "a line lost": lambda good: [*good[:2], *good[3:]],
    "a line doubled": lambda good: [*good[:2], *good[1:]],
    "text after the end": lambda good: [*good, good[1]],
    "no header": lambda good: good[1:],
    "empty": lambda good: [],
    "not JSON": lambda good: [good[0], "nonsense", *good[1:]],
    "not an object": lambda good: [good[0], "[1]", *good[1:]],
    "too deep": lambda good: [good[0], "[" * 100_000, *good[1:]],
    "an unknown kind": lambda good: [good[0], '{"kind": "spell", "value": {}}', *good[1:]],
    "a strange kind": lambda good: [good[0], '{"kind": ["x"], "value": {}}', *good[1:]],
    "an invalid value": lambda good: [good[0], '{"kind": "knowledge", "value": {"id": 5}}', *good[1:]],
    "a bad blob": lambda good: [good[0], '{"kind": "blob", "value": "%%%"}', *good[1:]],
    "from the future": lambda good: ['{"treering": 99}', *good[1:]],
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_export_is_refused_and_nothing_of_it_is_kept(
    open_memory: OpenMemory, tmp_path: Path, kind: str
) -> None:
    source, target = open_memory(project="source"), open_memory(project="target")
    fill(source)
    target.remember("was here before")
    before = lines(target, history=True)
    (tmp_path / "x.jsonl").write_text("".join(f"{line}\n" for line in DAMAGES[kind](list(source.export_lines()))))

    with pytest.raises((InvalidInput, Conflict)):
        target.import_(tmp_path / "x.jsonl")

    assert lines(target, history=True) == before


@pytest.mark.parametrize(
    "content", [gzip.compress(b'{"treering": 1}\n' * 9_000)[:-20], b"\x1f\x8b nonsense", b"\xff\xfe\x00 not text"]
)
def test_a_file_that_cannot_be_read_is_refused(memory: Memory, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    for path in (tmp_path / "x", tmp_path / "missing", tmp_path):
        with pytest.raises(InvalidInput):
            memory.import_(path)


def test_an_export_that_cannot_be_written_leaves_nothing_behind(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(StoreReadOnly, match="create it first"):
        memory.export(tmp_path / "no" / "x.jsonl")
    (tmp_path / "x.jsonl").write_text('{"treering": 1} precious')

    def breaking() -> Any:
        yield "{}"
        raise InvalidInput("in the middle")

    with pytest.raises(InvalidInput):
        export_to(tmp_path / "x.jsonl", breaking())
    left = {path.name for path in tmp_path.iterdir() if not path.name.startswith("memory.db")}
    assert left == {"x.jsonl"}
    assert (tmp_path / "x.jsonl").read_text() == '{"treering": 1} precious'


def test_a_backup_opens_by_itself_with_its_blobs_and_history(open_memory: OpenMemory, tmp_path: Path) -> None:
    source = open_memory(settings=SMALL_BLOBS)
    fill(source)
    target = tmp_path / "kept" / "backup.db"
    target.parent.mkdir()
    assert source.backup(target) == target
    before = lines(source)
    (changed,) = source.search("newer", limit=1)
    source.forget(changed.id, hard=True)

    with treering.open(target, project="p", tenant=source.scope.tenant) as copy:
        assert copy.store.engine == "sqlite"
        assert lines(copy) == before
        assert copy.get(changed.id).content == f"newer {LONG}"
        assert copy.undo(changed.id) is None
        assert copy.doctor().healthy
    assert {file.name for file in target.parent.iterdir()} == {"backup.db", "backup.db.blobs"}


def test_a_backup_never_overwrites_and_needs_its_folder(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("precious")
    with pytest.raises(InvalidInput, match="exists already"):
        memory.backup(tmp_path / "taken")
    with pytest.raises(StoreError, match="create it first"):
        memory.backup(tmp_path / "no" / "backup.db")
    assert (tmp_path / "taken").read_text() == "precious"


def test_an_export_is_plain_json_lines(memory: Memory) -> None:
    memory.remember("plain")
    header, record, end = map(json.loads, memory.export_lines())
    assert header["treering"] == 1
    assert record["value"]["content"] == "plain"
    assert end == {"end": {"knowledge": 1}}


def test_export_backup_and_repair_are_in_the_audit_log(memory: Memory, tmp_path: Path) -> None:
    memory.remember("kept")
    memory.export(tmp_path / "x.jsonl")
    memory.backup(tmp_path / "copy.db")
    memory.doctor(repair=True)

    done = [entry.action.value for entry in memory.history(memory.scope.project)]

    assert done == ["repair", "backup", "export"]


@pytest.mark.parametrize("taken", ["a file of somebody else", "a folder", "no folder", "the database"])
def test_a_refused_export_or_backup_is_not_in_the_audit_log(memory: Memory, tmp_path: Path, taken: str) -> None:
    target = tmp_path / "taken"
    if taken == "a file of somebody else":
        target.write_text("precious")
    elif taken == "a folder":
        target.mkdir()
    elif taken == "no folder":
        target = tmp_path / "no" / "folder" / "x"
    elif taken == "the database":
        target = Path(memory.store.location) if memory.store.engine == "sqlite" else tmp_path
    for write in (memory.export, memory.backup):
        with pytest.raises(TreeringError):
            write(target)

    assert memory.audit(actions=["export", "backup"]) == ()
