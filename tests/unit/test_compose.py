"""Where a memory is found, and what is said when it cannot be."""

import builtins
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import treering
from treering.compose import data_directory, load_plug_ins, project_name, repository_root
from treering.core import payloads
from treering.core.errors import InvalidInput, MissingDependency, PluginFailed, SecretRefused, StoreReadOnly

VARIABLES = ("DB", "PROJECT", "TENANT", "PRINCIPAL", "BLOBS", "DATA_DIR")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of the machine that runs the tests, and a home that is thrown away."""
    for name in VARIABLES:
        monkeypatch.delenv(f"TREERING_{name}", raising=False)
    monkeypatch.setenv("TREERING_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def test_without_a_path_the_memory_belongs_to_the_repository_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "work" / "app"
    (root / ".git").mkdir(parents=True)
    (root / "src" / "deep").mkdir(parents=True)
    monkeypatch.chdir(root / "src" / "deep")
    with treering.open() as memory:
        record = memory.remember("found again from anywhere inside")
        assert memory.scope.project == project_name(root)
        assert Path(memory.store.location).is_relative_to(tmp_path / "data" / project_name(root))
    monkeypatch.chdir(root)
    with treering.open() as memory:
        assert memory.get(record.id).content == "found again from anywhere inside"


def test_folders_of_one_name_are_different_projects(tmp_path: Path) -> None:
    assert project_name(tmp_path / "a" / "app") != project_name(tmp_path / "b" / "app")
    assert project_name(tmp_path / "a" / "app").startswith("app-")
    assert project_name(Path("/")).startswith("root-")


def test_outside_a_repository_the_folder_itself_is_the_project(tmp_path: Path) -> None:
    outside = tmp_path / "nowhere"
    outside.mkdir()
    assert repository_root(outside) == outside


def test_the_environment_chooses_what_no_argument_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = {"DB": str(tmp_path / "env.db"), "BLOBS": str(tmp_path / "b")}
    chosen = places | {"PROJECT": "ep", "TENANT": "et", "PRINCIPAL": "me"}
    for name, value in chosen.items():
        monkeypatch.setenv(f"TREERING_{name}", value)
    with treering.open() as memory:
        assert memory.store.location == chosen["DB"]
        assert (memory.scope.project, memory.scope.tenant, memory.scope.principal) == ("ep", "et", "me")
        assert Path(memory.doctor().blobs).parent == Path(chosen["BLOBS"])
    with treering.open(tmp_path / "arg.db", project="p", tenant="t", principal="i", blobs=tmp_path / "c") as memory:
        assert memory.store.location == str(tmp_path / "arg.db")
        assert (memory.scope.project, memory.scope.tenant, memory.scope.principal) == ("p", "t", "i")
        assert Path(memory.doctor().blobs).parent == tmp_path / "c"


def test_the_data_directory_has_a_default_of_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TREERING_DATA_DIR")
    assert data_directory().name == "treering"


@pytest.mark.parametrize("name", ["a b.db", "what?.db", "50%.db", "a#b.db", "שלום.db", "mode=ro&x.db"])
def test_a_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    for _ in range(2):
        with treering.open(tmp_path / name) as memory:
            memory.remember("kept")
            assert memory.stats().records["knowledge"] == 1
    assert (tmp_path / name).is_file()


@pytest.mark.parametrize("location", ["x.db", "sqlite:///{tmp}/x.db"])
def test_a_path_and_a_sqlite_url_name_a_file(tmp_path: Path, location: str) -> None:
    with treering.open(location.format(tmp=tmp_path)) as memory:
        assert memory.store.location == str(tmp_path / "x.db")
        assert memory.scope.project == "default"


@pytest.mark.parametrize(
    ("location", "error", "says"),
    [
        ("", InvalidInput, "needs a location"),
        ("  ", InvalidInput, "needs a location"),
        ("mysql://host/db", InvalidInput, "mysql: URLs are not supported"),
        ("postgresql://host:port/db", InvalidInput, "port"),
        ("nul\x00byte.db", InvalidInput, "needs a location"),
        ("missing/folder/x.db", StoreReadOnly, "create it first"),
    ],
)
def test_a_place_that_cannot_be_opened_is_explained(location: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        treering.open(location)


def test_a_data_directory_that_cannot_be_made_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("TREERING_DATA_DIR", str(tmp_path / "file"))
    with pytest.raises(StoreReadOnly, match="TREERING_DATA_DIR"):
        treering.open()


def test_a_missing_driver_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_psycopg(name: str, *rest: Any, **named: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == "psycopg":
            raise ImportError("No module named 'psycopg'")
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without_psycopg)
    with pytest.raises(MissingDependency, match=r"pip install 'treering\[postgres\]'"):
        treering.open("postgresql://host/db")


@pytest.mark.parametrize("name", ["tenant", "project", "principal"])
def test_names_are_checked_before_anything_is_opened(tmp_path: Path, name: str) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]
    for bad, error in (("two\nlines", InvalidInput), (token, SecretRefused), ("x" * 201, InvalidInput)):
        names: dict[str, Any] = {name: bad}
        with pytest.raises(error, match=name):
            treering.open(tmp_path / "x.db", **names)
    assert not (tmp_path / "x.db").exists()


def test_the_public_names_are_those_the_package_lists() -> None:
    for name in treering.__all__:
        assert getattr(treering, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        treering.nonsense  # noqa: B018


def test_in_a_shared_database_each_repository_is_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREERING_DB", str(tmp_path / "shared.db"))
    seen = set()
    for name in ("one", "two"):
        (tmp_path / name / ".git").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / name)
        with treering.open() as memory:
            memory.remember(f"only in {name}")
            assert [hit.text for hit in memory.search("")] == [f"only in {name}"]
            seen.add(memory.scope.project)
    assert seen == {project_name(tmp_path / "one"), project_name(tmp_path / "two")}


@pytest.mark.parametrize("name", [b"caf\xe9", b"two\nlines\x1b[31m", b"x" * 250, "\u6d4b".encode() * 80, b" "])
def test_a_folder_of_any_name_has_a_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: bytes) -> None:
    root = tmp_path / os.fsdecode(name)
    root.mkdir()
    monkeypatch.chdir(root)
    with treering.open() as memory:
        memory.remember("kept")
        assert memory.scope.project == project_name(root)
        assert len(memory.search("kept")) == 1


def test_names_that_read_alike_are_still_different_projects(tmp_path: Path) -> None:
    assert project_name(tmp_path / os.fsdecode(b"caf\xe9")) != project_name(tmp_path / os.fsdecode(b"caf\xe8"))


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Installs a package that brings a knowledge type."""
    monkeypatch.syspath_prepend(str(tmp_path / "site"))

    def install(entry: str, module: str) -> None:
        metadata = tmp_path / "site" / "our_types-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: our-types\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(
            f"[treering.knowledge_types]\nspell = our_types_{tmp_path.name}:{entry}\n"
        )
        (tmp_path / "site" / f"our_types_{tmp_path.name}.py").write_text(module)
        load_plug_ins.cache_clear()
        monkeypatch.setattr(payloads, "_TYPES", dict(payloads._TYPES))

    return install


PLUG_IN = """
from treering.core.payloads import KnowledgeType, Payload, register_knowledge_type

class Spell(Payload):
    power: int = 1

spell = KnowledgeType("spell", Spell, 7)

def register():
    register_knowledge_type("spell", Spell, 7)
"""


@pytest.mark.parametrize("entry", ["spell", "register"])
def test_an_installed_package_brings_a_knowledge_type(
    tmp_path: Path, plug_in: Callable[[str, str], None], entry: str
) -> None:
    plug_in(entry, PLUG_IN)
    for _ in range(2):
        with treering.open(tmp_path / "x.db") as memory:
            assert memory.remember("abracadabra", type="spell", payload={"power": 9}).half_life_days == 7


@pytest.mark.parametrize(
    ("entry", "module"), [("register", "raise OSError('no moon')"), ("nowhere", ""), ("x", "x = 3")]
)
def test_a_plug_in_that_does_not_load_is_named(
    tmp_path: Path, plug_in: Callable[[str, str], None], entry: str, module: str
) -> None:
    plug_in(entry, module)
    with pytest.raises(PluginFailed, match=r"'spell' of the package 'our-types'.*uninstall"):
        treering.open(tmp_path / "x.db")
    assert not (tmp_path / "x.db").exists()
