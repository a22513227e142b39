"""Where is …?"""

import numpy as np

from treering.code.chunks import CodeChunk
from treering.code.chunks.words import embedded_text, stored_chunks
from treering.code.locations.chunk_search import ChunkSearch

TEXTS = {
    "web/redirects.py": ("follow", "def follow(request):\n    return send(request.location)\n"),
    "web/gzip.py": ("decode", "def decode(data):\n    return inflate(data)\n"),
    "tests/test_redirects.py": ("test_follow", "def test_follow():\n    follow(request, location)\n"),
}
CHUNKS = [CodeChunk(path, symbol, 1, 2, text, "", f"digest {symbol}") for path, (symbol, text) in TEXTS.items()]
STORED = stored_chunks(CHUNKS)


def _found(query: str, **given: object) -> list[str]:
    return [where.symbol for where in ChunkSearch(STORED, **given).find(query)]  # type: ignore[arg-type]


def test_the_name_and_the_file_are_words_too() -> None:
    assert _found("where is gzip handled?") == ["decode"]


def test_tests_come_after_what_they_test_unless_they_are_asked_for() -> None:
    assert _found("follow request location")[0] == "follow"
    assert _found("which test checks follow?")[0] == "test_follow"


def test_what_shares_nothing_is_not_found() -> None:
    assert _found("quantum chromodynamics") == []
    assert ChunkSearch(()).find("anything") == ()


def test_the_best_has_one_and_the_others_less() -> None:
    scores = [where.score for where in ChunkSearch(STORED).find("follow request location")]
    assert scores[0] == 1.0
    assert all(0 < score < 1 for score in scores[1:])


def test_vectors_find_what_no_word_does() -> None:
    spaces = np.eye(3, dtype="<f2")
    vectors = {chunk.digest: row.tobytes() for chunk, row in zip(STORED, spaces, strict=True)}
    search = ChunkSearch(STORED, vectors)
    assert search.find("quantum", np.array([0, 1, 0], np.float32))[0].symbol == "decode"


def test_a_chunk_without_a_vector_is_found_by_its_words() -> None:
    vectors = {STORED[0].digest: np.ones(3, "<f2").tobytes()}
    search = ChunkSearch(STORED, vectors)
    assert search.find("inflate", np.ones(3, np.float32))[0].symbol == "decode"


def test_what_a_model_reads_does_not_change_when_a_chunk_moves() -> None:
    moved = CodeChunk("web/gzip.py", "decode", 41, 42, CHUNKS[1].text, "elsewhere", CHUNKS[1].digest)
    assert embedded_text(moved) == embedded_text(CHUNKS[1])


def test_files_that_changed_are_left_out() -> None:
    search = ChunkSearch(STORED)
    found = [where.path for where in search.find("follow request location", excluded={"web/redirects.py"})]
    assert found == ["tests/test_redirects.py"]
    assert search.find("follow request location", excluded={"web/redirects.py"})[0].score == 1.0


def test_a_vector_of_another_length_is_not_compared() -> None:
    vectors = {chunk.digest: np.ones(3, "<f2").tobytes() for chunk in STORED}
    assert ChunkSearch(STORED, vectors).find("inflate", np.ones(4, np.float32))[0].symbol == "decode"


def test_names_are_found_by_their_parts_and_words_by_their_stems() -> None:
    text = "export const parseSignedCookie = (value) => verifySignature(value, SECRET_KEY)\n"
    search = ChunkSearch(stored_chunks([CodeChunk("src/cookies.ts", "parseSignedCookie", 1, 1, text, "", "digest")]))
    for query in ("signed cookies", "where are signatures verified?", "secret key", "parseSignedCookie", "SECRET_KEY"):
        assert search.find(query), query


def test_a_word_that_comes_very_often_is_counted_as_far_as_a_byte_goes() -> None:
    stored = stored_chunks([CodeChunk("a.py", "", 1, 1, "token " * 1_000, "", "digest")])[0]
    assert max(stored.counts) == 255
    assert len(stored.codes) == 4 * len(stored.counts)
    assert stored.length > 1_000
