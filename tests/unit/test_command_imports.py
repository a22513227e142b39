"""A command imports only what it uses: start-up stays short as long as these modules stay out."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import treering
from tests.mcp_messages import greeting

RUN = """
import atexit, sys
atexit.register(lambda: print("\\n" + " ".join(sys.modules), file=sys.stderr))
{before}
from treering.interfaces.start import main
main()
"""
FIRST_ANSWER = """
import os, sys
from treering.interfaces.mcp.stdio.wire import Wire

def write(_wire, _text):
    print(" ".join(sys.modules), file=sys.stderr, flush=True)
    os._exit(0)

Wire.write = write
from treering.interfaces.start import main
main()
"""
OPEN = """
import sys, treering
treering.open(sys.argv[1], background=False).close()
print(" ".join(sys.modules), file=sys.stderr)
"""

# The rest of the schema, the other engine, models that are not asked, and the parts of other commands.
ELSEWHERE = (
    "alembic",
    "croniter",
    "httpx",
    "mcp",
    "sqlalchemy.dialects.postgresql",
    "treering.adapters.blobs.s3",
    "treering.adapters.sql.schema",
    "treering.archive.export",
    "treering.maintenance.doctor",
    "treering.maintenance.stages",
)
NO_SEARCH = ("numpy", "tokenizers", "treering.search.pipeline")
NO_CODE = ("msgspec", "treering.code", "watchfiles")
NO_READERS = ("tree_sitter", "treering.code.languages.typescript", "treering.code.languages.rust")
NO_UPDATE = (
    "treering.code.live.file_watch",
    "treering.code.index.update",
    "treering.code.history",
    "watchfiles",
)
FORBIDDEN: Mapping[str, tuple[str, ...]] = {
    "--help": (
        "pydantic",
        "sqlalchemy",
        "treering.compose",
        "treering.core.settings",
        *NO_SEARCH,
        *NO_CODE,
        *ELSEWHERE,
    ),
    "get": (
        "Stemmer",
        "treering.adapters.sql.turns",
        "treering.knowledge.operations",
        *NO_SEARCH,
        *NO_CODE,
        *ELSEWHERE,
    ),
    "stats": (
        "Stemmer",
        "msgspec",
        "treering.code.api",
        "treering.knowledge.operations",
        "watchfiles",
        *NO_SEARCH,
        *NO_READERS,
        *ELSEWHERE,
    ),
    "remember": ("treering.adapters.sql.turns", "treering.knowledge.reflection", *NO_SEARCH, *NO_CODE, *ELSEWHERE),
    "search": (*NO_CODE, *ELSEWHERE),
    "impact": ("tokenizers", "treering.core.language", *NO_UPDATE, *NO_READERS, *ELSEWHERE),
    "where": ("treering.code.graph.code_graph", *NO_UPDATE, *NO_READERS, *ELSEWHERE),
}
LIBRARY = (
    "pydantic.plugin._loader",
    "rich",
    "typer",
    "treering.interfaces",
    "Stemmer",
    "treering.knowledge.operations",
    *NO_SEARCH,
    *NO_CODE,
    *ELSEWHERE,
)
SERVER = ("rich", "typer", "sqlalchemy", "alembic", "treering.compose", "treering.memory", "treering.code", *NO_SEARCH)


def forbidden_in(imported: Sequence[str], forbidden: Sequence[str]) -> list[str]:
    """The forbidden modules that were imported, or had a part of them imported."""
    return [name for name in forbidden if any(each == name or each.startswith(f"{name}.") for each in imported)]


class Started:
    """Processes in a project whose memory holds a record, its vector, and the code of one file."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        (self.root / ".git").mkdir(parents=True)
        source = self.root / "gate.py"
        source.write_text("def close(gate):\n    return gate\n")
        # A file that changed in the moment in which it was indexed is read again.
        os.utime(source, (1_700_000_000, 1_700_000_000))
        self.database = folder / "memory.db"
        with treering.open(self.database, project="p", background=False) as memory:
            memory.remember("The garden gate is closed at eight.", id="gate")
            memory.code.index(self.root)
            memory.settle()

    def imported(self, code: str, *arguments: str, said: bytes = b"") -> list[str]:
        # Settings of the environment are validated, which default ones are not.
        bare = {name: value for name, value in os.environ.items() if not name.startswith("TREERING_")}
        environment = bare | {"TREERING_DB": str(self.database), "TREERING_PROJECT": "p"}
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], input=said, cwd=self.root, env=environment, capture_output=True
        )
        assert done.returncode == 0, done.stderr
        return done.stderr.decode().splitlines()[-1].split()


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Started:
    return Started(tmp_path_factory.mktemp("started"))


ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "get": ("gate",),
    "remember": ("The hedge is cut in May.",),
    "search": ("when is the gate closed",),
    "impact": ("close",),
    "where": ("closing a gate",),
}


@pytest.mark.parametrize("command", FORBIDDEN)
def test_a_command_imports_nothing_it_has_no_use_for(started: Started, command: str) -> None:
    imported = started.imported(RUN.format(before=""), command, *ARGUMENTS.get(command, ()))
    assert forbidden_in(imported, FORBIDDEN[command]) == []


def test_opening_a_memory_imports_nothing_of_its_verbs(started: Started) -> None:
    assert forbidden_in(started.imported(OPEN, str(started.database)), LIBRARY) == []


def test_the_mcp_server_imports_the_library_after_its_first_answer(started: Started) -> None:
    imported = started.imported(FIRST_ANSWER, "mcp", said=greeting("2025-11-25"))
    assert forbidden_in(imported, SERVER) == []


def test_an_import_that_is_added_is_found(started: Started) -> None:
    imported = started.imported(RUN.format(before="import treering.adapters.sql.schema"), "--version")
    assert forbidden_in(imported, FORBIDDEN["--help"])[-1] == "treering.adapters.sql.schema"
