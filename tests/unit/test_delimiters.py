"""What we put into a prompt is known again; what only mentions our tags is not taken for it."""

import pytest

from treering.core.delimiters import DATA, delimited, without_ours


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<memory>\nThe user lives in Rome\n</memory>\nThanks!", "Thanks!"),
        ('before\n<memory phase="implement">\nRome\n</memory>\nafter', "before after"),
        ("<recalled>\ncut off in the middle", ""),
        (f"{delimited(DATA, 'a')} x {delimited(DATA, 'b')}", "x"),
        ("<MEMORY>\r\nRome\r\n</MEMORY >", ""),
    ],
)
def test_blocks_of_ours_are_left_out(text: str, left: str) -> None:
    assert " ".join(without_ours(text).split()) == left


@pytest.mark.parametrize(
    "text",
    [
        "I set <memory> to 4 GB. I live in Lyon.",
        "The <data> element and </data> are HTML.",
        "x < memory and y > 3",
        "<memoryless>\nnot ours\n</memoryless>",
        "",
    ],
)
def test_a_mention_of_a_tag_stays(text: str) -> None:
    assert without_ours(text) == text
