"""Places of code, from chunks with words and vectors: one for each definition, and none that are there by chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treering.code.chunks.chunk import CodeChunk
from treering.code.chunks.split import chunks_of
from treering.code.chunks.words import stored_chunks
from treering.code.facts import Definition, DefinitionKind
from treering.code.limits import ChunkLimits
from treering.code.locations.chunk_search import ChunkSearch
from treering.ports.code_chunks import StoredChunk

BODY = "".join(f"    step_{number} = redirect(step_{number - 1})\n" for number in range(1, 60))
LONG = f"def follow(step_0):\n    first = step_0\n{BODY}    return location_of(step_59)\n"


def chunks_in(text: str, *definitions: tuple[str, int, int]) -> tuple[StoredChunk, ...]:
    known = [Definition(name, DefinitionKind.FUNCTION, line, end) for name, line, end in definitions]
    return stored_chunks(chunks_of("web.py", text, known, ChunkLimits(most_bytes=600)))


def test_a_long_function_is_one_place_that_begins_with_its_definition() -> None:
    chunks = chunks_in(LONG, ("follow", 1, LONG.count("\n")))
    assert len(chunks) > 3
    assert {chunk.symbol for chunk in chunks} == {"follow"}
    (place,) = ChunkSearch(chunks).find("location of")
    assert (place.symbol, place.start_line, place.end_line) == ("follow", 1, LONG.count("\n"))
    assert place.digest == chunks[0].digest
    assert place.score == 1.0
    (first,) = ChunkSearch(chunks).find("first")
    assert (first.start_line, first.end_line) == (1, chunks[0].end_line)


def test_a_definition_inside_a_long_function_is_its_own_location() -> None:
    inner = "    def each_hop():\n        return hop\n"
    text = LONG.replace("    first = step_0\n", f"    first = step_0\n{inner}{BODY}")
    chunks = chunks_in(text, ("follow", 1, text.count("\n")), ("follow.each_hop", 3, 4))
    found = ChunkSearch(chunks).find("hop location", limit=10)
    assert all(place.start_line == 1 or "each_hop" in place.symbol for place in found)
    assert len({place.start_line for place in found}) == len(found)


@given(st.data())
def test_no_two_places_of_an_answer_begin_alike_and_each_ends_behind_its_beginning(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(["", "a", "b", "a, b", "a.c"]), min_size=1, max_size=12))
    words = stored_chunks(chunks_of("web.py", "redirect\n", []))[0]
    chunks = [
        StoredChunk("web.py", place, name, place + 1, place + 1, str(place), 1, words.codes, words.counts)
        for place, name in enumerate(names)
    ]
    found = ChunkSearch(chunks).find("redirect", limit=20)
    assert len({place.start_line for place in found}) == len(found)
    assert all(place.start_line <= place.end_line for place in found)
    parts_of_one = [place.symbol for place in found if place.symbol and ", " not in place.symbol]
    assert len(parts_of_one) == len(set(parts_of_one))


def vectored(count: int) -> tuple[list[StoredChunk], dict[str, bytes]]:
    chunks = [
        StoredChunk("web.py", place, f"part_{place}", place + 1, place + 1, str(place), 0, b"", b"")
        for place in range(count)
    ]
    drawn = np.random.default_rng(7).standard_normal((count, 64))
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return chunks, {str(place): row.astype("<f2").tobytes() for place, row in enumerate(drawn)}


def test_chunks_similar_by_chance_are_not_returned() -> None:
    chunks, vectors = vectored(300)
    search = ChunkSearch(chunks, vectors)
    nowhere = np.random.default_rng(11).standard_normal(64).astype(np.float32)
    assert search.find("xyzzy plugh", nowhere)
    assert search.find("xyzzy plugh", nowhere, apart=5.0) == ()


def test_an_outlier_is_found_without_a_shared_word() -> None:
    chunks, vectors = vectored(300)
    meant = np.frombuffer(vectors["42"], "<f2").astype(np.float32)
    (place,) = ChunkSearch(chunks, vectors).find("xyzzy plugh", meant, apart=5.0)
    assert place.symbol == "part_42"


def test_with_a_shared_word_any_similarity_counts() -> None:
    chunks, vectors = vectored(300)
    nowhere = np.random.default_rng(11).standard_normal(64).astype(np.float32)
    search = ChunkSearch(chunks, vectors)
    assert {place.symbol for place in search.find("part", nowhere, limit=3, apart=5.0)} == {
        place.symbol for place in search.find("part", nowhere, limit=3)
    }


@pytest.mark.parametrize("apart", [0.0, 5.0])
def test_vectors_that_are_all_alike_find_nothing(apart: float) -> None:
    chunks, _ = vectored(3)
    alike = {chunk.digest: np.ones(64, "<f2").tobytes() for chunk in chunks}
    assert ChunkSearch(chunks, alike).find("xyzzy", np.ones(64, np.float32), apart=apart) == ()


@pytest.mark.parametrize("others", [0, 30], ids=["question", "report"])
def test_similarity_counts_for_a_file_by_its_three_best_chunks(others: int) -> None:
    """All chunks have the same words; the file with more similar chunks comes first, though the other has the best."""
    query = " ".join(["parse", *(f"unrelated{number}" for number in range(others))])
    files = {"one.py": (0.9, 0.1, 0.1), "several.py": (0.8, 0.8, 0.8), "none.py": (-0.9, -0.9, -0.9)}
    cut = [
        CodeChunk(path, f"part_{place}", place + 1, place + 1, "parse", "", f"{path} {place}")
        for path, similarities in files.items()
        for place in range(len(similarities))
    ]
    chunks = [stored for path in files for stored in stored_chunks([each for each in cut if each.path == path])]
    similar = [value for values in files.values() for value in values]
    rows = [np.array([value, (1 - value**2) ** 0.5 * (-1) ** place]) for place, value in enumerate(similar)]
    vectors = {chunk.digest: row.astype("<f2").tobytes() for chunk, row in zip(chunks, rows, strict=True)}
    found = ChunkSearch(chunks, vectors).find(query, np.array([1, 0], np.float32), limit=9)
    assert list(dict.fromkeys(place.path for place in found)) == ["several.py", "one.py", "none.py"]
