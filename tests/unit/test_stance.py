"""How texts stand to what they say, and how queries speak of time, in five languages."""

import pytest

from treering.core.language.stance import LANGUAGES, _wording, query_wording, stance_of
from treering.core.language.values import differ, values_in


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The standup is at 9:15."),
        ("de", "Das Review findet freitags um 14 Uhr statt."),
        ("fr", "Le rapport est à rendre le 20 mars."),
        ("it", "Il treno parte alle 8:25."),
        ("es", "El curso empieza el 14 de septiembre."),
        ("en", "Is it still Tuesday? They meet on Thursday."),
    ],
)
def test_a_statement_states(language: str, text: str) -> None:
    assert stance_of(text, language).states


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Is it still at nine?"),
        ("en", "Maybe we'll move to Leeds."),
        ("en", "If we went with Redis, it would be faster."),
        ("en", "I'd like to work in Oslo."),
        ("de", "Vielleicht ziehen wir nach Bonn."),
        ("de", "Wenn die Miete steigt, zahlen wir 1.400 Euro."),
        ("fr", "On pourrait le faire le mardi."),
        ("it", "Forse cambiamo palestra."),
        ("es", "Quizá miremos un Ibiza en otoño."),
    ],
)
def test_questions_plans_and_conditions_state_nothing(language: str, text: str) -> None:
    assert not stance_of(text, language).states


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "We switched to Postgres."),
        ("en", "The billing API no longer listens on 8081."),
        ("de", "Das Training ist auf Mittwoch verschoben."),
        ("fr", "On a changé d'opérateur."),
        ("it", "La riunione è spostata a martedì."),
        ("es", "Ya no trabajo en la clínica."),
    ],
)
def test_changes_are_seen(language: str, text: str) -> None:
    assert stance_of(text, language).changes


def test_values_of_one_kind_are_compared_and_others_are_not() -> None:
    assert differ(values_in("at 9:15"), values_in("from 9:45 on"))
    assert differ(values_in("on September 22"), values_in("the launch goes to October 6"))
    assert not differ(values_in("on Friday at 11:30"), values_in("11:30 it is"))
    assert not differ(values_in("costs 48 euros"), values_in("at 9:45"))
    assert values_in("nothing to count here") == {}


@pytest.mark.parametrize(
    ("language", "query", "expected"),
    [
        ("en", "Where do I live?", set()),
        ("en", "Where did I live before?", {"past", "former"}),
        ("en", "Which port did billing use originally?", {"past", "former", "first"}),
        ("en", "How has the deadline changed?", {"past", "history"}),
        ("de", "Wie hoch ist die Warmmiete?", set()),
        ("de", "Wo habe ich früher gewohnt?", {"past", "former"}),
        ("fr", "Quelle version fait tourner le serveur ?", set()),
        ("fr", "Où habitait Léa avant ?", {"past", "former"}),
        ("it", "Dove lavora Ada?", set()),
        ("it", "Dove lavorava prima?", {"past", "former"}),
        ("es", "¿Dónde vive Ana?", set()),
        ("es", "¿Dónde vivía antes?", {"past", "former"}),
    ],
)
def test_how_a_query_speaks_of_time(language: str, query: str, expected: set[str]) -> None:
    assert query_wording(query, language) - {"then", "supposing"} == expected


def test_every_language_has_the_same_wordings() -> None:
    names = {language: set(_wording(language)) for language in LANGUAGES}
    assert len(set(map(frozenset, names.values()))) == 1, names
    assert stance_of("Ik woon in Gent.", "nl").states
