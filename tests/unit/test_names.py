"""Names in a query: where they begin and end, and in which other ways they may be written."""

import pytest

from treering.core.language.stems import stemmer
from treering.search.entity_names import NameSpan, exact_key, name_spans
from treering.search.spellings import corrections, spellings

ENGLISH = stemmer("en")


def texts(query: str, most: int = 250) -> set[str]:
    return {run.text for run in name_spans(query, most)}


def test_names_are_runs_of_up_to_four_words_without_what_surrounds_them() -> None:
    found = texts("Did (Ada Lovelace's) friend @Bob like C++ in l'Italia?")
    assert {"Ada", "Ada Lovelace", "Bob", "C++", "Italia", "Did (Ada Lovelace"} <= found
    assert max(run.end - run.start for run in name_spans("one two three four five six", 250)) == 4


def test_names_are_found_among_what_they_are_joined_with() -> None:
    assert {"anchor", "buoy", "davit"} <= texts("anchor/buoy,davit")
    assert {"anchor", "anchor-based"} <= texts("an anchor-based mooring")
    assert {"three.js", "O'Neil", "Zoë".replace("ë", "e")} <= texts("three.js by O'Neil\nand Zoë")


def test_a_long_text_has_no_more_names_than_are_looked_up() -> None:
    assert len(name_spans("word " * 10_000 + "京" * 100_000, 50)) <= 50
    assert name_spans(" \ud800 \x07 ... ", 50) == ()
    assert name_spans("", 50) == ()


def test_runs_know_where_they_stand() -> None:
    harbour = NameSpan("the harbour", 1, 3)
    assert harbour in name_spans("at the harbour master", 250)
    assert NameSpan("harbour", 2, 3).is_inside(harbour)
    assert not harbour.is_inside(harbour)
    assert not NameSpan("harbour master", 2, 4).is_inside(harbour)


def test_characters_of_a_script_without_spaces_stand_inside_their_word() -> None:
    runs = {run.text: run for run in name_spans("昨日東京タワー", 250)}
    assert runs["東京"].is_inside(runs["東京タワー"])
    assert not runs["昨日"].is_inside(runs["東京タワー"])


def test_a_name_of_marks_alone_has_no_key() -> None:
    assert exact_key(NameSpan("--", 0, 1)) == ()
    assert exact_key(NameSpan("the Harbour-Master", 0, 2)) == ("harbour master",)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("FastApi", "fastapi"),
        ("fastapi", "fast api"),
        ("fast api", "fastapi"),
        ("three js", "three.js"),
        ("threejs", "three.js"),
        ("three.js", "threejs"),
        ("harbour-masters", "harbour master"),
        ("tide table", "tide tables"),
        ("ferries", "ferry"),
        ("dredge", "dredging"),
        ("mooring", "moor"),
        ("crane tracks", "crane track"),
    ],
)
def test_a_name_is_found_in_other_forms(written: str, kept: str) -> None:
    assert kept in set(spellings(written, ENGLISH))


@pytest.mark.parametrize(("written", "other"), [("moor", "door"), ("tide table", "tide"), ("crane", "cranium")])
def test_another_word_is_no_other_form(written: str, other: str) -> None:
    assert other not in set(spellings(written, ENGLISH))


@pytest.mark.parametrize("written", ["anchro", "ancor", "anchhor", "anchir", "anchors"])
def test_one_slip_is_forgiven(written: str) -> None:
    assert "anchor" in set(corrections(written))


@pytest.mark.parametrize("written", ["nachor", "bnchor", "ankkor", "anchorage"])
def test_a_slip_in_the_first_letters_or_a_second_one_is_not(written: str) -> None:
    assert "anchor" not in set(corrections(written))
