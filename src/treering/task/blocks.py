"""Prompt text of single items. Outside content is delimited and escaped, so that it cannot end its delimiter."""

from treering.core.delimiters import escaped, one_line

OPEN, CLOSE = "<working-memory>\n", "</working-memory>\n"
CUT_MARK = " [cut]"


def labelled(heading: str, label: str, text: str) -> str:
    """Text from the agent itself: a heading and the text, with continuation lines indented."""
    if not text:
        return f"{_head(heading, label)}\n"
    first, *rest = escaped(text).splitlines() or [""]
    return f"{_head(heading, label)}: {first}\n" + "".join(f"  {line}\n" for line in rest)


def data(heading: str, label: str, text: str) -> str:
    """Text from outside, between delimiters."""
    return f"{_head(heading, label)}:\n<data>\n{escaped(text)}\n</data>\n"


def line(heading: str, label: str, extract: str, reference: str | None) -> str:
    """An item in one line, with a reference to its full content."""
    return f"- {_head(heading, label)}: {one_line(extract)}{f' [{one_line(reference)}]' if reference else ''}\n"


def value(heading: str, key: str, shown: str) -> str:
    return f"- {heading} {one_line(key)} = {escaped(shown)}\n"


def folded(items: int) -> str:
    return f"- {items:,} older items are not shown\n"


def _head(heading: str, label: str) -> str:
    return f"{heading} {one_line(label)}" if label else heading
