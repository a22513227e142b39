"""Settings from files, the environment and arguments: which one wins, and what a project's file cannot set."""

import json
import logging
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import treering
from treering.compose import LoadedSettings, Origin, load_settings, setting_descriptions
from treering.compose.settings import MAX_FILE_BYTES, MAX_WARNINGS, report_ignored, setting_names
from treering.core.errors import InvalidInput
from treering.core.settings import EmbedderSettings, Settings
from treering.core.settings.project_file import NO_LIMIT, PROJECT_KEYS
from treering.interfaces.cli.app import app
from treering.interfaces.masking import masked

NAMES = tuple(setting_names())
NEVER = ("url", "key_variable", "directory", "provider", "model", "models", "enabled", "on_secret", "vectors_only")


class Place:
    """A user's folder, a repository and an environment of their own."""

    def __init__(self, root: Path) -> None:
        self.user, self.root = root / "config" / "config.toml", root / "repository"
        self.project = self.root / "treering.toml"
        self.user.parent.mkdir()
        (self.root / ".git").mkdir(parents=True)

    def load(self, settings: Settings | None = None, **environment: str) -> LoadedSettings:
        variables = {"TREERING_CONFIG_DIR": str(self.user.parent), **environment}
        return load_settings(settings, repository=self.root, environment=variables)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_files_everything_has_its_default(place: Place) -> None:
    loaded = place.load()
    assert loaded.settings == Settings()
    assert {loaded.origin(name) for name in NAMES} == {Origin.DEFAULT}
    assert loaded.warnings == ()


def test_the_nearer_source_wins(place: Place) -> None:
    def seen(**environment: str) -> tuple[int, Origin]:
        loaded = place.load(argument, **environment)
        return loaded.settings.search.limit, loaded.origin("search.limit")

    argument: Settings | None = None
    place.user.write_text("[search]\nlimit = 11\ncandidates = 300\n")
    assert seen() == (11, Origin.USER_FILE)
    place.project.write_text("[search]\nlimit = 12\n")
    assert seen() == (12, Origin.PROJECT_FILE)
    assert seen(TREERING_SEARCH_LIMIT="13") == (13, Origin.ENVIRONMENT)
    argument = Settings.make(search={"limit": 10})
    assert seen(TREERING_SEARCH_LIMIT="13") == (10, Origin.ARGUMENT)
    assert place.load(argument).settings.search.candidates == 300


def test_the_environment_holds_values_as_toml_writes_them(place: Place) -> None:
    given = {
        "CODE_BUILT": '["out"]',
        "LEARN_ENABLED": "false",
        "MAINTENANCE_NIGHTLY": "0 4 * * *",
        "CONTEXT_RULES_SHARE": "0",
    }
    settings = place.load(None, **{f"TREERING_{name}": value for name, value in given.items()}).settings
    assert settings.code.built == ("out",)
    assert settings.learn.enabled is False
    assert settings.maintenance.nightly == "0 4 * * *"
    assert settings.context.rules_share == 0


def test_a_model_and_its_url_come_from_one_source(place: Place) -> None:
    place.user.write_text('[embedder]\nprovider = "openai"\nmodel = "m"\nurl = "http://host/v1"\nbatch = 3\n')
    chosen = place.load(TREERING_EMBEDDER="bundled").settings.embedder
    assert (chosen.provider, chosen.model, chosen.url, chosen.batch) == ("bundled", "", "", 3)
    named = place.load(Settings(embedder=EmbedderSettings(provider="ollama")), TREERING_EMBEDDER="openai:x")
    assert (named.settings.embedder.provider, named.settings.embedder.model) == ("ollama", "")
    assert named.settings.embedder.url == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[search]\nlimti = 3", "there is no setting search.limti; did you mean search.limit?"),
        ("[contxet]\nbudget = 3", "there is no setting contxet.budget; did you mean context.budget?"),
        ("limit = 3", "there is no setting limit"),
        ('[search]\nlimit = "3"', "search.limit = '3': expected a number"),
        ("[learn]\nenabled = 1", "learn.enabled = 1: expected true or false"),
        ("[search]\nlimit = true", "search.limit = True: expected a number"),
        ("[search]\nlimit = 0", "search.limit = 0: Input should be greater than or equal to 1"),
        ("[search.limit]\nmost = 3", "search.limit = {'most': 3}"),
        ('[maintenance]\nnightly = "at night"', "is not a schedule"),
        ("recall = [", "not valid TOML"),
        ("a = " + "[" * 20_000, "not valid TOML"),
        ("#" * (MAX_FILE_BYTES + 1), "larger than 65,536 bytes"),
    ],
)
def test_a_mistake_is_an_error_in_the_users_file_and_a_warning_in_the_projects(
    place: Place, text: str, told: str
) -> None:
    place.project.write_text(text)
    loaded = place.load()
    assert loaded.settings == Settings()
    (warning,) = loaded.warnings
    assert str(place.project) in warning
    assert told in warning
    assert "ignored" in warning
    place.user.write_text(text)
    with pytest.raises(InvalidInput) as failed:
        place.load()
    assert str(place.user) in str(failed.value)
    assert told in str(failed.value)


