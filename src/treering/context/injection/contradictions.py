"""Records that the user's own words contradict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from treering.core.wording import MAX_STATEMENT

if TYPE_CHECKING:
    from treering.core.records import Knowledge

_MAX_SENTENCES = 12


def contradicted_by(
    prompt: str, records: Iterable[Knowledge], now: datetime, languages: Sequence[str] = ()
) -> frozenset[str]:
    """Ids of the records that a sentence of the prompt contradicts, as two stored statements would.

    All are read in the language of the prompt; if it is not recognised, in the first of `languages`, those of the
    memory. A short text would be read in every language that it may be, and the rules of each take longer to load
    than the agent waits.
    """
    from treering.core.language.stems import language_of
    from treering.knowledge.conflicts import ComparedRecord, Verdict, may_conflict, verdict_on
    from treering.knowledge.facts.sentences import sentences

    spoken = language_of(prompt, languages) or next(iter(languages), "en")
    compared = [ComparedRecord(_read_in(spoken, each)) for each in records if may_conflict(each, now)]
    if not compared:
        return frozenset()
    said = [
        ComparedRecord(_statement(sentence.text, now, spoken))
        for sentence in islice(sentences(prompt), _MAX_SENTENCES)
        if 0 < len(sentence.text.strip()) <= MAX_STATEMENT
    ]
    return frozenset(old.record.id for old in compared for new in said if verdict_on(new, old) is not Verdict.UNRELATED)


def load_comparison(now: datetime, languages: Iterable[str]) -> None:
    """Load what comparing two statements in these languages needs, which takes longer than any comparison."""
    from treering.knowledge.facts.wordings import LANGUAGES, language

    contradicted_by("We use tabs instead of spaces now", [_statement("We use spaces", now, "en")], now)
    for code in LANGUAGES:
        if code in languages:
            language(code)


def _read_in(language: str, record: Knowledge) -> Knowledge:
    return record if record.language else record.replace(language=language)


def _statement(text: str, now: datetime, language: str) -> Knowledge:
    from treering.core.records import Knowledge, Source

    times = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), now)
    return Knowledge.make(
        id="said", type="fact", content=text.strip(), language=language, source=Source.USER_TAUGHT, **times
    )
