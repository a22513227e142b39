"""A question about code, or the text of an issue, as what it says about the place it asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from treering.core.language.terms import QueryTerm, query_terms

_LANGUAGES = ("en",)
_MAX_QUESTION = 200
"""Characters of a question. A longer text reports a problem, and mentions tests or documentation in passing."""
# Parts of an issue that describe neither the code nor the problem: hints of the form, and lists of versions.
_COMMENT = re.compile(r"<!--.*?-->", re.S)
# Quantifiers are possessive where they can be: the time for a long run of spaces would be cubic otherwise.
_VERSION = re.compile(
    r"^[^\w\n]*+(?:\w[\w.\- ]{0,39}?(?:\s*+(?:==|[:=|])\s*+|\s++)|(?<=[.\- ]\s))v?\d++(?:\.\w++)++\S*+\W*$", re.M
)
_FRAME = re.compile(r'File "([^"\n]+)", line \d+')
_PATH = re.compile(r"(?<![\w/\\.-])(?:[\w.-]+[/\\])*[\w-]+\.[A-Za-z][A-Za-z0-9]{0,4}\b(?![/\\(.])")
_DOTTED = re.compile(r"(?<![\w./\\-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w/\\])")


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
        return query_terms(self.text, _LANGUAGES)

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
    def paths(self) -> tuple[str, ...]:
        """Distinct names of files outside tracebacks."""
        return tuple(dict.fromkeys(_PATH.findall(_FRAME.sub(" ", self.text))))

    @cached_property
    def dotted_names(self) -> tuple[str, ...]:
        """Distinct names such as `package.module.Class`."""
        return tuple(dict.fromkeys(_DOTTED.findall(self.text)))


def read_question(query: str) -> CodeQuestion:
    """The question, or all of the query if nothing else is in it."""
    cleaned = _VERSION.sub("", _COMMENT.sub("", query)).strip()
    return CodeQuestion(cleaned or query.strip())
