"""Records that the user's own words contradict."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from treering.core.wording import MAX_STATEMENT

if TYPE_CHECKING:
    from treering.core.records import Knowledge

_MAX_SENTENCES = 12


def contradicted_by(prompt: str, records: Iterable[Knowledge], now: datetime) -> frozenset[str]:
    """Ids of the records that a sentence of the prompt contradicts, as two stored statements would."""
    from treering.knowledge.conflicts import ComparedRecord, Verdict, may_conflict, verdict_on
    from treering.knowledge.facts.sentences import sentences

    compared = [ComparedRecord(each) for each in records if may_conflict(each, now)]
    if not compared:
        return frozenset()
    said = [
        ComparedRecord(_statement(sentence.text, now))
        for sentence in islice(sentences(prompt), _MAX_SENTENCES)
        if 0 < len(sentence.text.strip()) <= MAX_STATEMENT
    ]
    return frozenset(old.record.id for old in compared for new in said if verdict_on(new, old) is not Verdict.UNRELATED)


def load_comparison(now: datetime) -> None:
    """Load what comparing two statements needs, which takes longer than any comparison."""
    contradicted_by("We use tabs instead of spaces now", [_statement("We use spaces", now)], now)


def _statement(text: str, now: datetime) -> Knowledge:
    from treering.core.records import Knowledge, Source

    times = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), now)
    return Knowledge.make(id="said", type="fact", content=text.strip(), source=Source.USER_TAUGHT, **times)
