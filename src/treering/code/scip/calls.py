"""Whether an identifier is called, and the data flow of the call, judged by the surrounding text."""

import re

from treering.code.facts import CallFlow

_COMMENT = re.compile(r"\s*(?://|/\*|\*\s|\*/|#(?!\w|\[))")
_NEW = re.compile(r"\bnew\s+(?:\w+\.)*$")
_DECLARED = re.compile(r"\b(?:def|class|func|fn|function|struct|enum|trait|interface|impl|mod|type)\s+$")
_MODIFIERS = re.compile(r"\s*(?:(?:async|static|get|set|public|private|protected|\*)\s*)*")
_WITH_BODY = re.compile(r"\((?:[^()]|\([^()]*\))*\)\s*(?::.*)?\{\s*$")
"""A method of an object literal: its definition looks like a call."""
_CALLED = re.compile(r"\s*(?:\?\.|!)?\s*\(\s*(.?)")
_GENERIC = re.compile(r"\s*(?:::)?\s*(?=[<\[])")
_TEMPLATE = re.compile(r"`")
_BEGINS = re.compile(r"\s*(?:await\s+|new\s+)*[\w.:]*$")
_CLOSING = {"<": ">", "[": "]"}
_SCRIPTS = frozenset({".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"})
_MAX_TYPE_ARGUMENTS = 400
"""Maximum length of type arguments, in characters."""


def call_at(before: str, after: str, suffix: str) -> CallFlow | None:
    """Return the flow of a call of the identifier between `before` and `after`, or None if it is not called."""
    if _COMMENT.match(before) or declared_at(before, after, suffix):
        return None
    called = _CALLED.match(_past_type_arguments(after))
    if called is None:
        made = _NEW.search(before) or (suffix in _SCRIPTS and _TEMPLATE.match(after))
        return _result(before) if made else None
    passed = CallFlow.NOTHING if called[1] == ")" else CallFlow.ARGUMENTS
    return passed | _result(before)


def declared_at(before: str, after: str, suffix: str) -> bool:
    """Whether the identifier names a definition at this position."""
    if _DECLARED.search(before):
        return True
    return bool(suffix in _SCRIPTS and _MODIFIERS.fullmatch(before) and _WITH_BODY.match(after))


def _result(before: str) -> CallFlow:
    """The result is unused if the statement begins with the callee."""
    return CallFlow.NOTHING if _BEGINS.match(before) else CallFlow.RESULT


def _past_type_arguments(after: str) -> str:
    found = _GENERIC.match(after)
    if found is None:
        return after
    opening = after[found.end()]
    depth, closing = 0, _CLOSING[opening]
    for place in range(found.end(), min(len(after), found.end() + _MAX_TYPE_ARGUMENTS)):
        letter = after[place]
        if letter == opening:
            depth += 1
        elif letter == closing and after[place - 1] not in "=-":
            depth -= 1
            if not depth:
                return after[place + 1 :]
    return after
