"""How items look in a prompt: what others wrote is delimited data, which nothing inside it can close."""

from treering.core.delimiters import escaped, one_line

OPEN, CLOSE = "<working-memory>\n", "</working-memory>\n"
CUT = " [cut]"


def told(heading: str, label: str, text: str) -> str:
    """What the agent's own side says: a heading and the text, its further lines indented."""
    if not text:
        return f"{_head(heading, label)}\n"
    first, *rest = escaped(text).splitlines() or [""]
    return f"{_head(heading, label)}: {first}\n" + "".join(f"  {line}\n" for line in rest)


def data(heading: str, label: str, text: str) -> str:
    """What comes from outside, between delimiters."""
    return f"{_head(heading, label)}:\n<data>\n{escaped(text)}\n</data>\n"


def line(heading: str, label: str, extract: str, reference: str | None) -> str:
    """What is left of something in one line, with where the rest lies."""
    return f"- {_head(heading, label)}: {one_line(extract)}{f' [{one_line(reference)}]' if reference else ''}\n"


def value(heading: str, key: str, shown: str) -> str:
    return f"- {heading} {one_line(key)} = {escaped(shown)}\n"


def folded(items: int) -> str:
    return f"- {items:,} older items are not shown\n"


def _head(heading: str, label: str) -> str:
    return f"{heading} {one_line(label)}" if label else heading
