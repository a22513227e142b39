"""Which queries ask for a place in the code."""

import pytest

from treering.search.location_questions import asks_for_location

ASKED = (
    "where is the session cookie signed?",
    "Where are redirects followed?",
    "where do we retry failed uploads",
    "where in the code is the cache cleared?",
    "Where does the token get verified?",
    "where's the timeout set?",
    "which function parses the header?",
    "in which file is the schema defined?",
    "what module handles login",
    "find the function that hashes passwords",
    "show me the code for pagination",
    "où est vérifié le jeton ?",
    "dans quel fichier est défini le schéma ?",
    "quelle fonction gère la pagination ?",
    "dove viene controllato il token?",
    "in quale file è definito lo schema?",
    "wo wird der Cookie signiert?",
    "Wo prüfen wir das Token?",
    "welche Funktion liest die Kopfzeile?",
    "in welcher Datei steht das Schema?",
    "¿dónde se comprueba el token?",
    "¿en qué archivo está definido el esquema?",
    "qué función analiza la cabecera",
)
NOT_ASKED = (
    "",
    "redirects",
    "how do redirects work?",
    "who fixed the login?",
    "where are my keys?",
    "where did I put the notebook?",
    "where did she live in 2019?",
    "Somewhere is a bug",
    "which restaurant did we like?",
    "thé ou café",
    "wo wohnt Anna?",
    "wo ist mein Schlüssel?",
    "dove abita Carla?",
    "¿dónde están mis llaves?",
    "où est mon passeport ?",
    "the files that matter",
)


@pytest.mark.parametrize("query", ASKED)
def test_who_asks_for_a_place_means_the_code(query: str) -> None:
    assert asks_for_location(query)


@pytest.mark.parametrize("query", NOT_ASKED)
def test_who_asks_for_something_else_does_not(query: str) -> None:
    assert not asks_for_location(query)


def test_a_long_query_takes_no_long_time() -> None:
    assert not asks_for_location("which what " * 100_000)
