"""`where` and `search` with an embedder in ONNX format from a folder, on both engines."""

import os
from pathlib import Path

import pytest

from tests.code_projects import written
from tests.conftest import OpenMemory
from tests.onnx_models import put_embedder
from treering.core.settings import EmbedderSettings, Settings

_MEANINGS = (
    {"authenticate": 9.0, "sign": 9.0, "login": 9.0},
    {"throttle": 9.0, "rate": 9.0},
    {"feline": 9.0, "cat": 9.0},
)
_FILES = {
    "shop/gate.py": "def authenticate(person):\n    return person.key == stored(person)\n",
    "shop/limits.py": "def throttle(caller):\n    return caller.seen > allowed(caller)\n",
    "shop/letters.py": "def post(person):\n    # Letters are put on a pile.\n    return person\n",
}
_QUESTION = "how does login happen?"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return put_embedder(tmp_path / "tiny", _MEANINGS)


def _settings(directory: Path) -> Settings:
    return Settings(embedder=EmbedderSettings.make(provider="local", directory=str(directory)))


def test_where_and_search_use_it_after_embed(open_memory: OpenMemory, directory: Path, tmp_path: Path) -> None:
    with open_memory(settings=_settings(directory), background=False) as memory:
        memory.remember("The feline sleeps upstairs")
        memory.remember("The throttle of the mower is stuck")
        memory.code.index(written(tmp_path / "project", _FILES), history=False)
        before = memory.code.where(_QUESTION)
        assert "meaning" in " ".join(before.missing)  # code is embedded only by `treering embed`
        memory.vectors.update()
        after, found = memory.code.where(_QUESTION), memory.search("Where is my cat?")
    assert after[0].path == "shop/gate.py"
    assert not after.missing
    assert "feline" in str(found[0])
    assert found.embedder.startswith("local/tiny-")


def test_other_files_in_the_folder_are_another_space(open_memory: OpenMemory, directory: Path, tmp_path: Path) -> None:
    root = written(tmp_path / "project", _FILES)
    with open_memory(settings=_settings(directory), background=False) as memory:
        memory.remember("The feline sleeps upstairs")
        memory.code.index(root, history=False)
        memory.vectors.update()
    put_embedder(directory, _MEANINGS[::-1])
    with open_memory(settings=_settings(directory), background=False) as memory:
        assert memory.code.where(_QUESTION).missing
        assert memory.search("feline").missing
        assert any("treering embed" in check.advice for check in memory.doctor().checks if check.name == "meaning")
        memory.vectors.update()
        assert memory.code.where(_QUESTION)[0].path == "shop/gate.py"


def test_without_the_folder_words_are_searched(open_memory: OpenMemory, directory: Path, tmp_path: Path) -> None:
    os.rename(directory, tmp_path / "elsewhere")
    with open_memory(settings=_settings(directory), background=False) as memory:
        memory.remember("The feline sleeps upstairs")
        memory.code.index(written(tmp_path / "project", _FILES), history=False)
        located, found = memory.code.where("where is throttle?"), memory.search("feline")
    assert located[0].path == "shop/limits.py"
    assert found
    assert "lacks model.onnx" in str(located.missing)
    assert "lacks model.onnx" in str(found.missing)
