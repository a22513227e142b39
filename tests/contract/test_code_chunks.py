"""Pieces of code that are found by words and vectors, on both engines: replaced with their file, gone with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from tests.conftest import OpenMemory
from treering.code.chunks import chunks_of
from treering.code.chunks.words import stored_chunks
from treering.code.facts import Definition, DefinitionKind
from treering.code.locations.chunk_search import ChunkSearch
from treering.core.settings import ChunkSettings
from treering.memory import Memory
from treering.ports.code_chunks import ChunkCoverage, CodeChunks, StoredChunk

NOW = datetime(2026, 5, 8, 12, tzinfo=UTC)
APART = ChunkSettings(joined_bytes=0)
TEXT = (
    "def follow_redirect(request):\n    return request.location\n\n\ndef decode_gzip(data):\n    return unzip(data)\n"
)
FUNCTIONS = (("follow_redirect", 1, 2), ("decode_gzip", 5, 6))


@contextmanager
def writing(memory: Memory) -> Iterator[CodeChunks]:
    with memory.store.transaction(memory.scope, NOW) as tx:
        yield tx.chunks


@contextmanager
def reading(memory: Memory) -> Iterator[CodeChunks]:
    with memory.store.reading(memory.scope, NOW) as tx:
        yield tx.chunks


def cut(path: str, text: str = TEXT) -> tuple[StoredChunk, ...]:
    definitions = [Definition(name, DefinitionKind.FUNCTION, line, end) for name, line, end in FUNCTIONS]
    return stored_chunks(chunks_of(path, text, definitions, APART))


def test_chunks_are_found_as_they_were_put_by_path_and_place(memory: Memory) -> None:
    chunks = {path: cut(path) for path in ("b.py", "a.py")}
    with writing(memory) as kept:
        kept.put(chunks)
    with reading(memory) as kept:
        assert list(kept.every()) == [*chunks["a.py"], *chunks["b.py"]]


def test_chunks_of_a_file_are_replaced_and_leave_with_it(memory: Memory) -> None:
    new = cut("a.py", TEXT.replace("unzip", "inflate"))
    with writing(memory) as kept:
        kept.put({"a.py": cut("a.py"), "b.py": cut("b.py")})
        kept.put({"a.py": new, "b.py": ()})
        assert list(kept.every()) == list(new)
        kept.put({"a.py": ()})
        assert list(kept.every()) == []


def test_a_vector_stays_with_its_text_and_leaves_with_the_last_of_it(memory: Memory) -> None:
    first, second = cut("a.py")
    with writing(memory) as kept:
        kept.put({"a.py": (first, second)})
        kept.add_vectors("m", {first.digest: b"12", second.digest: b"34", "of no chunk": b"56"})
        assert kept.vectors("m") == {first.digest: b"12", second.digest: b"34"}
        kept.put({"a.py": cut("a.py", TEXT.replace("unzip", "inflate"))})
        assert kept.vectors("m") == {first.digest: b"12"}
        kept.put({"a.py": ()})
        assert kept.vectors("m") == {}


def test_a_vector_stays_where_another_chunk_has_its_text(memory: Memory) -> None:
    chunk = cut("a.py")[0]
    with writing(memory) as kept:
        kept.put({"a.py": (chunk,), "b.py": cut("b.py")})
        twin = StoredChunk("c.py", 0, *(getattr(chunk, name) for name in StoredChunk.__slots__[2:]))
        kept.put({"c.py": (twin,)})
        kept.add_vectors("m", {chunk.digest: b"12"})
        kept.put({"a.py": ()})
        assert kept.vectors("m") == {chunk.digest: b"12"}


def test_chunks_without_a_vector_of_the_model_are_listed(memory: Memory) -> None:
    first, second = cut("a.py")
    with writing(memory) as kept:
        kept.put({"a.py": (first, second)})
        assert [each.digest for each in kept.unembedded("m", limit=9)] == [first.digest, second.digest]
        assert len(kept.unembedded("m", limit=1)) == 1
        kept.add_vectors("m", {first.digest: b"12"})
        kept.add_vectors("m", {first.digest: b"99"})
        assert [each.digest for each in kept.unembedded("m", limit=9)] == [second.digest]
        assert len(kept.unembedded("other", limit=9)) == 2
        assert kept.vectors("m") == {first.digest: b"12"}


def test_another_project_sees_nothing_of_them(open_memory: OpenMemory) -> None:
    one, other = open_memory(project="one"), open_memory(project="other")
    with writing(one) as kept:
        kept.put({"a.py": cut("a.py")})
        kept.add_vectors("m", {cut("a.py")[0].digest: b"12"})
    with writing(other) as kept:
        assert list(kept.every()) == []
        assert kept.vectors("m") == {}
        kept.clear()
    with reading(one) as kept:
        assert len(kept.every()) == 2
        assert len(kept.vectors("m")) == 1


def test_clearing_keeps_vectors_for_chunks_added_again(memory: Memory) -> None:
    first, second = cut("a.py")
    with writing(memory) as kept:
        kept.put({"a.py": (first, second)})
        kept.add_vectors("m", {first.digest: b"12", second.digest: b"34"})
        kept.clear()
        assert list(kept.every()) == []
        kept.put({"a.py": (first,)})
        kept.drop_unused_vectors()
        assert kept.vectors("m") == {first.digest: b"12"}


def test_paging_after_a_chunk_lists_every_other_chunk_once(memory: Memory) -> None:
    with writing(memory) as kept:
        kept.put({path: cut(path) for path in ("a.py", "b/c.py", "b.py")})
        seen, after = [], None
        while some := kept.unembedded("m", limit=1, after=after):
            after = (some[0].path, some[0].place)
            seen.append(after)
        assert seen == [("a.py", 0), ("a.py", 1), ("b.py", 0), ("b.py", 1), ("b/c.py", 0), ("b/c.py", 1)]


def test_coverage_counts_chunks_and_those_with_a_vector(memory: Memory) -> None:
    first, second = cut("a.py")
    with writing(memory) as kept:
        assert kept.coverage("m") == ChunkCoverage(0, 0)
        kept.put({"a.py": (first, second)})
        kept.add_vectors("m", {first.digest: b"12"})
        kept.add_vectors("other", {first.digest: b"56", second.digest: b"78"})
        assert kept.coverage("m") == ChunkCoverage(2, 1)
        assert kept.drop_vectors(but="m") == 2
        assert kept.coverage("other") == ChunkCoverage(2, 0)
        assert kept.coverage("m") == ChunkCoverage(2, 1)


def test_where_something_is_is_answered_with_path_symbol_and_lines(memory: Memory) -> None:
    with writing(memory) as kept:
        kept.put({"web/client.py": cut("web/client.py")})
    with reading(memory) as kept:
        best, *_ = ChunkSearch(kept.every()).find("where are redirects followed?")
    assert (best.path, best.symbol, best.start_line, best.end_line) == ("web/client.py", "follow_redirect", 1, 4)
