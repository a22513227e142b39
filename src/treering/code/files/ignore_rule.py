"""One rule of git's as an expression that no name takes long to compare with.

A name of a hundred letters takes hours where a rule has some stars (`*a*a*a*a*b`) and every way to share the letters
out among them is tried. But as long as another star follows, whatever stands behind a star is best found as early as
possible, and the same is so for folders between `**`: what was found is not looked for a second time.
"""

import re

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

# Folders are cut apart before anything else: each slash below was written by the translation, none by the rule.
_STAR = r"\[\^/\]\*"
_CLASS = r"\[\^?\]?[^\]/]*\]"
_ONE_LETTER = rf"(?:\[\^/\](?![*+])|{_CLASS}|\\.|[^\\\[(^/|$])"
_BETWEEN_STARS = re.compile(rf"{_STAR}((?:{_ONE_LETTER})*)(?={_STAR})", re.S)
_CLASSES = re.compile(rf"\\.|({_CLASS})", re.S)
_SET_OPERATORS = re.compile(r"[\[&~|]")
"""Letters in a class that Python may take for operators one day."""
_ANY_FOLDERS = "(?:/.+)?"
_LEADING_FOLDERS = "^(?:.+/)?"


def rule(line: str) -> GitIgnoreSpecPattern:
    """A line of a `.gitignore`. `ValueError` or `re.error` where it makes no sense."""
    expression, include = GitIgnoreSpecPattern.pattern_to_regex(line)
    return GitIgnoreSpecPattern(None if expression is None else re.compile(_quick(expression)), include)


def _quick(expression: str) -> str:
    """Matches the same, but that no class such as `[!a]` is a slash."""
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
