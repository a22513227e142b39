"""Which parts of a text are the speaker's own words."""

import re
from collections.abc import Iterator

# Characters read at the beginning and end of a text.
HEAD, TAIL = 4_000, 2_000
_FENCE = "```"
# Openings of prompts that the agent's program wrote in the name of the user.
_BY_PROGRAM = (
    "This session is being continued from",
    "Base directory for this skill",
    "Caveat: The messages below",
    "[Request interrupted",
    "[Image",
    "Operation stopped by hook",
)
# A plan or a document follows, which the user did not type: a line that announces a plan, or a Markdown heading.
_PASTED = re.compile(r"^(?:Implement the following plan|\W{0,4}ACTION REQUIRED)\b|^#{1,6} ", re.MULTILINE)
_QUOTED = re.compile(
    r"^[ \t]{0,8}>[^\n]*+"  # Markdown quotation
    r'|(?<!\w)"[^"\n]{2,300}+"(?!\w)'
    "|[“„][^”“\n]{2,300}+[”“]"
    "|«[^»\n]{2,300}+»",
    re.MULTILINE,
)
_QUOTE_MARKS = frozenset('">“„«')
_INLINE_CODE = re.compile(r"`[^`\n]{1,300}+`")


def own_words(text: str, *, by_user: bool) -> str:
    """The beginning and end of `text`, without what a program wrote or the user pasted."""
    if by_user:
        if text.lstrip().startswith(_BY_PROGRAM):
            return ""
        pasted = _PASTED.search(text, 0, HEAD)
        text = text[: pasted.start()] if pasted else text
    if len(text) <= HEAD + TAIL:
        return text
    in_code = text.count(_FENCE, 0, len(text) - TAIL) - text.count(_FENCE, 0, HEAD)
    return f"{text[:HEAD]}\n{_FENCE * (in_code % 2)}\n{text[-TAIL:]}"


def quotations(folded: str) -> Iterator[tuple[int, int]]:
    """Spans of quoted text; a phrase that begins in one is not the speaker's."""
    if not _QUOTE_MARKS.isdisjoint(folded):
        yield from (found.span() for found in _QUOTED.finditer(folded))


def code_spans(folded: str) -> Iterator[tuple[int, int]]:
    """Spans of inline code; a phrase that lies in one is not the speaker's."""
    if "`" in folded:
        yield from (found.span() for found in _INLINE_CODE.finditer(folded))
