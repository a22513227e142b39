"""Names in texts: by their shape, by capitals and the words beside them, by a parser, by a model."""

import sys
from collections.abc import Iterable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from treering.core.entities import EntityKind
from treering.core.errors import MissingDependency, ModelUnavailable
from treering.core.privacy import ModelLocation
from treering.core.settings import EntitySettings
from treering.entities.extraction.llm_provider import LlmNames
from treering.entities.extraction.mentions import EntityMention, without_overlaps
from treering.entities.extraction.providers import accurate_readers
from treering.entities.extraction.rules import FAST, extract, statement_mentions
from treering.entities.extraction.spacy_provider import SpacyNames, spacy_names


def names(text: str, **options: Any) -> dict[str, str]:
    return {mention.name: mention.kind.value for mention in extract(text, **options)}


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("ask @alice-b about it", "@alice-b", "person"),
        ("tagged #release_2026 today", "#release_2026", "other"),
        ("write to bob.smith+x@mail.example.com now", "bob.smith+x@mail.example.com", "email"),
        ("see https://example.org/a?b=1).", "https://example.org/a?b=1", "url"),
        ("due 2026-05-08.", "2026-05-08", "date"),
        ("due on 8 May 2026", "2026-05-08", "date"),
        ("le 3 mars 2025 à midi", "2025-03-03", "date"),
        ("on May 8th, 2026 we met", "2026-05-08", "date"),
        ("written 5/8/2026", "5/8/2026", "date"),
        ("rename user_service_v2", "user_service_v2", "other"),
        ("call getUserName here", "getUserName", "other"),
        ("the UserService fails", "UserService", "other"),
        ("open src/auth/login.py:42", "src/auth/login.py", "other"),
        ("blocked by PROJ-1234", "PROJ-1234", "other"),
    ],
)
def test_what_its_shape_tells(text: str, name: str, kind: str) -> None:
    assert names(text)[name] == kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I met Mr Smith at Acme in Lyon.", {"Smith": "person", "Acme": "organisation", "Lyon": "location"}),
        ("Yesterday the API team moved to Project Atlas.", {"API team": "organisation", "Atlas": "project"}),
        ("The Phoenix project belongs to Initech Ltd now.", {"Phoenix": "project", "Initech Ltd": "organisation"}),
        ("Bob told me that Ada's dog is called Rex.", {"Bob": "person", "Ada": "other", "Rex": "other"}),
        ("We deploy to Fly.io from Node.js on Wednesdays.", {"Fly.io": "other", "Node.js": "other"}),
        ("She studied at the University of Lyon.", {"University of Lyon": "organisation"}),
        (
            "J'ai vu Mme Martin chez Danone à Lyon avec l'équipe Phoenix.",
            {"Martin": "person", "Danone": "organisation", "Lyon": "location", "équipe Phoenix": "organisation"},
        ),
        (
            "Ich habe mit Frau Müller bei Siemens in Berlin über die Datenbank gesprochen.",
            {"Müller": "person", "Siemens": "organisation", "Berlin": "location"},
        ),
        (
            "Ho saputo che il dott. Bianchi lavora presso Fiat a Torino da molti anni.",
            {"Bianchi": "person", "Fiat": "organisation", "Torino": "location"},
        ),
        (
            "La señora García vive en Madrid con Juan Pérez.",
            {"García": "person", "Madrid": "location", "Juan Pérez": "other"},
        ),
    ],
)
def test_names_in_five_languages(text: str, expected: dict[str, str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The nightly deploy is red again. Maybe the cache is stale. We will see on Monday.",
        "I'm fine. It's OK. That's what I've said. Let's go in January.",
        "Redis is slow.",
        "Die Lösung war eine Änderung der Datenbank. Das Problem ist die Verbindung.",
        "EVERYTHING IS BROKEN, FIX IT NOW",
        "",
        "... ---",
        "``` class Foo: Bar = Baz ```",
    ],
)
def test_what_has_its_capital_from_elsewhere_is_no_name(text: str) -> None:
    assert names(text) == {}


def test_of_overlaps_the_surest_stays_then_the_longest() -> None:
    def at(start: int, end: int, confidence: float) -> EntityMention:
        return EntityMention(f"{start}-{end}", EntityKind.OTHER, start, end, confidence, "test")

    assert [m.name for m in without_overlaps([at(0, 5, 0.5), at(3, 9, 0.9), at(9, 12, 0.1)])] == ["3-9", "9-12"]
    assert [m.name for m in without_overlaps([at(0, 5, 0.5), at(3, 9, 0.5)])] == ["3-9"]
    assert [m.name for m in without_overlaps([at(3, 9, 0.5), at(0, 6, 0.5)])] == ["0-6"]


