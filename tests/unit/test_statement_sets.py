"""Which of several statements about a subject is current, and which it replaces."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
import pytest

from treering.core.language.folding import fold
from treering.core.messages import Role
from treering.core.turns import Turn
from treering.search.ranked_result import RankedResult
from treering.search.statements import StatementSet, statement_of

START = datetime(2026, 2, 3, 12, tzinfo=UTC)


class Line(NamedTuple):
    """One turn, a day after the one before; `near` is its similarity to every other turn."""

    text: str
    speaker: str | None = None
    score: float = 0.8
    near: float = 0.7
    role: Role = Role.USER
    has_subject: bool = True


def statements(
    query: str,
    turns: Sequence[Line],
    *,
    language: str = "en",
    shared_rarity: float = 0.0,
    names: Collection[str] = (),
) -> StatementSet:
    records = [
        Turn.make(
            id=f"t{place}",
            session="s",
            seq=place,
            role=each.role,
            speaker=each.speaker,
            text=each.text,
            language=language,
            at=START + timedelta(days=place),
            recorded_at=START,
        )
        for place, each in enumerate(turns)
    ]
    read = [statement_of(record, language, (language,)) for record in records]
    near = np.array([[min(one.near, other.near) for other in turns] for one in turns])
    np.fill_diagonal(near, 1.0)
    return StatementSet(
        query=fold(query),
        names=frozenset(names),
        results=[
            RankedResult(place, place, "turn", record, 1.0, {}, turns[place].score)
            for place, record in enumerate(records)
        ],
        items=[each for each in read if each is not None],
        similarity=near,
        query_words=[frozenset({0}) if each.has_subject else frozenset[int]() for each in turns],
        rarities=[1.0],
        shared_rarity=np.full((len(turns), len(turns)), shared_rarity),
    )


@pytest.mark.parametrize(
    ("language", "query", "old", "new"),
    [
        ("en", "When is the book club?", "The book club meets at 19:30.", "The book club was called off."),
        ("de", "Wann ist der Lesekreis?", "Der Lesekreis ist um 19:30 Uhr.", "Der Lesekreis ist abgesagt."),
        ("fr", "Quand est le club de lecture ?", "Le club de lecture est à 19h30.", "Le club de lecture est annulé."),
        ("it", "Quando è il club del libro?", "Il club del libro è alle 19:30.", "Il club del libro è annullato."),
        (
            "es",
            "¿Cuándo es el club de lectura?",
            "El club de lectura es a las 19:30.",
            "Se cancela el club de lectura.",
        ),
    ],
)
def test_an_end_replaces_a_value_without_naming_another(language: str, query: str, old: str, new: str) -> None:
    read = statements(query, [Line(old, score=0.9), Line(new)], language=language)
    assert read.current_row() == 1
    assert read.superseded_numbers(1) == {0}


@pytest.mark.parametrize(
    ("language", "query", "old", "new"),
    [
        (
            "en",
            "When is the book club?",
            "The book club meets at 19:30.",
            "The book club is lovely these days, really.",
        ),
        ("de", "Wann ist der Lesekreis?", "Der Lesekreis ist um 19:30 Uhr.", "Der Lesekreis ist jetzt richtig schön."),
        ("fr", "Quand est le club ?", "Le club est à 19h30 le mardi.", "Le club est maintenant très animé."),
        ("it", "Quando è il club?", "Il club è alle 19:30 in sala.", "Il club adesso è molto divertente."),
        ("es", "¿Cuándo es el club?", "El club es a las 19:30 en sala.", "El club ahora es muy divertido."),
    ],
)
def test_a_statement_without_a_value_does_not_answer_a_question_for_one(
    language: str, query: str, old: str, new: str
) -> None:
    assert statements(query, [Line(old, score=0.9), Line(new)], language=language).current_row() == 0


@pytest.mark.parametrize(
    ("language", "query", "old", "new"),
    [
        ("en", "Who prints our flyers?", "Our flyers are printed by Osprey.", "Decided: Osprey is replaced by Heron."),
        (
            "de",
            "Wer druckt unsere Flyer?",
            "Unsere Flyer druckt Adler.",
            "Beschlossen: Adler wird durch Reiher ersetzt.",
        ),
        (
            "fr",
            "Qui imprime nos tracts ?",
            "Nos tracts sont imprimés par Milan.",
            "Décision : Milan est remplacé par Héron.",
        ),
        ("it", "Chi stampa i volantini?", "I volantini li stampa Falco.", "Deciso: Falco viene sostituito da Airone."),
        (
            "es",
            "¿Quién imprime los folletos?",
            "Los folletos los imprime Halcón.",
            "Decidido: cambiamos Halcón por Garza.",
        ),
    ],
)
def test_another_person_may_decide_a_change_that_names_the_former_value(
    language: str, query: str, old: str, new: str
) -> None:
    turns = [Line(old, "Ivo", score=0.9, near=0.1), Line(new, "Uta", score=0.6, near=0.1)]
    assert statements(query, turns, language=language, shared_rarity=1.0).current_row() == 1
    assert statements(query, turns, language=language).current_row() == 0


@pytest.mark.parametrize(
    ("language", "query", "old", "new"),
    [
        ("en", "Where do I swim?", "I swim at the Lido on Fridays.", "I swim at the Marina on Fridays."),
        ("de", "Wo schwimme ich?", "Ich schwimme im Lido am Freitag.", "Ich schwimme im Seebad am Freitag."),
        ("fr", "Où est-ce que je nage ?", "Je nage au Lido le vendredi.", "Je nage à la Marina le vendredi."),
        ("it", "Dove nuoto?", "Nuoto al Lido ogni venerdì mattina.", "Nuoto alla Marina ogni venerdì mattina."),
        ("es", "¿Dónde nado?", "Nado en el Lido cada viernes.", "Nado en la Marina cada viernes."),
    ],
)
def test_another_person_without_a_word_of_change_replaces_nothing(
    language: str, query: str, old: str, new: str
) -> None:
    by_two = [Line(old, "Ivo", score=0.9), Line(new, "Uta")]
    assert statements(query, by_two, language=language).current_row() == 0
    by_one = [Line(old, "Ivo", score=0.9), Line(new, "Ivo")]
    assert statements(query, by_one, language=language).current_row() == 1


@pytest.mark.parametrize(
    "later",
    [
        Line("Should we move the tasting to the barn?"),
        Line("Maybe we move the tasting to the barn."),
        Line("My cousin's tasting moved to the barn.", has_subject=False),
        Line("The tasting has moved to the barn.", role=Role.ASSISTANT),
        Line("The tasting is in the cellar."),
    ],
    ids=["question", "plan", "other people", "agent", "same text"],
)
def test_what_replaces_nothing(later: Line) -> None:
    read = statements("Where is the tasting?", [Line("The tasting is in the cellar.", score=0.9), later])
    assert read.current_row() == 0
    assert read.superseded_numbers(0) == frozenset()


def test_a_similar_statement_about_another_subject_replaces_nothing() -> None:
    turns = [
        Line("The oak barrel holds 225 litres.", score=0.9),
        Line("The steel tank now holds 900 litres.", has_subject=False),
    ]
    assert statements("How much does the oak barrel hold?", turns).current_row() == 0


def test_a_change_that_has_nothing_in_common_with_the_lead_replaces_nothing() -> None:
    turns = [
        Line("Ivo sails on the lake with the juniors.", score=0.9, near=0.1),
        Line("I decided against the junior post this year.", near=0.1, has_subject=False),
    ]
    assert statements("Where does Ivo sail?", turns).current_row() == 0


def test_the_lead_has_a_value_if_the_query_asks_for_one() -> None:
    turns = [
        Line("The chess evening is on Thursdays at noon.", score=0.85, near=0.1),
        Line("The chess evening was about end games.", score=0.9, near=0.1),
    ]
    assert statements("When is the chess evening?", turns).lead == 0
    assert statements("What is the chess evening about?", turns).lead == 1


def test_a_statement_with_the_name_in_the_query_is_not_about_other_people() -> None:
    turns = [
        Line("My daughter Mira has her party on 28 June.", score=0.9, near=0.1),
        Line("We decided that the party hat is ordered for 3 July.", near=0.1),
    ]
    about_mira = statements("When is the party of Mira?", turns, names=("mira",))
    assert (about_mira.lead, statements("When is the party?", turns).lead) == (0, 1)


def test_the_chain_is_in_order_of_time_and_has_the_former_and_the_first_state() -> None:
    turns = [
        Line("The choir sings in the chapel.", score=0.7),
        Line("The choir moved to the school hall.", score=0.8),
        Line("The choir is now in the library.", score=0.9),
        Line("Will the choir ever get a stage?", score=0.9),
    ]
    read = statements("Where does the choir sing?", turns)
    current = read.current_row()
    assert current == 2
    assert read.chain(current) == [0, 1, 2]
    assert read.previous_row(current, first=False) == 1
    assert read.previous_row(current, first=True) == 0
    assert read.previous_row(0, first=False) is None


def test_nothing_is_current_if_nothing_is_stated() -> None:
    assert (
        statements("Where is the key?", [Line("Where is the key?"), Line("Maybe in the shed.")]).current_row() is None
    )
