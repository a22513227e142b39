"""Queries for a type of knowledge and a time: "what did we decide today"."""

import re
from collections.abc import Mapping

from treering.core.language.folding import fold
from treering.core.language.stems import stop_words
from treering.core.queries import KnowledgeFilter, SearchedKind
from treering.search.paths import hull
from treering.search.query import Question
from treering.search.request import Filters


def _words(alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)")


# Without accents, as words are folded: English, French, German, Spanish, Italian, Portuguese.
_TYPES: Mapping[str, re.Pattern[str]] = {
    "decision": _words(
        r"deci[ds]\w*|entsch(?:ied|eid)\w*|beschl(?:oss|uss|uess)\w*|deliber\w*"
        r"|agree|agreed|ch(?:o|oo)se|chosen|choices?|settled?"
        r"|convenu\w*|choisi\w*|vereinbart\w*|geeinigt|acord(?:amos|ado|aron)|eleg(?:imos|ido)|scelt[oaie]|stabilit[oaie]"
    ),
    "preference": _words(r"prefer\w*|bevorzug\w*|vorlieb\w*"),
    "requirement": _words(r"requirements?|exigenc\w*|anforderung\w*|requisit\w*"),
    "gotcha": _words(r"gotchas?|pitfalls?|pieges?|stolperstein\w*"),
    "dead_end": _words(r"dead ends?|impasses?|sackgasse\w*"),
}
# Words around the type that do not name a subject.
_FILLER_WORDS = re.compile(
    r"take|took|taken|make|made|do|did|done|go|come|new|latest|last|any|all|list|show|prendre|pris|prise\w*|getroffen"
    r"|treffen|gefallt|tomado|tomamos|preso|presa|fatto|neue\w*"
    r"|find|found|learn\w*|discover\w*|see|saw|seen|hit|meet|met|reach\w*|encounter\w*|run|ran|into|come|came|get|got"
    r"|have|had|has|been|record\w*|not(?:e|ed)|stor(?:e|ed)|ke(?:ep|pt)|sav(?:e|ed)|add|added|collect\w*|tell|know|known"
    r"|trouv\w*|decouv\w*|rencontr\w*|appris|gefunden|entdeckt|gelernt|notiert|festgehalten|encontr\w*|descub\w*"
    r"|trovat\w*|scopert\w*"
    r"|happen\w*|try|tried|discuss\w*|talk\w*|work\w*|[0-9]{4}-[0-9]{2}-[0-9]{2}"
)
_STOP_WORDS = frozenset(word for language in ("en", "fr", "de", "es", "it", "pt") for word in stop_words(language))
"""Stop words of all languages: the language of a short question is not always recognised."""


def asked_type(question: Question) -> str | None:
    """Type of knowledge that the query asks for; None if it names no type or no time."""
    if question.times is None or not question.times.spans:
        return None
    return next((name for name, pattern in _TYPES.items() if pattern.search(_query_words(question))), None)


def names_only_type_and_time(question: Question, type: str) -> bool:
    """Whether the query names the type and the time, but no subject."""
    return _names_no_subject(question, _TYPES[type].sub(" ", _query_words(question)))


def names_only_a_time(question: Question) -> bool:
    """Whether the query names a time and no subject: "what happened yesterday"."""
    has_time = question.times is not None and bool(question.times.spans)
    return has_time and _names_no_subject(question, _query_words(question))


def _names_no_subject(question: Question, asked: str) -> bool:
    assert question.times is not None
    when = fold(" ".join(question.times.phrases))
    when += when.replace("'", "")
    return all(word in when or word in _STOP_WORDS or _FILLER_WORDS.fullmatch(word) for word in asked.split())


def _query_words(question: Question) -> str:
    return fold(" ".join(term.word for term in question.terms))


def narrowed_to_type(filters: Filters, question: Question, type: str) -> Filters | None:
    """Filters for records of this type from the time that the query names; None if the filters exclude them."""
    where = filters.get(SearchedKind.KNOWLEDGE)
    if not isinstance(where, KnowledgeFilter) or (where.types and type not in where.types):
        return None
    assert question.times is not None
    return {SearchedKind.KNOWLEDGE: where.replace(types=(type,), created=where.created or hull(question.times.spans))}
