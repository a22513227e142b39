"""Answers to questions: quotations of stored records, and sentences that a language model writes from them.

Nothing that a model writes is returned before its citations are checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING

from treering.core.answers import AnswerEnd, AnswerSentence, AnswerStatus
from treering.core.citations import cite
from treering.core.code_locations import CodeLocation
from treering.core.delimiters import DATA, delimited, escaped, one_line
from treering.core.errors import ModelUnavailable, UnusableAnswer
from treering.core.privacy import WITHHELD_QUERY, may_leave
from treering.prompts.token_budget import metered_writer
from treering.search.private_words import query_may_leave

if TYPE_CHECKING:
    from datetime import datetime

    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.models import Models, Writer
    from treering.ports.store import Store
    from treering.search.answer import Answer, Hit, HitRecord

_PROMPT = "written_answer.md"
_NOT_FOUND = "NOT_FOUND"
_MAX_QUOTED = 600
"""Characters of a passage that a person reads; the whole record is one click away."""
_MAX_READ = 2_000
"""Characters of a passage that the model reads."""
_MAX_TOKENS = 600
_REASONING = ("<think>", "</think>")
"""Around the reasoning that some models write before the answer."""
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_NUMBERS = r"\[\s*\d{1,3}(?:\s*[,;]\s*\d{1,3})*\s*\]"
_CITED = re.compile(rf"\s*{_NUMBERS}")
_SENTENCE = re.compile(rf".+?(?:[.!?…]+[\"'”»)]*(?:\s*{_NUMBERS})*(?=\s|$)|[。！？]+(?:\s*{_NUMBERS})*|$)")
_CITED_END = re.compile(rf"\n|(?:{_NUMBERS}[.!?…]+|[.!?…]\s*{_NUMBERS})\s+(?=[^\s\[])")
"""Where text can be checked although more follows."""
_ABBREVIATION = re.compile(r"(?:^|\W)(?:\w|approx|cf|dr|e\.g|etc|i\.e|mr|mrs|ms|no|nr|p\.\s?ex|st|vs|z\.\s?b)\.$", re.I)
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True, slots=True)
class AnswerPassage:
    """A record that answers a question, quoted; numbers start at 1."""

    number: int
    id: str
    kind: str
    text: str
    source: str
    score: float
    record: HitRecord = field(repr=False)


@dataclass(frozen=True, slots=True)
class QuotedAnswer:
    """The passages that answer a question, the most relevant first; none if nothing stored answers it."""

    question: str
    passages: tuple[AnswerPassage, ...]
    missing: Mapping[str, str]

    @property
    def found(self) -> bool:
        return bool(self.passages)

    @property
    def text(self) -> str:
        return "\n\n".join(f"{each.text} [{each.number}]" for each in self.passages)


def quoted_answer(question: str, found: Answer) -> QuotedAnswer:
    """The results of a search for the question as passages, if they are likely to answer it."""
    hits = found.hits if found.confidence == "high" else ()
    passages = (
        AnswerPassage(number, hit.id, hit.kind, _cut(_text(hit), _MAX_QUOTED), hit.source, hit.score, hit.record)
        for number, hit in enumerate(hits, start=1)
    )
    return QuotedAnswer(question, tuple(passages), dict(found.missing))


@dataclass(frozen=True)
class AnswerWriter:
    """Writes answers with the configured language model, within the token budget of the day."""

    scope: Scope
    store: Store
    settings: Settings
    models: Models

    def write(self, quoted: QuotedAnswer, now: datetime) -> Iterator[AnswerSentence | AnswerEnd]:
        """Sentences as soon as they are written and checked, then one `AnswerEnd`. Never raises for a model."""
        if not quoted.found:
            yield AnswerEnd(AnswerStatus.NOT_FOUND)
            return
        try:
            writer = metered_writer(self.models, self.store, self.scope, now, self.settings)
            readable = self._readable(quoted, writer, now)
        except ModelUnavailable as exc:
            yield AnswerEnd(AnswerStatus.UNAVAILABLE, str(exc))
            return
        withheld = len(quoted.passages) - len(readable)
        if not readable:
            yield AnswerEnd(AnswerStatus.UNAVAILABLE, WITHHELD_QUERY, writer.model, withheld=withheld)
            return
        yield from self._written(quoted.question, readable, writer, withheld)

    def _readable(self, quoted: QuotedAnswer, writer: Writer, now: datetime) -> Sequence[AnswerPassage]:
        """Passages that the model may read; none if it may not read the question."""
        with self.store.reading(self.scope, now) as tx:
            if not query_may_leave(tx, quoted.question, writer.location):
                return ()
        return [
            each
            for each in quoted.passages
            if isinstance(each.record, CodeLocation) or may_leave(each.record, writer.location)
        ]

    def _written(
        self, question: str, passages: Sequence[AnswerPassage], writer: Writer, withheld: int
    ) -> Iterator[AnswerSentence | AnswerEnd]:
        left_out, count, is_not_found = list[str](), 0, False
        try:
            for line in _parts(writer.stream(_prompt(question, passages), max_tokens=_MAX_TOKENS)):
                if line.strip(" .") == _NOT_FOUND:
                    is_not_found = True
                    continue
                for text in sentences_of(line):
                    checked = checked_sentence(text, question, passages)
                    if checked is None:
                        left_out.append(_plain(text))
                    else:
                        count += 1
                        yield checked
        except ModelUnavailable as exc:
            if not isinstance(exc, UnusableAnswer):
                self.models.failed("writer", exc)
            yield AnswerEnd(AnswerStatus.UNAVAILABLE, str(exc), writer.model, tuple(left_out), withheld)
            return
        without = AnswerStatus.NOT_FOUND if is_not_found else AnswerStatus.UNSUPPORTED
        status = AnswerStatus.WRITTEN if count else without
        yield AnswerEnd(status, model=writer.model, left_out=tuple(left_out), withheld=withheld)


def sentences_of(line: str) -> list[str]:
    """The sentences of one line, each with the marks of its citations."""
    found = list[str]()
    for match in _SENTENCE.finditer(_BULLET.sub("", line)):
        text = match[0].strip()
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] = f"{found[-1]} {text}"
        elif text:
            found.append(text)
    return found


def checked_sentence(text: str, question: str, passages: Sequence[AnswerPassage]) -> AnswerSentence | None:
    """The sentence with its valid citations; None without one, or with a figure that they do not contain.

    Numbers that no passage has are removed.
    """
    by_number = {each.number: each for each in passages}
    named = [int(number) for mark in _CITED.findall(text) for number in re.findall(r"\d+", mark)]
    numbers = tuple(dict.fromkeys(number for number in named if number in by_number))
    plain = _plain(text)
    if not numbers or not any(each.isalnum() for each in plain):
        return None
    cited = [part for number in numbers for part in (_read(by_number[number]), by_number[number].source)]
    return AnswerSentence(plain, numbers) if _figures([plain]) <= _figures([question, *cited]) else None


def _figures(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(found.replace(",", "") for text in texts for found in _FIGURE.findall(text))


def _plain(text: str) -> str:
    return _CITED.sub("", text).strip()


def _parts(pieces: Iterable[str]) -> Iterator[str]:
    """Complete lines and cited sentences of the answer as they arrive, without the reasoning before it."""
    opening, closing = _REASONING
    rest, is_begun = "", False
    for piece in pieces:
        rest += piece
        if not is_begun:
            begun = rest.lstrip()
            if begun.startswith(opening) and closing in begun:
                rest = begun.partition(closing)[2]
            elif opening.startswith(begun[: len(opening)]):
                continue  # it is reasoning, or too short to tell
            is_begun = True
        begin = 0
        for end in _CITED_END.finditer(rest):
            if part := rest[begin : end.end()].strip():
                yield part
            begin = end.end()
        rest = rest[begin:]
    if rest.strip() and not rest.lstrip().startswith(opening):
        yield rest


def _prompt(question: str, passages: Sequence[AnswerPassage]) -> str:
    read = "\n\n".join(f"[{each.number}] ({one_line(each.source)}) {one_line(_read(each))}" for each in passages)
    template = files("treering.prompts").joinpath(_PROMPT).read_text("utf-8")
    return template.format(question=delimited(DATA, escaped(question)), passages=delimited(DATA, read))


def _read(passage: AnswerPassage) -> str:
    record = passage.record
    return _cut(passage.text if isinstance(record, CodeLocation) else cite(record)[0], _MAX_READ)


def _text(hit: Hit) -> str:
    return hit.text if isinstance(hit.record, CodeLocation) else cite(hit.record)[0]


def _cut(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"
