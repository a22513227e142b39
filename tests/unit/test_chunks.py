"""Where files are cut."""

from treering.code.chunks import CodeChunk, chunks_of
from treering.code.facts import Definition, DefinitionKind
from treering.core.settings import ChunkSettings

FUNCTION, METHOD, CLASS = DefinitionKind.FUNCTION, DefinitionKind.METHOD, DefinitionKind.CLASS
APART = ChunkSettings(joined_bytes=0)

MODULE = '''import os

LIMIT = 3


# Reads it.
@cache
def read(path):
    return os.open(path)


class Shelf:
    """Holds."""

    def put(self):
        pass

    def take(self):
        pass
'''
DEFINITIONS = [
    Definition("LIMIT", DefinitionKind.CONSTANT, 3, 3),
    Definition("read", FUNCTION, 8, 9),
    Definition("Shelf", CLASS, 12, 19),
    Definition("Shelf.put", METHOD, 15, 16),
    Definition("Shelf.take", METHOD, 18, 19),
]


def _spans(chunks: tuple[CodeChunk, ...]) -> list[tuple[str, int, int]]:
    return [(chunk.symbol, chunk.start_line, chunk.end_line) for chunk in chunks]


def test_definitions_are_chunks_with_what_leads_to_them() -> None:
    assert _spans(chunks_of("shelf.py", MODULE, DEFINITIONS, APART)) == [
        ("", 1, 5),
        ("read", 6, 11),
        ("Shelf", 12, 19),
    ]


def test_the_prefix_says_file_symbol_and_lines() -> None:
    assert [chunk.prefix for chunk in chunks_of("src/shelf.py", MODULE, DEFINITIONS, APART)] == [
        "src/shelf.py · lines 1–5",
        "src/shelf.py · read · lines 6–11",
        "src/shelf.py · Shelf · lines 12–19",
    ]


def test_small_neighbours_are_joined() -> None:
    joined = chunks_of("shelf.py", MODULE, DEFINITIONS, ChunkSettings(joined_bytes=900, group=100_000))
    assert _spans(joined) == [("read, Shelf", 1, 19)]


def _large_class() -> tuple[str, list[Definition]]:
    """Two methods of 30 lines, which do not fit together."""
    body = "".join(f"        self.value_{n} = compute(self, {n})\n" for n in range(29))
    text = f"class Large:\n    first = 1\n\n    def one(self):\n{body}\n    def two(self):\n{body}"
    return text, [
        Definition("Large", CLASS, 1, 64),
        Definition("Large.one", METHOD, 4, 33),
        Definition("Large.two", METHOD, 35, 64),
    ]


def test_a_class_that_is_too_large_is_cut_at_its_methods() -> None:
    assert _spans(chunks_of("large.py", *_large_class(), ChunkSettings(most_bytes=2_000, joined_bytes=0))) == [
        ("Large", 1, 3),
        ("Large.one", 4, 34),
        ("Large.two", 35, 64),
    ]


def test_a_function_that_is_too_large_is_cut_at_a_blank_line() -> None:
    block = "".join(f"    value_{n} = compute(context, {n})\n" for n in range(30))
    text = f"def long():\n{block}\n{block}"
    chunks = chunks_of("long.py", text, [Definition("long", FUNCTION, 1, 62)], ChunkSettings(most_bytes=1_800))
    assert _spans(chunks) == [("long", 1, 32), ("long", 33, 62)]


def test_prose_is_cut_at_about_a_hundred_lines() -> None:
    text = "".join(f"Line {n}.\n" if n % 90 else "\n" for n in range(1, 331))
    chunks = chunks_of("README.md", text, (), ChunkSettings(most_bytes=6_000))
    lengths = [chunk.end_line - chunk.start_line + 1 for chunk in chunks]
    assert lengths == [90, 90, 90, 60]


def test_a_line_that_is_too_long_is_cut_inside() -> None:
    text = "x = [" + "123456789, " * 400 + "]\n"
    chunks = chunks_of("data.py", text, ())
    assert len(chunks) > 1
    assert {(chunk.start_line, chunk.end_line) for chunk in chunks} == {(1, 1)}


def test_a_chunk_that_only_moved_has_the_same_digest() -> None:
    moved = [Definition(d.qualname, d.kind, d.line + 2, d.end_line + 2) for d in DEFINITIONS]
    before = {chunk.symbol: chunk.digest for chunk in chunks_of("shelf.py", MODULE, DEFINITIONS, APART)}
    after = {chunk.symbol: chunk.digest for chunk in chunks_of("shelf.py", f"import re\n\n{MODULE}", moved, APART)}
    assert {name for name in before if before[name] != after[name]} == {""}


def test_an_edit_changes_the_digest_of_its_chunk_alone() -> None:
    edited = MODULE.replace("os.open(path)", "os.open(path, 1)")
    old, new = (chunks_of("shelf.py", text, DEFINITIONS, APART) for text in (MODULE, edited))
    assert [a.symbol for a, b in zip(old, new, strict=True) if a.digest != b.digest] == ["read"]


def test_an_empty_file_has_no_chunk() -> None:
    assert chunks_of("empty.py", "", ()) == ()


def test_definitions_ten_thousand_deep_are_no_trouble() -> None:
    depth = 10_000
    text = "".join(f"def f{n}():\n" for n in range(depth))
    definitions = [Definition(f"f{n}", FUNCTION, n + 1, depth) for n in range(depth)]
    assert "".join(chunk.text for chunk in chunks_of("deep.py", text, definitions)) == text
