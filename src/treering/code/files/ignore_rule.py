"""One gitignore rule as a regular expression that matches in linear time.

Backtracking over a rule with several stars (`*a*a*a*a*b`) takes hours on a name of a hundred letters. While another
star follows, the earliest match of the text after a star is always sufficient, and so is the earliest match of folders
between `**`; atomic groups discard the alternatives.
"""

import re

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

# Folders are split first: every slash below was written by the translation, none by the rule.
_STAR = r"\[\^/\]\*"
_CLASS = r"\[\^?\]?[^\]/]*\]"
_ONE_LETTER = rf"(?:\[\^/\](?![*+])|{_CLASS}|\\.|[^\\\[(^/|$])"
_BETWEEN_STARS = re.compile(rf"{_STAR}((?:{_ONE_LETTER})*)(?={_STAR})", re.S)
_CLASSES = re.compile(rf"\\.|({_CLASS})", re.S)
_SET_OPERATORS = re.compile(r"[\[&~|]")
"""Characters in a class that a future version of Python may treat as set operators."""
_ANY_FOLDERS = "(?:/.+)?"
_LEADING_FOLDERS = "^(?:.+/)?"


def compile_rule(line: str) -> GitIgnoreSpecPattern:
    """Compile a line of a `.gitignore`; raise `ValueError` or `re.error` if it is invalid."""
    expression, include = GitIgnoreSpecPattern.pattern_to_regex(line)
    return GitIgnoreSpecPattern(None if expression is None else re.compile(_linear(expression)), include)


def _linear(expression: str) -> str:
    """Rewrite the expression to match in linear time; a class such as `[!a]` no longer matches a slash."""
    *before, last = (_folders(each) for each in expression.split(_ANY_FOLDERS))
    if not before:
        return last
    first, *inner = before
    if first.startswith(_LEADING_FOLDERS):
        first = f"^(?>(?:[^/]+/)*?{first.removeprefix(_LEADING_FOLDERS)}(?=/))"
    return "".join((first, *(f"(?>(?:/[^/]+)*?{each}(?=/))" for each in inner), _ANY_FOLDERS, last))


def _folders(expression: str) -> str:
    parted = _BETWEEN_STARS.sub(r"(?>[^/]*?\1)", expression)
    return _CLASSES.sub(lambda found: _class(found[1]) if found[1] else found[0], parted)


def _class(expression: str) -> str:
    return "(?!/)[" + _SET_OPERATORS.sub(r"\\\g<0>", expression[1:])
