"""Stance of texts and time wording of queries, in five languages."""

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


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The pottery course was called off."),
        ("en", "There is no shuttle bus any more, we dropped it."),
        ("de", "Der Flohmarkt ist abgesagt."),
        ("de", "Den Newsletter gibt es nicht mehr."),
        ("fr", "La visite guidée est annulée."),
        ("fr", "J'ai résilié l'abonnement au journal."),
        ("it", "Il mercatino è stato annullato."),
        ("it", "Ho disdetto l'abbonamento in piscina."),
        ("es", "La excursión está cancelada."),
        ("es", "Ya no hay servicio de guardería."),
    ],
)
def test_an_end_is_also_a_change(language: str, text: str) -> None:
    stance = stance_of(text, language)
    assert (stance.states, stance.changes, stance.ends) == (True, True, True)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The pottery course moved to Friday."),
        ("en", "Maybe the pottery course gets cancelled."),
        ("en", "Was the pottery course called off?"),
        ("de", "Der Flohmarkt ist auf Sonntag verschoben."),
        ("de", "Ist der Flohmarkt abgesagt?"),
        ("fr", "La visite guidée passe à 15h."),
        ("fr", "La visite sera peut-être annulée."),
        ("it", "Il mercatino è spostato a domenica."),
        ("it", "Forse il mercatino viene annullato."),
        ("es", "La excursión pasa al sábado."),
        ("es", "¿Está cancelada la excursión?"),
    ],
)
def test_moves_questions_and_guesses_end_nothing(language: str, text: str) -> None:
    assert not stance_of(text, language).ends


@pytest.mark.parametrize(
    ("language", "text", "others"),
    [
        ("en", "My neighbour parks in bay 4 now.", {"neighbour"}),
        ("de", "Meine Tante arbeitet jetzt in Kassel.", {"tante"}),
        ("fr", "Mon oncle habite maintenant à Brest.", {"oncle"}),
        ("it", "Mia cugina lavora adesso a Parma.", {"cugina"}),
        ("es", "Mi abuela vive ahora en Lugo.", {"abuela"}),
        ("fr", "J'ai vu l'oncle de Rémi à Brest.", {"oncle"}),
        ("it", "Ho visto l'amica di Ada a Parma.", {"amica"}),
        ("en", "I park in bay 7 now.", set()),
    ],
)
def test_other_people_are_recognised(language: str, text: str, others: set[str]) -> None:
    assert stance_of(text, language).others == others


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("en", "The greenhouse thermostat is now at 19 degrees.", {"greenhouse", "thermostat", "degrees"}),
        ("de", "Der Bücherbus parkt jetzt am Dienstag.", {"bucherbus", "parkt"}),
        ("fr", "La fanfare répète désormais le jeudi.", {"fanfare", "repete"}),
    ],
)
def test_content_words_leave_out_change_words_and_values(language: str, text: str, words: set[str]) -> None:
    assert stance_of(text, language).content_words == words


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
        ("fr", "Où est-ce qu'habitait Léa ?", {"past"}),
        ("fr", "Quelle est l'ancienne adresse ?", {"past", "former"}),
        ("it", "Dove lavora Ada?", set()),
        ("it", "Dove lavorava prima?", {"past", "former"}),
        ("es", "¿Dónde vive Ana?", set()),
        ("es", "¿Dónde vivía antes?", {"past", "former"}),
    ],
)
def test_how_a_query_speaks_of_time(language: str, query: str, expected: set[str]) -> None:
    assert query_wording(query, language) - {"then", "supposing"} == expected


@pytest.mark.parametrize(
    ("language", "query", "about_a_day"),
    [
        ("en", "What was the wifi password on 3 June 2025?", True),
        ("en", "Which bakery supplied the canteen on 3 June 2025?", True),
        ("en", "What is the wifi password?", False),
        ("de", "Wo stand der Drucker am 3. Juni 2025?", True),
        ("de", "Wo ist der Drucker?", False),
        ("fr", "Où travaillait Inès le 3 juin 2025 ?", True),
        ("fr", "Où travaille Inès ?", False),
        ("it", "Chi guidava il furgone il 3 giugno 2025?", True),
        ("it", "Chi guida il furgone?", False),
        ("es", "¿Quién llevaba la caja el 3 de junio de 2025?", True),
        ("es", "¿Quién lleva la caja?", False),
    ],
)
def test_queries_about_a_past_day(language: str, query: str, about_a_day: bool) -> None:
    assert ("then" in query_wording(query, language)) is about_a_day


def test_every_language_has_the_same_wordings() -> None:
    names = {language: set(_wording(language)) for language in LANGUAGES}
    assert len(set(map(frozenset, names.values()))) == 1, names
    assert stance_of("Ik woon in Gent.", "nl").states
