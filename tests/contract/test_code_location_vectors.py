"""Vectors of code come without being asked for: whoever asks where something is makes them, within limits."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.code_projects import written
from tests.conftest import OpenMemory
from treering.adapters.sql.code_chunks import StoredChunks
from treering.code.index.report import IndexPhase, IndexProgress
from treering.core.errors import StoreFull
from treering.core.settings import EmbedderSettings, FindingSettings, IndexSettings, Settings
from treering.memory import Memory
from treering.ports.code_chunks import ChunkCoverage

COUNT = 12
FILES = {f"web/step_{number}.py": f"def step_{number}():\n    return {number}\n" for number in range(COUNT)}
QUESTION = "where is step_3?"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path / "project", FILES)


def settings(inline: int = 1_000, seconds: float = 5.0) -> Settings:
    finding = FindingSettings(embed_seconds=seconds)
    return Settings(
        embedder=EmbedderSettings(batch=2, inline=inline, inline_seconds=60.0), index=IndexSettings(finding=finding)
    )


def coverage(memory: Memory) -> ChunkCoverage:
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        return tx.chunks.coverage(memory.models.embedder((), hurried=False).model)


def test_the_first_query_embeds_all_chunks_and_reports_it(open_memory: OpenMemory, root: Path) -> None:
    memory = open_memory(settings=settings(inline=1), background=False)
    memory.code.index(root)
    assert coverage(memory).vectors == 0
    told = list[IndexProgress]()
    found = memory.code.where(QUESTION, on_progress=told.append)
    assert coverage(memory) == ChunkCoverage(COUNT, COUNT)
    assert (found.embedded, found.missing) == (COUNT, {})
    assert {each.phase for each in told} == {IndexPhase.VECTORS}
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert told[-1] == IndexProgress(IndexPhase.VECTORS, COUNT, COUNT)
    assert memory.code.where(QUESTION).embedded == 0


def test_no_longer_than_allowed_and_the_next_question_goes_on(open_memory: OpenMemory, root: Path) -> None:
    memory = open_memory(settings=settings(seconds=1e-9), background=False)
    memory.code.index(root)
    found = memory.code.where(QUESTION)
    assert found.embedded == 2
    assert f"10 of {COUNT} chunks have no vector" in found.missing["meaning of some"]
    assert memory.code.where(QUESTION).embedded == 2
    assert coverage(memory) == ChunkCoverage(COUNT, 4)


def test_without_a_time_for_it_only_few_are_made(open_memory: OpenMemory, root: Path) -> None:
    memory = open_memory(settings=settings(inline=3, seconds=0), background=False)
    memory.code.index(root)
    assert memory.code.where(QUESTION).embedded == 4


def test_a_hurried_query_embeds_few_chunks(open_memory: OpenMemory, root: Path) -> None:
    memory = open_memory(settings=settings(inline=3), background=False)
    memory.code.index(root)
    assert memory.code.where(QUESTION, hurried=True).embedded == 4
    assert memory.search(QUESTION).code
    assert coverage(memory) == ChunkCoverage(COUNT, 8)
    none = open_memory(settings=settings(inline=0), background=False)
    assert none.code.where(QUESTION, hurried=True).embedded == 0


def test_a_search_reports_code_found_by_words_only(open_memory: OpenMemory, root: Path) -> None:
    memory = open_memory(settings=settings(inline=0), background=False)
    memory.code.index(root)
    answer = memory.search(QUESTION)
    assert answer.code[0].symbol == "step_3"
    assert "words only" in answer.missing["meaning of code"]
    assert memory.search("where is xyzzy plugh?").code == ()
    memory.code.where(QUESTION)
    assert "meaning of code" not in memory.search(QUESTION).missing


def test_a_question_about_nothing_here_is_answered_with_nothing(open_memory: OpenMemory, root: Path) -> None:
    memory = open_memory(settings=settings(), background=False)
    memory.code.index(root)
    found = memory.code.where("xyzzy plugh quux")
    assert len(found) == 0
    assert coverage(memory) == ChunkCoverage(COUNT, COUNT)
    assert memory.code.where(QUESTION)[0].symbol == "step_3"


def test_files_that_may_not_be_read_here_are_not_embedded(open_memory: OpenMemory, root: Path) -> None:
    open_memory(settings=settings(), background=False).code.index(root)
    elsewhere = open_memory(settings=settings(), background=False)
    found = elsewhere.code.where(QUESTION)
    assert found[0].symbol == "step_3"
    assert found.embedded == 0
    assert "words only" in found.missing["meaning"]


@contextmanager
def busy(memory: Memory) -> Iterator[None]:
    """Nothing can be written without waiting for another process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory.store, "write_if_free", lambda *_given, **_options: False)
        yield


def test_vectors_made_beside_a_writer_are_stored_by_the_next_question(open_memory: OpenMemory, root: Path) -> None:
    memory = open_memory(settings=settings(), background=False)
    memory.code.index(root)
    with busy(memory):
        assert memory.code.where(QUESTION).missing == {}
        assert coverage(memory).vectors == 0
    assert memory.code.where(QUESTION).embedded == 0
    assert coverage(memory) == ChunkCoverage(COUNT, COUNT)


def test_vectors_made_beside_a_writer_are_stored_when_the_memory_is_closed(open_memory: OpenMemory, root: Path) -> None:
    with open_memory(settings=settings(), background=False) as memory:
        memory.code.index(root)
        with busy(memory):
            memory.code.where(QUESTION)
    assert coverage(open_memory(settings=settings(), background=False)) == ChunkCoverage(COUNT, COUNT)


def test_held_vectors_of_removed_or_stored_chunks_do_not_count(open_memory: OpenMemory, root: Path) -> None:
    memory = open_memory(settings=settings(), background=False)
    memory.code.index(root)
    with busy(memory):
        memory.code.where(QUESTION)
        (root / "web/step_0.py").write_text("def another_step():\n    return 'another'\n")
        (root / "web/step_1.py").write_text("def one_more_step():\n    return 'one more'\n")
        memory.code.index(root)
        found = memory.code.where(QUESTION)
        assert (found.embedded, found.missing) == (2, {})
        with open_memory(settings=settings(), background=False) as other:
            other.code.index(root)
            other.code.where(QUESTION)
        (root / "web/step_2.py").write_text("def the_last_step():\n    return 'last'\n")
        memory.code.index(root)
        assert memory.code.where("where is the last step?").embedded == 1


def test_a_query_that_cannot_store_vectors_is_answered_with_the_reason(open_memory: OpenMemory, root: Path) -> None:
    memory = open_memory(settings=settings(), background=False)
    memory.code.index(root)

    def full(*_given: object) -> None:
        raise StoreFull("the disk is full")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StoredChunks, "add_vectors", full)
        found = memory.code.where(QUESTION)
    assert found[0].symbol == "step_3"
    assert list(found.missing) == ["stored vectors"]
    assert "the disk is full" in found.missing["stored vectors"]
    assert memory.code.where(QUESTION).missing == {}
