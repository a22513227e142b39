"""Blobs stay with their database, one lost blob costs one record, and a check sees what is wrong."""

import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text as sql

import treering
from tests.conftest import OpenMemory
from tests.samples import NOW, SMALL_BLOBS, by_words, sample
from treering.compose import now
from treering.core.episodes import Episode
from treering.core.errors import BlobMissing
from treering.core.jobs import Job
from treering.memory import Memory

LONG = "a long story " * 200


def blob_files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def age(root: Path) -> None:
    """As if these blobs had not been written recently."""
    for path in blob_files(root):
        os.utime(path, (time.time() - 9 * 86_400,) * 2)


def lose_blob(memory: Memory, text: str) -> None:
    for path in blob_files(Path(memory.store.blobs.location)):
        if text.encode() in path.read_bytes():
            path.unlink()


def run(memory: Memory, statement: str) -> None:
    with memory.store.upkeep(memory.scope, NOW) as context:  # type: ignore[attr-defined]
        context.connection.execute(sql(statement))


def problems(memory: Memory) -> dict[str, str]:
    return {check.name: check.detail for check in memory.doctor().checks if not check.fine and check.name != "pgvector"}


def test_databases_that_share_a_blob_root_never_touch_each_others_blobs(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    mine = open_memory(settings=SMALL_BLOBS, blobs=shared)
    mine.remember(LONG, id="mine")
    whose: dict[str, Any] = {"tenant": mine.scope.tenant, "project": mine.scope.project}
    with treering.open(tmp_path / "other.db", settings=SMALL_BLOBS, blobs=shared, **whose) as other:
        other.remember(LONG, id="theirs")
        age(shared)
        other.forget("theirs", hard=True)
        other.doctor(repair=True)
    assert mine.get("mine").content == LONG
    assert len(blob_files(shared)) == 1


def test_a_backup_is_a_database_of_its_own(open_engine: OpenMemory, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    memory = open_engine("sqlite", settings=SMALL_BLOBS, blobs=shared)
    memory.remember(LONG, id="kept")
    copy = memory.backup(tmp_path / "copy.db")
    age(shared)
    whose: dict[str, Any] = {"tenant": memory.scope.tenant, "project": memory.scope.project}
    with treering.open(copy, settings=SMALL_BLOBS, blobs=shared, **whose) as misplaced:
        misplaced.doctor(repair=True)
    with treering.open(copy, settings=SMALL_BLOBS, **whose) as restored:
        assert restored.get("kept").content == LONG
    assert memory.get("kept").content == LONG


def test_repair_names_a_record_it_cannot_read_and_goes_on(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=SMALL_BLOBS)
    memory.remember(f"lost {LONG}", id="lost", tags=["kept"])
    memory.remember("whole", id="whole", tags=["kept"])
    lose_blob(memory, "lost")
    run(memory, "DELETE FROM facets WHERE id = 'whole'")

    report = memory.doctor(repair=True)

    assert not report.healthy
    assert any("knowledge 'lost'" in line for line in report.repaired)
    assert "knowledge 'lost'" in problems(memory)["blobs"]
    assert "facets" not in problems(memory)
    with memory.store.reading(memory.scope, NOW) as tx:
        assert tx.knowledge.count(treering.KnowledgeFilter(tags=("kept",))) == 2


def test_nothing_is_swept_while_anything_is_wrong(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=SMALL_BLOBS)
    memory.remember(f"lost {LONG}", id="lost")
    orphan = memory.store.blobs.put(memory.scope, b"orphan")
    lose_blob(memory, "lost")
    age(Path(memory.store.blobs.location))
    memory.doctor(repair=True)
    assert memory.store.blobs.has(memory.scope, orphan)

    memory.forget("lost", hard=True)
    memory.doctor(repair=True)
    assert not memory.store.blobs.has(memory.scope, orphan)


def test_repair_removes_half_written_blobs(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=SMALL_BLOBS)
    memory.remember(LONG)
    left = Path(memory.store.blobs.location) / ".unfinished" / "left"
    left.write_bytes(b"half")
    age(left.parent)
    memory.doctor(repair=True)
    assert not left.exists()


@pytest.mark.parametrize("part", ["text", "artifact"])
def test_an_export_says_whose_blob_is_missing(open_memory: OpenMemory, tmp_path: Path, part: str) -> None:
    memory = open_memory(settings=SMALL_BLOBS)
    with memory.store.transaction(memory.scope, NOW) as tx:
        digest = memory.store.blobs.put(memory.scope, b"needle artifact")
        outcome = {"status": "SUCCESS", "artifacts": [{"name": "a", "digest": digest, "size": 15}]}
        tx.episodes.create(sample(Episode, "the-artifact", outcome=outcome))
    memory.remember(f"needle text {LONG}", id="the-text")
    lose_blob(memory, f"needle {part}")
    with pytest.raises(BlobMissing, match=f"the-{part}"):
        memory.export(tmp_path / "x.jsonl")
    assert not (tmp_path / "x.jsonl").exists()


def test_a_backup_says_what_it_could_not_copy_and_holds_the_rest(open_engine: OpenMemory, tmp_path: Path) -> None:
    memory = open_engine("sqlite", settings=SMALL_BLOBS)
    memory.remember(f"lost {LONG}", id="lost")
    memory.remember(f"kept {LONG}", id="kept")
    lose_blob(memory, "lost")
    with pytest.raises(BlobMissing, match=r"copy\.db was written, but 1 blobs"):
        memory.backup(tmp_path / "copy.db")
    with treering.open(tmp_path / "copy.db", tenant=memory.scope.tenant, project="p") as copy:
        assert copy.get("kept").content == f"kept {LONG}"


def test_a_backup_is_whole_when_a_record_is_purged_while_it_is_made(
    open_engine: OpenMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_engine("sqlite", settings=SMALL_BLOBS)
    memory.remember(f"purged {LONG}", id="purged")
    copy_to: Callable[[Path], object] = memory.store.copy_to

    def purged_meanwhile(target: Path) -> object:
        copied = copy_to(target)
        if memory.search("purged").hits:
            memory.forget("purged", hard=True)
        return copied

    monkeypatch.setattr(memory.store, "copy_to", purged_meanwhile)
    memory.backup(tmp_path / "copy.db")
    with treering.open(tmp_path / "copy.db", tenant=memory.scope.tenant, project="p") as copy:
        assert copy.doctor().healthy
        assert not copy.search("purged").hits


def test_a_check_sees_that_facets_are_gone_and_repair_brings_them_back(memory: Memory) -> None:
    memory.remember("found by its tag", id="tagged", tags=["t"])
    run(memory, "DELETE FROM facets")
    assert "1 of 1 knowledge records" in problems(memory)["facets"]
    memory.doctor(repair=True)
    assert problems(memory) == {}


INDEXES = {"sqlite": ("vectors",), "postgresql": ("postings", "vectors", "nearby")}
HARM = {
    "gone": "DELETE FROM documents WHERE id = 'harmed'",
    "other words": "UPDATE documents SET codes = (SELECT codes FROM documents WHERE id = 'whole'), "
    "counts = (SELECT counts FROM documents WHERE id = 'whole') WHERE id = 'harmed'",
    "another person's": "UPDATE documents SET owner = 'local' WHERE id = 'harmed'",
    "of no record": "UPDATE documents SET id = 'nobody' WHERE id = 'harmed'",
}


def read(memory: Memory, statement: str) -> list[Any]:
    with memory.store.reading(memory.scope, NOW) as tx:
        return list(tx._context.connection.execute(sql(statement)).all())  # type: ignore[attr-defined]


@pytest.mark.parametrize("harm", HARM)
def test_check_reports_differing_documents_and_repair_rebuilds_only_those(memory: Memory, harm: str) -> None:
    memory.remember("found by its words", id="harmed")
    memory.remember("left as it was", id="whole")
    memory.settle()
    assert len(memory.search("found words left")) == 2
    kept = "SELECT documents.*, digest, vector FROM documents JOIN vectors USING (number) WHERE id = 'whole'"
    before = read(memory, kept)
    run(memory, HARM[harm])

    assert "1 of 2 knowledge records" in problems(memory)["facets"]
    memory.doctor(repair=True)

    assert problems(memory) == {}
    assert read(memory, kept) == before
    assert len(before) == 1
    with memory.store.reading(memory.scope, NOW) as tx:
        assert by_words(tx, "words", knowledge=treering.KnowledgeFilter()) == {"harmed"}
        assert by_words(tx, "left", knowledge=treering.KnowledgeFilter()) == {"whole"}
    assert "meaning of some" not in memory.search("words").missing


def test_repair_leaves_nothing_of_documents_that_are_gone(memory: Memory, engine: str) -> None:
    memory.remember("found by its words", id="harmed")
    assert memory.search("words")
    run(memory, HARM["gone"])
    memory.doctor(repair=True)
    for table in INDEXES[engine]:
        assert read(memory, f"SELECT number FROM {table} WHERE number NOT IN (SELECT number FROM documents)") == []


def test_a_check_sees_that_words_of_documents_are_gone_and_repair_brings_them_back(
    open_engine: OpenMemory, postgres_url: str
) -> None:
    memory = open_engine("postgresql")
    memory.remember("found by its words", id="harmed")
    run(memory, "DELETE FROM postings")
    assert problems(memory)
    memory.doctor(repair=True)
    assert problems(memory) == {}
    held = "SELECT number, count(*) FROM postings GROUP BY number ORDER BY number"
    assert read(memory, held) == read(memory, "SELECT number, length(counts) FROM documents ORDER BY number")


@pytest.mark.timeout(20)
@pytest.mark.parametrize("which", ["first", "last"])
def test_a_vector_that_was_lost_is_made_again(open_memory: OpenMemory, which: str) -> None:
    with open_memory() as memory:
        for id in ("first", "last"):
            memory.remember(f"the {id} of its kind", id=id)
        assert memory.search("kind")
        run(memory, f"DELETE FROM vectors WHERE number = (SELECT number FROM documents WHERE id = '{which}')")
    again = open_memory()
    again.doctor(repair=True)
    assert "meaning of some" not in again.search("kind").missing
    assert len(read(again, "SELECT number FROM vectors")) == 2


def test_a_check_waits_for_no_writer_and_keeps_none_waiting(open_memory: OpenMemory) -> None:
    impatient = treering.Settings.make(store={"busy_seconds": 0.2})
    memory, writer = open_memory(settings=impatient), open_memory(settings=impatient)
    memory.remember("something")
    with writer.store.transaction(writer.scope, NOW):
        assert problems(memory) == {}


def test_dead_jobs_are_named_and_repair_tries_them_again(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, now()) as tx:
        tx.jobs.enqueue(Job(id="j", kind="digest", run_at=NOW, created_at=NOW, max_attempts=1))
        (job,) = tx.jobs.lease("me", ["digest"], limit=1, duration=timedelta(minutes=1))
        tx.jobs.fail(job, "no such model", retry_at=now())
    report = memory.doctor()
    assert [(job.id, job.kind, job.error) for job in report.dead_jobs] == [("j", "digest", "no such model")]
    assert not report.healthy
    again = memory.doctor(repair=True)
    assert again.dead_jobs == ()
    assert "queued 1 dead jobs again" in again.repaired