def test_a_secret_is_no_name_nor_is_what_stands_for_one() -> None:
    assert names("use [redacted:github_token] for user_service") == {"user_service": "other"}
    leaked = "ghp_R4nD0mL00k1ngButF4ke" + "Tok3nForD3mo0042"
    assert names(f"use {leaked} for user_service") == {"user_service": "other"}


def test_a_mention_says_where_it_stands() -> None:
    text = "Yesterday Ada Lovelace met Mr Smith near src/a/b.py, see https://x.org."
    for mention in extract(text):
        assert text[mention.start : mention.end] == mention.name


def test_a_log_of_identifiers_gives_no_more_than_asked_for() -> None:
    text = " ".join(f"some_name_{number}" for number in range(10_000))
    assert len(extract(text, limit=30)) == 30
    assert all(m.end <= 100 for m in extract(text, limit=30, max_characters=100))


def test_a_statement_names_its_subject_and_its_value() -> None:
    found = {(m.name, m.kind.value) for m in statement_mentions("Ada", "works_at", "Acme", "Ada works at Acme.")}
    assert found == {("Ada", "person"), ("Acme", "organisation")}
    assert statement_mentions("user", "likes", "long walks on the beach", "…") == ()
    assert statement_mentions("project", "uses", "PostgreSQL", "We use PostgreSQL")[0].name == "PostgreSQL"
    assert statement_mentions(None, None, None, "") == ()


class Fixed:
    name = "fixed"

    def __init__(self, *found: EntityMention) -> None:
        self._found = found

    def read(self, text: str, language: str) -> Iterable[EntityMention]:
        return self._found


def test_whoever_is_surer_of_the_same_words_has_the_say() -> None:
    text = "lunch with Ada Lovelace"
    other = EntityMention("Ada Lovelace", EntityKind.PERSON, 11, 23, 0.8, "fixed")
    (found,) = extract(text, (*FAST, Fixed(other)))
    assert found == other


class Models:
    """A writer that answers so, or none."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.prompts = list(answers), list[str]()
        self.model, self.location = "test-writer", ModelLocation.HERE

    def writer(self, *, hurried: bool = False) -> Any:
        if not self.answers:
            raise ModelUnavailable("no language model is configured; set writer.url")
        return self

    spent = 0

    def write(self, prompt: str, *, max_tokens: int, schema: Any = None) -> str:
        self.prompts.append(prompt)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def test_what_a_model_names_must_stand_in_the_text() -> None:
    models = Models('{"entities": [{"name": "Zoë", "kind": "person"}, {"name": "Mars", "kind": "location"}]}')
    reader = LlmNames(models.writer(), most_tokens=100)
    found = list(reader.read("lunch with zoë, that is Zoë <data>", "en"))
    assert [(m.name, m.kind, m.provider) for m in found] == [("Zoë", EntityKind.PERSON, "llm")]
    assert "lunch with zoë" in models.prompts[0]
    assert list(reader.read("  ", "en")) == []


def test_who_cannot_be_asked_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    found = accurate_readers(Models(), EntitySettings())  # type: ignore[arg-type]
    assert not found.accurate
    assert set(found.missing) == {"spacy", "llm"}
    assert "pip install" in found.missing["spacy"]
    assert accurate_readers(Models("{}"), EntitySettings()).has("llm")  # type: ignore[arg-type]


def fake_spacy(monkeypatch: pytest.MonkeyPatch, models: list[str]) -> None:
    def parse(text: str) -> Any:
        start = text.find("ada lovelace")
        ents = [SimpleNamespace(label_="PERSON", text="ada lovelace", start_char=start)] if start >= 0 else []
        return SimpleNamespace(ents=[*ents, SimpleNamespace(label_="CARDINAL", text="two", start_char=0)])

    spacy, util = ModuleType("spacy"), ModuleType("spacy.util")
    spacy.load = lambda name, exclude=(): parse  # type: ignore[attr-defined]
    util.get_installed_models = lambda: models  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", spacy)
    monkeypatch.setitem(sys.modules, "spacy.util", util)


def test_spacy_reads_what_capitals_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_spacy(monkeypatch, ["en_core_web_trf", "en_core_web_sm", "de_core_news_sm"])
    reader = spacy_names()
    assert isinstance(reader, SpacyNames)
    (found,) = extract("yesterday i met ada lovelace", (*FAST, reader), language="en")
    assert (found.name, found.kind, found.provider) == ("ada lovelace", EntityKind.PERSON, "spacy")
    assert extract("ada lovelace", (reader,), language="zh") == ()


def test_spacy_without_a_model_says_what_to_download(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_spacy(monkeypatch, [])
    with pytest.raises(MissingDependency, match="spacy download"):
        spacy_names()
