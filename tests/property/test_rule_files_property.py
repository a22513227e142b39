"""Rule files: an export leaves every byte outside its block, repeats itself, and is not imported again."""

from hypothesis import given
from hypothesis import strategies as st

from treering.archive.rule_files.marked_block import BEGIN, block_span, with_block, without_block
from treering.archive.rule_files.rule_import import digest_of, plan_import
from treering.archive.rule_files.statements import statements_of

LINES = st.sampled_from(
    [
        *("# Head", "- Use tabs in all files", "Never push to main", "  - nested words are here", "text:", "", "---"),
        *("1. first step", "2. second", "```sh", "make test", "```", "    code", "> quoted words are here", "* * *"),
        *("| a | b |", "| - | - |", "<!--", "-->", "<div>", "\u2028", "é ü 漢字", "[ ] box", "@docs/x.md", "a\rb"),
    ]
)
TEXTS = st.one_of(
    st.text(max_size=80),
    st.builds("".join, st.lists(st.builds(str.__add__, LINES, st.sampled_from(["\n", "\r\n", ""])), max_size=12)),
)
BODIES = st.lists(
    st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=30), max_size=5
).map("\n".join)


def outside(content: bytes) -> tuple[bytes, bytes]:
    span = block_span(content, "file")
    assert span is not None
    return content[: span.start], content[span.end :]


@given(TEXTS, BODIES, BODIES, st.booleans())
def test_bytes_outside_the_block_stay_and_a_repeated_export_changes_nothing(
    text: str, first: str, second: str, bom: bool
) -> None:
    content = (b"\xef\xbb\xbf" if bom else b"") + text.encode(errors="replace")
    if BEGIN in text or any("treering:" in each for each in (first, second)):
        return
    once = with_block(content, first, "file")
    assert once.startswith(content)
    assert with_block(once, first, "file") == once
    again = with_block(once, second, "file")
    assert outside(again) == outside(once)
    assert with_block(again, first, "file") == once


@given(TEXTS, BODIES)
def test_an_import_after_an_export_finds_the_same_statements(text: str, body: str) -> None:
    if "treering:" in text + body:
        return
    exported = with_block(text.encode(errors="replace"), body, "file")
    read = statements_of(without_block(exported, "file").decode("utf-8-sig"))
    before = statements_of(text.encode(errors="replace").decode("utf-8-sig"))
    assert [digest_of(each) for each in read] == [digest_of(each) for each in before]


@given(TEXTS)
def test_statements_lie_in_the_file_and_differ(text: str) -> None:
    found = statements_of(text)
    count = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    assert all(1 <= each.first_line <= each.last_line <= count for each in found)
    assert len({each.content for each in found}) == len(found)


@given(TEXTS)
def test_a_file_that_was_imported_needs_no_change(text: str) -> None:
    found = statements_of(text)
    plan = plan_import(found, {digest_of(each): None for each in found})
    assert (plan.added, plan.edited, plan.missing) == ((), (), ())