def _not_utf8(path: Path) -> None:
    path.write_bytes(b"\xff\xfe")


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, _not_utf8], ids=["folder", "pipe", "bytes"])
def test_what_is_not_a_text_file_is_not_read(place: Place, make: Callable[[Path], None]) -> None:
    make(place.project)
    (warning,) = place.load().warnings
    assert "the file is ignored" in warning
    make(place.user)
    with pytest.raises(InvalidInput, match=r"config\.toml"):
        place.load()


def test_a_link_is_followed_in_the_users_folder_only(place: Place, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text("[search]\nlimit = 5\n")
    place.project.symlink_to(elsewhere)
    loaded = place.load()
    assert loaded.settings.search.limit == 10
    assert "symbolic link" in loaded.warnings[0]
    place.user.symlink_to(elsewhere)
    assert place.load().settings.search.limit == 5


@pytest.mark.parametrize("name", NAMES)
def test_a_project_sets_what_the_table_lists_and_nothing_else(place: Place, name: str) -> None:
    section, key = name.split(".")
    value = getattr(getattr(Settings(), section), key)
    written = {} if value is None or hasattr(value, "items") else value
    shown = "1" if value is None else json.dumps(list(written) if isinstance(written, tuple) else written)
    place.project.write_text(f"[{section}]\n{key} = {shown}\n")
    loaded = place.load()
    if name in PROJECT_KEYS:
        assert (loaded.origin(name), loaded.warnings) == (Origin.PROJECT_FILE, ())
    else:
        assert loaded.origin(name) is Origin.DEFAULT
        assert f"{name} cannot be set by a project" in loaded.warnings[0]


def test_the_table_lists_settings_and_none_that_reach_beyond_the_repository() -> None:
    assert set(NAMES) >= PROJECT_KEYS.keys()
    sections = {name.split(".")[0] for name in PROJECT_KEYS}
    assert sections == {"search", "context", "conversation", "task", "code", "agents"}
    assert not {name.split(".")[1] for name in PROJECT_KEYS} & set(NEVER)


@pytest.mark.parametrize("name", [name for name, most in PROJECT_KEYS.items() if most != NO_LIMIT])
def test_a_project_sets_no_more_than_the_table_says(place: Place, name: str) -> None:
    section, key = name.split(".")
    place.project.write_text(f"[{section}]\n{key} = {PROJECT_KEYS[name] + 1}\n")
    loaded = place.load()
    assert loaded.settings == Settings()
    assert "more than the" in loaded.warnings[0]


def test_a_warning_is_short_and_holds_nothing_that_a_terminal_obeys(place: Place) -> None:
    place.project.write_text('[search]\n"\\u001b[2J' + "x" * 10_000 + '" = 1\n')
    (warning,) = place.load().warnings
    assert "\x1b" not in warning
    assert len(warning) < 600


def test_opening_a_memory_reads_the_files_and_logs_what_it_ignores(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TREERING_CONFIG_DIR", str(place.user.parent))
    place.user.write_text("[search]\nlimit = 4\n")
    place.project.write_text('[context]\nbudget = 500\n[writer]\nurl = "http://elsewhere"\n')
    with (
        caplog.at_level(logging.WARNING, "treering"),
        treering.open(place.root / "m.db", repository=place.root) as memory,
    ):
        assert (memory.settings.search.limit, memory.settings.context.budget) == (4, 500)
        assert memory.settings.writer.url == ""
    assert "writer.url cannot be set by a project" in caplog.text


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("TREERING_SEARCH_LIMTI", "TREERING_SEARCH_LIMIT"),
        ("TREERING_LEARN_ENABLE", "TREERING_LEARN_ENABLED"),
        ("TREERING_EMBEDDER_MODEL", "TREERING_EMBEDDER"),
        ("TREERING_WRITER_ULR", "TREERING_WRITER_URL"),
    ],
)
def test_an_unknown_variable_of_a_section_is_an_error_that_names_the_nearest(
    place: Place, variable: str, nearest: str
) -> None:
    with pytest.raises(InvalidInput) as failed:
        place.load(**dict[str, Any]({variable: "5"}))
    assert str(failed.value) == f"{variable}: there is no such variable; did you mean {nearest}?"
    assert place.load(**dict[str, Any]({variable: ""})).settings == Settings()


