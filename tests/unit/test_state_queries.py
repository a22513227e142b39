"""Which state a query asks for: the current one, a former one, its history, or that of a past day."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from treering.search.query import interpret
from treering.search.states import StateKind, StateQuery, state_query

NOW = datetime(2026, 5, 20, 10, tzinfo=UTC)
END_OF_DAY = datetime(2026, 4, 10, tzinfo=UTC)


def read(query: str, language: str, *, as_of: bool = False) -> StateQuery | None:
    tx = cast(Any, SimpleNamespace(now=NOW, index=SimpleNamespace(languages=lambda: (language,))))
    return state_query(tx, interpret(query, NOW, languages=(language,)), as_of=as_of)


@pytest.mark.parametrize(
    ("language", "query", "kind"),
    [
        ("en", "Where is the band rehearsing?", StateKind.NOW),
        ("en", "Where was the band rehearsing before?", StateKind.BEFORE),
        ("en", "Where did the band rehearse originally?", StateKind.FIRST),
        ("en", "How has the rehearsal room changed over time?", StateKind.HISTORY),
        ("de", "Wo probt die Band?", StateKind.NOW),
        ("de", "Wo hat die Band vorher geprobt?", StateKind.BEFORE),
        ("de", "Wo hat die Band ursprünglich geprobt?", StateKind.FIRST),
        ("de", "Wie hat sich der Probenraum im Laufe der Zeit verändert?", StateKind.HISTORY),
        ("fr", "Où répète le groupe ?", StateKind.NOW),
        ("fr", "Où répétait le groupe auparavant ?", StateKind.BEFORE),
        ("fr", "Où répétait le groupe au départ ?", StateKind.FIRST),
        ("fr", "Comment la salle de répétition a-t-elle changé au fil du temps ?", StateKind.HISTORY),
        ("it", "Dove prova la banda?", StateKind.NOW),
        ("it", "Dove provava la banda in precedenza?", StateKind.BEFORE),
        ("it", "Dove provava la banda all'inizio?", StateKind.FIRST),
        ("it", "Qual è la cronologia della sala prove?", StateKind.HISTORY),
        ("es", "¿Dónde ensaya la banda?", StateKind.NOW),
        ("es", "¿Dónde ensayaba la banda antes?", StateKind.BEFORE),
        ("es", "¿Dónde ensayaba la banda al principio?", StateKind.FIRST),
        ("es", "¿Cuál es el historial de la sala de ensayo?", StateKind.HISTORY),
    ],
)
def test_the_wording_decides_the_state(language: str, query: str, kind: StateKind) -> None:
    assert read(query, language) == StateQuery(kind)


@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("en", "What was the locker code on 9 April 2026?"),
        ("de", "Wie hoch war der Mitgliedsbeitrag am 9. April 2026?"),
        ("fr", "Où habitait Nora le 9 avril 2026 ?"),
        ("it", "Dove lavorava Nora il 9 aprile 2026?"),
        ("es", "¿Dónde trabajaba Nora el 9 de abril de 2026?"),
    ],
)
def test_a_past_day_asks_for_the_state_at_its_end(language: str, query: str) -> None:
    assert read(query, language) == StateQuery(StateKind.NOW, END_OF_DAY)


@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("en", "What was decided in April 2026?"),
        ("en", "Why was the locker code changed?"),
        ("de", "Warum wurde der Beitrag erhöht?"),
        ("fr", "Pourquoi Nora avait-elle déménagé ?"),
        ("it", "Quante volte ha chiamato Nora?"),
        ("es", "¿Por qué fue Nora a Lugo?"),
    ],
)
def test_past_events_ask_for_no_state_except_as_of_a_time(language: str, query: str) -> None:
    assert read(query, language) is None
    assert read(query, language, as_of=True) == StateQuery(StateKind.NOW)


def test_a_day_that_is_not_over_is_no_past_day() -> None:
    query = read("What was the locker code on 20 May 2026?", "en", as_of=True)
    assert query is not None
    assert query.at is None
