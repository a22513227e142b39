"""A question about code, or the text of an issue, as what it says about the place it asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from treering.core.language.terms import QueryTerm, query_terms

_LANGUAGES = ("en",)
_MAX_QUESTION = 200
"""Characters of a question. A longer text reports a problem, and mentions tests or documentation in passing."""
# Parts of an issue that describe neither the code nor the problem: hints of the form, and lists of versions.
# One that is never closed is left in the text; it matches up to the end, so that no text is read twice.
_COMMENT = re.compile(r"<!--.*?(?:-->|(?P<open>\Z))", re.S)
# Quantifiers are possessive where they can be: the time for a long run of spaces would be cubic otherwise.
_VERSION = re.compile(
    r"^[^\w\n]*+(?:\w[\w.\- ]{0,39}?(?:\s*+(?:==|[:=|])\s*+|\s++)|(?<=[.\- ]\s))v?\d++(?:\.\w++)++\S*+\W*$", re.M
)
# Lines of a report that say nothing about the problem in words: headings and check boxes of a form, and the places in a
# traceback, which are read as paths.
_FORM = re.compile(
    r"^[ \t]*+(?:#{1,6}[ \t].*|\*\*[^*\n]{1,60}\*\*:?[ \t]*|[-*][ \t]+\[[ xX]\].*|_No response_[ \t]*)$", re.M
)
_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.S)
_TICKED = re.compile(r"`([^`\n]+)`")
_NAME = re.compile(r"[A-Za-z_]\w{2,}")
# In a name that prose does not contain by chance: `snake_case`, `_private`, `camelCase`, `CamelCase`, `HTTPError`.
_CODE_SPELLING = re.compile(r"_|[a-z][A-Z]|[A-Z]{2}[a-z]")
_URL = re.compile(r"https?://\S++")
_FRAME = re.compile(r'File "([^"\n]+)", line \d+')
# A file of a hosted repository: the host, owner and name differ between copies, the branch or commit is often another.
_LINK = re.compile(
    r"https?://[^\s/]++/[^\s/]++/[^\s/]++/(?:-/)?(?:blob|blame|raw|tree|src)/[^\s/]++/([^\s#?()\[\]<>\"'`]++)"
    r"(?:\?[^\s#]*+)?(?:#L(\d+))?"
)
_PATH = re.compile(r"(?<![\w/\\.-])(?:[\w.-]+[/\\])*[\w-]+\.[A-Za-z][A-Za-z0-9]{0,4}\b(?![/\\(.])")
_DOTTED = re.compile(r"(?<![\w./\\-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w/\\])")


class LinkedFile(NamedTuple):
    """A file of a repository that a text links to."""

    path: str
    line: int | None
    """The first linked line; the file may have changed since."""


@dataclass(frozen=True)
class CodeQuestion:
    """The text of a question without lists of versions and comments."""

    text: str

    @property
    def is_report(self) -> bool:
        """Whether the text is too long for a question: it describes a problem."""
        return len(self.text) > _MAX_QUESTION

    @cached_property
    def terms(self) -> tuple[QueryTerm, ...]:
        """The words of the text; of a report, without its form, addresses and the places in tracebacks."""
        return query_terms(self._described, _LANGUAGES)

    @cached_property
    def _described(self) -> str:
        if not self.is_report:
            return self.text
        title, _, rest = self.text.partition("\n")
        return f"{title}\n{_FORM.sub('', _URL.sub(' ', _FRAME.sub(' ', rest)))}"

    @cached_property
    def _prose(self) -> str:
        """The description without blocks of code."""
        return _FENCED.sub(" ", self._described) if self.is_report else self.text

    @cached_property
    def prose_words(self) -> frozenset[str]:
        """Stems of the words outside blocks of code."""
        return frozenset(term.forms[0] for term in query_terms(self._prose, _LANGUAGES))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Distinct names of the code in the prose: in backticks, or written as no other word is."""
        ticked = frozenset(_NAME.findall(" ".join(_TICKED.findall(self._prose))))
        names = dict.fromkeys(_NAME.findall(self._prose))
        return tuple(name for name in names if name in ticked or _CODE_SPELLING.search(name))

    @cached_property
    def title_words(self) -> frozenset[str]:
        """Stems of the words in the first line, which summarizes an issue."""
        title = self.text.partition("\n")[0]
        return frozenset(term.forms[0] for term in query_terms(title, _LANGUAGES))

    @cached_property
    def frames(self) -> tuple[str, ...]:
        """Paths in tracebacks, the innermost call last."""
        return tuple(_FRAME.findall(self.text))

    @cached_property
    def links(self) -> tuple[LinkedFile, ...]:
        """Files of hosted repositories, such as `https://github.com/owner/name/blob/main/src/web.py#L12`."""
        found = _LINK.findall(self.text)
        return tuple(LinkedFile(path.rstrip(".,;:"), int(line) if line else None) for path, line in found)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Distinct names of files outside tracebacks."""
        return tuple(dict.fromkeys(_PATH.findall(_FRAME.sub(" ", self.text))))

    @cached_property
    def dotted_names(self) -> tuple[str, ...]:
        """Distinct names such as `package.module.Class`."""
        return tuple(dict.fromkeys(_DOTTED.findall(self.text)))


def read_question(query: str) -> CodeQuestion:
    """The question, or all of the query if nothing else is in it."""
    cleaned = _VERSION.sub("", _COMMENT.sub(lambda found: found[0] if found.lastgroup else "", query)).strip()
    return CodeQuestion(cleaned or query.strip())
