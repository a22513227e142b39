"""What a task is, read from its words in five languages; what is given wins."""

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property.strategies import json_objects, labels, texts, values
from tests.samples import sample
from treering.core.episodes import Episode
from treering.core.errors import InvalidInput
from treering.core.task_features import features_of, features_of_episode

HARDER = ("distributed", "concurrency", "legacy")
plain_words = st.lists(st.text(string.ascii_lowercase, min_size=1, max_size=3).map("zq".__add__), max_size=80)


@pytest.mark.parametrize(
    ("text", "task_type"),
    [
        ("Fix the crash when login fails", "fix"),
        ("Corriger le bogue du panier", "fix"),
        ("Correggi il bug nel carrello", "fix"),
        ("Behebe den Fehler beim Anmelden", "fix"),
        ("Arregla el error de inicio de sesión", "fix"),
        ("The export is broken since yesterday", "fix"),
        ("Implement rate limiting", "feature"),
        ("Add a button to the settings page", "feature"),
        ("Ajouter une option à la commande", "feature"),
        ("Aggiungi il supporto per OAuth", "feature"),
        ("Füge eine Suche hinzu: hinzufügen im Menü", "feature"),
        ("Añadir un filtro a la lista", "feature"),
        ("Refactor the storage layer", "refactor"),
        ("Vereinfache das Modul", "refactor"),
        ("Renommer la classe Client", "refactor"),
        ("Add tests for the payment endpoint", "test"),
        ("Escribir pruebas para el analizador", "test"),
        ("Write unit tests for parser.rs", "test"),
        ("Update the README with install instructions", "docs"),
        ("Documentar la API", "docs"),
        ("Dokumentiere die Schnittstelle", "docs"),
        ("Why does the build hang?", "investigate"),
        ("Investigate the flaky test in tests/test_x.py", "investigate"),
        ("Analizza i log del server", "investigate"),
        ("Warum ist die Abfrage leer?", "investigate"),
        ("Make the search faster", "optimise"),
        ("Optimiser la requête", "optimise"),
        ("Configure CI to run mypy", "configure"),
        ("Richte die Umgebung ein: einrichten", "configure"),
        ("Bump the version and publish", "release"),
        ("Déployer la version 2", "release"),
        ("Pubblica la nuova versione", "release"),
        ("Migrate the database to Postgres", "upgrade"),
        ("Upgrade pydantic to v2 and fix the tests", "upgrade"),
        ("Review pull request 32", "review"),
        ("Relire la proposition de fusion", "review"),
        ("Hello there", None),
        ("", None),
    ],
)
def test_the_words_tell_the_type_of_a_task(text: str, task_type: str | None) -> None:
    assert features_of(text).get("task_type") == task_type


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("Add a button to the page", "frontend"),
        ("The endpoint returns 500", "backend"),
        ("Optimise the query on the users table", "database"),
        ("Rotate the JWT secret", "security"),
        ("Das Passwort wird nicht gespeichert", "security"),
        ("Run it in docker in the pipeline", "devops"),
        ("Write documentation for it", "documentation"),
        ("Write a test for it", "testing"),
        ("Do something", None),
    ],
)
def test_the_words_tell_the_domain(text: str, domain: str | None) -> None:
    assert features_of(text).get("domain") == domain


def test_files_endings_languages_and_tools_are_read() -> None:
    found = features_of(
        "Run pytest and ruff on src/api/users.py, web/App.tsx and notes.md (see v1.2 and a@b.py); use C++"
    )
    assert found["files"] == ("src/api/users.py", "web/App.tsx", "notes.md")
    assert found["extensions"] == ("py", "tsx", "md")
    assert found["languages"] == ("python", "typescript", "c++")
    assert found["tools"] == ("pytest", "ruff")


@pytest.mark.parametrize(
    "text", ["go to the next page", "in the public interface", "e.g. or i.e. this", "3.11.2", "end.of"]
)
def test_ordinary_words_are_no_languages_files_or_releases(text: str) -> None:
    found = features_of(text)
    assert (found["languages"], found["files"], found.get("task_type")) == ((), (), None)


def test_what_is_given_wins() -> None:
    given_ = {
        "task_type": "release",
        "domain": "games",
        "complexity": 0.9,
        "tools": ("hammer",),
        "files": ("a/b.rs",),
        "languages": ("latin",),
        "context": {"branch": "main"},
    }
    found = features_of("Fix the crash in src/api.py with pytest", **given_)  # type: ignore[arg-type]
    assert {name: found[name] for name in given_} == {**given_, "context": {"branch": "main"}}
    assert found["extensions"] == ("rs",)


def test_a_rewrite_is_harder_than_a_typo() -> None:
    typo = features_of("Fix a typo")["complexity"]
    plain = features_of("Fix the login")["complexity"]
    rewrite = features_of("Rewrite the entire distributed architecture: " + "and then this part. " * 40)["complexity"]
    assert typo < plain < 0.3
    assert rewrite > 0.6


@given(words=plain_words, more=plain_words, files=st.lists(labels, max_size=5), further=st.lists(labels, max_size=5))
def test_more_words_files_and_hard_words_never_make_a_task_easier(
    words: list[str], more: list[str], files: list[str], further: list[str]
) -> None:
    plain = features_of(" ".join(words), files=files or ["a"])["complexity"]
    assert 0 <= plain <= 1
    assert features_of(" ".join(words + more), files=files or ["a"])["complexity"] >= plain
    assert features_of(" ".join(words), files=["a", *files, *further])["complexity"] >= plain
    for count in range(len(HARDER)):
        fewer, harder = ([*words, *HARDER[:some], *["zqzq"] * (3 - some)] for some in (count, count + 1))
        assert features_of(" ".join(harder))["complexity"] >= features_of(" ".join(fewer))["complexity"]


@given(text=texts, context=json_objects)
def test_any_text_has_features_and_always_the_same(text: str, context: dict[str, Any]) -> None:
    found = features_of(text, context=context)
    assert found == features_of(text, context=context)
    assert 0 <= found["complexity"] <= 1
    assert {"languages", "tools", "files", "extensions", "context"} <= found.keys()


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(InvalidInput, match="features of a task"):
        features_of("x", context={"when": object()})


def test_an_episode_says_itself_what_it_was() -> None:
    episode = sample(
        Episode,
        task={
            "input": "Fix the crash in src/api.py",
            "goals": ["pytest is green"],
            "complexity": 0.7,
            "context": {"files": ["lib/a.rs", 3], "branch": "main"},
        },
        metadata={"task_type": "rescue", "tools": ["git"]},
    )
    found = features_of_episode(episode)
    assert (found["task_type"], found["complexity"], found["tools"]) == ("rescue", 0.7, ("git",))
    assert (found["files"], found["languages"]) == (("lib/a.rs",), ("rust", "python"))
    assert found["context"]["branch"] == "main"


def test_what_an_episode_does_not_say_is_read_from_its_words() -> None:
    found = features_of_episode(sample(Episode, task={"input": "Fix it in src/api.py", "goals": ["pytest is green"]}))
    assert (found["task_type"], found["files"], found["tools"]) == ("fix", ("src/api.py",), ("pytest",))
    assert "src/api.py" not in features_of_episode(sample(Episode))["files"]


@given(episode=values(Episode))
def test_every_episode_has_features(episode: Episode) -> None:
    assert 0 <= features_of_episode(episode)["complexity"] <= 1
