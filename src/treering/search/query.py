"""An interpreted query: its words, kind, times, files in play and speakers."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from treering.core.language.folding import fold
from treering.core.language.terms import QueryTerm, code_of, codes_of, query_terms
from treering.core.language.text_features import asks
from treering.core.messages import Role
from treering.core.time_words import TimeKind, TimeWords, read_times
from treering.search.query_kinds import QueryClass, classify_query

if TYPE_CHECKING:
    from numpy.typing import NDArray


STATEMENT_SHARE = 0.5  # weight of a word that occurs only in a statement beside a question: it is background

_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"[^.!?。！？؟\n]+[.!?。！？؟\n]*")
# First person: the query is about the user's own words. English, French, Italian, German, Spanish, Chinese.
_FIRST_PERSON = frozenset(
    (
        *("i", "im", "ive", "my", "me", "mine", "myself", "we", "our", "ours", "us"),
        *("je", "j", "mon", "ma", "mes", "moi", "nous", "notre", "nos"),
        *("io", "mio", "mia", "miei", "mie", "noi", "nostro", "nostra"),
        *("ich", "mein", "meine", "meinen", "meinem", "meiner", "mir", "mich", "wir", "unser", "unsere", "uns"),
        *("yo", "mi", "mis", "conmigo", "nosotros", "nuestro", "nuestra"),
    )
)
_CHINESE_FIRST_PERSON = re.compile("我|咱")
_WHEN = re.compile(
    r"\b(?:when|what (?:date|day|month|year|time)|which (?:date|day|month|year|week)|how long"
    r"|quand|quelle date|combien de temps|quando|in che (?:data|anno|mese|giorno)|da quanto"
    r"|wann|wie lange|an welchem tag|cuando|en que (?:fecha|ano|mes|dia)|cuanto tiempo)\b"
    r"|什么时候|何时|几号|几月|哪[天年]|多久|多长时间"
)


@dataclass(frozen=True)
class Question:
    """An interpreted query."""

    text: str
    terms: tuple[QueryTerm, ...]
    codes: Sequence[Sequence[int]]
    shares: Sequence[float]
    """Weight of each word; words of interrogative sentences count more than those of the sentences around them."""
    kind: QueryClass
    times: TimeWords | None
    names: NDArray[np.int64]
    """Codes of the speakers that the query names, and of the user if it is in the first person."""
    asks_when: bool
    files: tuple[str, ...]


def interpret(
    query: str,
    now: datetime,
    *,
    languages: Sequence[str] = (),
    speakers: Collection[int] = (),
    files: Sequence[str] = (),
) -> Question:
    folded = fold(query)
    words = _WORD.findall(folded)
    named = {code for code in map(code_of, words) if code in speakers}
    times = read_times(query, now)
    # A time that bounds the search is not searched as words; a date that is only preferred may occur in texts.
    bounded = times is not None and times.spans and times.kind is TimeKind.FILTER
    terms = query_terms(_without(query, times.phrases), languages) if times and bounded else ()
    terms = terms or query_terms(query, languages)
    # Speakers are matched by the speaker of a turn; as words, names would find the turns addressed to them.
    terms = tuple(term for term in terms if code_of(term.word) not in named) or terms
    asked = {term.word for term in query_terms(_interrogative_part(query), languages)}
    own = not _FIRST_PERSON.isdisjoint(words) or _CHINESE_FIRST_PERSON.search(query) is not None
    return Question(
        text=query,
        terms=terms,
        codes=[codes_of(term.forms) for term in terms],
        shares=[1.0 if term.word in asked else STATEMENT_SHARE for term in terms],
        kind=classify_query(query),
        times=times,
        names=np.array(sorted(named | ({code_of(Role.USER.value)} if own else set())), np.int64),
        asks_when=_WHEN.search(folded) is not None,
        files=tuple(files),
    )


def _interrogative_part(query: str) -> str:
    """The interrogative sentences; the whole query if there is none."""
    sentences = _SENTENCE.findall(query)
    return " ".join(filter(asks, sentences)) or query


def _without(query: str, phrases: Sequence[str]) -> str:
    for phrase in phrases:
        query = query.replace(phrase, " ")
    return query
