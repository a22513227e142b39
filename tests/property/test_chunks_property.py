"""What holds for the chunks of any file, whatever it defines."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from treering.code.chunks import CodeChunk, chunks_of
from treering.code.facts import Definition, DefinitionKind
from treering.code.limits import ChunkLimits

_LINE = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=40)
_WORDS = st.lists(st.sampled_from(["alpha", "beta(x)", "return", "x = 1", "if y:", "élan"]), max_size=6).map(" ".join)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, list[Definition]]:
    """Any lines, with definitions that may overlap, nest, or lie outside."""
    lines = draw(st.lists(_LINE | _WORDS | st.just(""), max_size=60))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n"]))
    spans = draw(st.lists(st.tuples(st.integers(1, 70), st.integers(0, 30)), max_size=12))
    kinds = st.sampled_from(list(DefinitionKind))
    return text, [Definition(f"d{n}", draw(kinds), line, line + more) for n, (line, more) in enumerate(spans)]


limits = st.builds(
    ChunkLimits,
    most_bytes=st.integers(200, 900),
    joined_bytes=st.integers(0, 1_200),
    prose_lines=st.integers(1, 40),
    prose_slack=st.integers(0, 10),
    group=st.integers(1, 8),
)


def _embedded(chunk: CodeChunk) -> str:
    return f"{chunk.prefix}\n{chunk.text}"


@given(files(), limits)
def test_chunks_are_the_file_in_order_without_gaps(file: tuple[str, list[Definition]], limits: ChunkLimits) -> None:
    text, definitions = file
    chunks = chunks_of("a/b.py", text, definitions, limits)
    assert "".join(chunk.text for chunk in chunks) == text
    assert [chunk.start_line for chunk in chunks] == sorted(chunk.start_line for chunk in chunks)
    for before, after in pairwise(chunks):
        same_line = before.end_line == after.start_line
        assert after.start_line == before.end_line + 1 or (same_line and not before.text.endswith("\n"))


@given(files(), limits, st.text(max_size=300))
def test_no_chunk_is_larger_than_allowed(file: tuple[str, list[Definition]], limits: ChunkLimits, path: str) -> None:
    for chunk in chunks_of(path, *file, limits):
        assert len(_embedded(chunk).encode()) <= limits.most_bytes


@given(files(), limits)
def test_the_same_file_gives_the_same_chunks(file: tuple[str, list[Definition]], limits: ChunkLimits) -> None:
    text, definitions = file
    assert chunks_of("a.py", text, definitions, limits) == chunks_of("a.py", text, definitions[::-1], limits)


_BODY = st.lists(st.sampled_from(["    x = compute(1)", "    return x", "    # why", ""]), min_size=1, max_size=30)


@st.composite
def modules(draw: st.DrawFn) -> list[list[str]]:
    """Functions with a blank line between them, as their lines."""
    bodies = draw(st.lists(_BODY, min_size=1, max_size=25))
    return [[f"def function_{n}(x):", *body, "    pass", ""] for n, body in enumerate(bodies)]


def _parsed(functions: list[list[str]]) -> tuple[str, list[Definition]]:
    found, line = list[Definition](), 1
    for n, lines in enumerate(functions):
        found.append(Definition(f"function_{n}", DefinitionKind.FUNCTION, line, line + len(lines) - 2))
        line += len(lines)
    return "".join(f"{line}\n" for lines in functions for line in lines), found


@given(modules(), limits)
def test_a_function_that_fits_is_in_one_chunk(functions: list[list[str]], limits: ChunkLimits) -> None:
    text, definitions = _parsed(functions)
    chunks = chunks_of("m.py", text, definitions, limits)
    room = limits.most_bytes - limits.most_bytes // 4
    for lines, definition in zip(functions, definitions, strict=True):
        if len("\n".join(lines)) + 1 <= room:
            holding = [c for c in chunks if c.start_line <= definition.end_line and definition.line <= c.end_line]
            assert len(holding) == 1
            assert definition.qualname in holding[0].symbol or holding[0].symbol.endswith("…")


@given(modules(), st.data())
def test_an_edit_inside_a_function_reaches_only_its_group(functions: list[list[str]], data: st.DataObject) -> None:
    """The groups are where names say they begin: everything before and after that of the edit is as it was."""
    limits = ChunkLimits(most_bytes=900, joined_bytes=300, group=3)
    edited = data.draw(st.integers(0, len(functions) - 1))
    body = data.draw(_BODY)
    after = [*functions]
    after[edited] = [functions[edited][0], *body, "    pass", ""]
    old, new = (chunks_of("m.py", *_parsed(each), limits) for each in (functions, after))
    starts = [n for n in range(len(functions)) if _begins(f"function_{n}", limits)]
    first = max((n for n in starts if n <= edited), default=0)
    last = min((n for n in starts if n > edited), default=len(functions))
    outside = {f"function_{n}" for n in range(len(functions)) if not first <= n < last}
    touched = [{c.digest for c in each if outside & set(c.symbol.split(", "))} for each in (old, new)]
    assert touched[0] == touched[1]


def _begins(name: str, limits: ChunkLimits) -> bool:
    """Whether a function of this name is never joined to the one before it."""
    text = f"def a(): ...\ndef {name}(): ...\n"
    definitions = [Definition("a", DefinitionKind.FUNCTION, 1, 1), Definition(name, DefinitionKind.FUNCTION, 2, 2)]
    return len(chunks_of("m.py", text, definitions, limits)) == 2
