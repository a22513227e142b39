"""One PostgreSQL server for the whole run; every test gets its own file, or its own tenant in the shared database.

TREERING_TEST_ENGINES=sqlite leaves out every test that needs the server.
"""

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import tests.examples  # noqa: F401  (registers the profile of the property tests)
import treering
from tests.lifetimes import end_with_parent
from tests.postgres_server import PostgresServer, url_in
from tests.sqlite_template import create_from_template
from tests.statement_cache import share_compiled_statements
from treering.adapters.models import bundled
from treering.adapters.sql import sqlite
from treering.memory import Memory

ENGINES = tuple(os.environ.get("TREERING_TEST_ENGINES", "sqlite,postgresql").split(","))
OpenMemory = Callable[..., Memory]

# Commands under test inherit ignored signals, but no handlers. A run that was started with `nohup` or `&` ignores these
# two: it handles them instead, and still outlives a hang-up.
for _number, _handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, lambda *_: None)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler)

# Commands and servers that tests start read and write bytecode, whatever the shell says: compiling takes longer than
# most of them run.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A model server that happens to run on this machine is not part of the tests.
os.environ["TREERING_EMBEDDER"] = "bundled"
# A thread that works in the background would change what a test counts; tests of it turn it on.
os.environ["TREERING_BACKGROUND"] = "off"
# The settings of the person who runs the tests are theirs.
os.environ["TREERING_CONFIG_DIR"] = str(Path(__file__).parent / "no-settings")

# Tests that kill a process delete it again.
os.environ["TREERING_TEST_SYNCHRONOUS"] = "off"
sqlite._create_for_this_user_only = create_from_template
share_compiled_statements()
# Loading the bundled model takes longer than most tests.
bundled._load = cache(bundled._load)

_servers: list[PostgresServer] = []
_ROOM = 4 * 1024**3
"""Several times what a run has on disk at a time."""


def pytest_configure(config: pytest.Config) -> None:
    """The controller starts the server before its workers, which inherit the folder and end with it."""
    if hasattr(config, "workerinput"):
        end_with_parent()
        return
    _use_memory_for_temporary_files()
    if getattr(config.option, "numprocesses", None) and "postgresql" in ENGINES:
        _start_server()


def _use_memory_for_temporary_files() -> None:
    """Databases of tests need not reach a disk, unless a folder for temporary files is named."""
    memory = Path("/dev/shm")
    if "TMPDIR" not in os.environ and memory.is_dir() and shutil.disk_usage(memory).free > _ROOM:
        os.environ["TMPDIR"] = str(memory)
        tempfile.tempdir = None  # look again


def pytest_unconfigure(config: pytest.Config) -> None:
    for server in _servers:
        server.close()
    _servers.clear()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without PostgreSQL, leave out the tests that ask for it directly."""
    if "postgresql" in ENGINES:
        return
    left_out = [item for item in items if "postgres_admin_url" in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def pytest_collection_finish() -> None:
    """Leave the collected tests out of garbage collection: walking them took a quarter of the processor time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _start_server() -> None:
    if "TREERING_TEST_POSTGRES" not in os.environ:
        _servers.append(PostgresServer())
        os.environ["TREERING_TEST_POSTGRES"] = str(_servers[0].folder)


@pytest.fixture(scope="session")
def postgres_admin_url() -> str:
    """The server as its superuser."""
    _start_server()
    return url_in(Path(os.environ["TREERING_TEST_POSTGRES"]))


def create_pgvector(postgres_admin_url: str, url: str) -> None:
    """It takes a superuser; Treering finds it when the next vectors come."""
    import psycopg
    from sqlalchemy import make_url

    own = make_url(postgres_admin_url).set(database=make_url(url).database)
    with psycopg.connect(own.render_as_string(False), autocommit=True) as admin:
        admin.execute("CREATE EXTENSION vector")


@contextmanager
def own_database(postgres_admin_url: str, *, pgvector: bool = True) -> Iterator[str]:
    """An empty database, opened as an ordinary role, so that row-level security is in force."""
    import psycopg
    from sqlalchemy import make_url

    name = f"treering_{uuid4().hex[:12]}"
    with psycopg.connect(postgres_admin_url, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'treering'")
        admin.execute(f"CREATE DATABASE {name} OWNER {name}")
    url = make_url(postgres_admin_url).set(username=name, password="treering", database=name).render_as_string(False)
    if pgvector:
        create_pgvector(postgres_admin_url, url)
    yield url
    with psycopg.connect(postgres_admin_url, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
        admin.execute(f"DROP ROLE {name}")


@pytest.fixture(scope="session")
def postgres_url(postgres_admin_url: str) -> Iterator[str]:
    """The database of this test process."""
    with own_database(postgres_admin_url) as url:
        yield url


@pytest.fixture(autouse=True)
def _constants_of_indexing() -> Iterator[None]:
    """Restore what `code_of` changes for a test."""
    update: Any = sys.modules.get("treering.code.index.update")
    kept = (update.BATCH_FILES, update.MIN_PARALLEL_FILES) if update else None
    yield
    if update and kept:
        update.BATCH_FILES, update.MIN_PARALLEL_FILES = kept


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Asks for a test to run on both engines."""
    return str(request.param)


@pytest.fixture
def open_engine(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., Memory]]:
    """Opens memories on a named engine: the same place within a test, a fresh one for each test."""
    tenant, opened = f"t-{uuid4().hex[:12]}", list[Memory]()

    def open_on(engine: str, **options: object) -> Memory:
        assert engine in ENGINES, f"name the fixture postgres_url: this run is without {engine}"
        if engine == "sqlite":
            place, beside = str(tmp_path / "memory.db"), tmp_path / "memory.db.blobs"
        else:
            place, beside = request.getfixturevalue("postgres_url"), tmp_path / "blobs"
        chosen: dict[str, Any] = {"project": "p", "tenant": tenant, "blobs": beside} | options
        opened.append(treering.open(place, **chosen))
        return opened[-1]

    yield open_on
    for memory in opened:
        memory.close()


@pytest.fixture
def open_memory(engine: str, open_engine: Callable[..., Memory]) -> OpenMemory:
    """Opens memories on the engine of this test."""
    return lambda **options: open_engine(engine, **options)


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    """An empty memory on the engine of this test."""
    return open_memory()