def test_documented_variables_and_those_of_no_section_are_accepted(place: Place) -> None:
    reference = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
    documented = re.findall(r"^\| `(TREERING_\w+)` \|", reference.read_text(), re.MULTILINE)
    assert "TREERING_WRITER_KEY" in documented
    own = {"TREERING_CONFIG_DIR", "TREERING_EMBEDDER", "TREERING_RERANKER", "TREERING_WRITER"}
    given = dict.fromkeys([*documented, "TREERING_TEST_ENGINES", "TREERING_BENCH_DATA"], "x")
    loaded = place.load(None, **{name: value for name, value in given.items() if name not in own})
    assert loaded.settings == Settings()


def test_a_variable_that_holds_a_key_may_have_any_name(place: Place) -> None:
    place.user.write_text('[writer]\nkey_variable = "TREERING_WRITER_TOKEN"\n')
    assert place.load(TREERING_WRITER_TOKEN="t").settings.writer.key_variable == "TREERING_WRITER_TOKEN"


def test_many_ignored_settings_are_one_line_in_the_log(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    place.project.write_text("[store]\n" + "".join(f"unknown_{number} = 1\n" for number in range(30)))
    loaded = place.load()
    assert len(loaded.warnings) == MAX_WARNINGS
    with caplog.at_level(logging.WARNING, "treering"):
        report_ignored(loaded)
    (record,) = caplog.records
    assert record.message == f"{place.project}: 30 settings are ignored; `treering config` shows which and why"


def test_config_shows_mistakes_of_the_user_beside_the_settings(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREERING_CONFIG_DIR", str(place.user.parent))
    monkeypatch.setenv("TREERING_JOBS_STUCK", "5")
    monkeypatch.chdir(place.root)
    place.user.write_text("[search]\nlimti = 3\ncandidates = 300\n")
    shown = CliRunner().invoke(app, ["config", "--json"])
    assert shown.exit_code == 1
    document = json.loads(shown.stdout)
    assert document["settings"]["search.candidates"] == {"value": 300, "origin": "user file"}
    assert document["errors"] == [
        f"{place.user}: there is no setting search.limti; did you mean search.limit?",
        "TREERING_JOBS_STUCK: there is no such variable; did you mean TREERING_JOBS_STUCK_SECONDS?",
    ]
    place.user.write_text("[search")
    text = CliRunner().invoke(app, ["config"])
    assert text.exit_code == 1
    assert "not valid TOML" in text.stdout
    assert "search.limit" in text.stdout


def test_config_shows_each_value_and_its_origin(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREERING_CONFIG_DIR", str(place.user.parent))
    monkeypatch.chdir(place.root)
    for name in ("TREERING_EMBEDDER", "TREERING_TEST_SYNCHRONOUS"):
        monkeypatch.delenv(name)
    place.user.write_text('[writer]\nurl = "https://me:word@host/v1?key=abc"\nmodel = "m"\n')
    place.project.write_text('[search]\nlimit = 4\n[embedder]\nurl = "http://elsewhere"\n')
    shown = CliRunner().invoke(app, ["config"])
    assert shown.exit_code == 0
    assert "word" not in shown.stdout
    document = json.loads(CliRunner().invoke(app, ["config", "--json"]).stdout)
    assert tuple(document["settings"]) == NAMES
    assert document["settings"]["search.limit"] == {"value": 4, "origin": "project file"}
    assert document["settings"]["writer.url"] == {"value": "https://***@host/v1?***", "origin": "user file"}
    assert len(document["warnings"]) == 1
    few = json.loads(CliRunner().invoke(app, ["config", "--json", "--changed"]).stdout)
    assert set(few["settings"]) == {"search.limit", "writer.url", "writer.model"}


def test_secrets_in_values_are_masked() -> None:
    assert masked({"m": ["http://u:p@h", "plain", 3]}) == {"m": ["http://***@h", "plain", 3]}
    assert "ghp_" not in masked("ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")


def test_every_setting_has_a_description_that_the_reference_repeats() -> None:
    reference = (Path(__file__).parents[2] / "docs" / "reference" / "settings.md").read_text()
    documented = dict(re.findall(r"^\| `(\w+\.\w+)` \| .+? \| (.+) \|$", reference, re.MULTILINE))
    described = setting_descriptions()
    assert list(described) == list(setting_names())
    assert {name for name, text in described.items() if not text or name not in documented} == set()
