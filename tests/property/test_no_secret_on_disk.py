"""Whatever holds a secret, wherever in it and by whatever verb it is stored: no file has the secret afterwards."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import OpenMemory
from tests.examples import examples
from tests.samples import NOW, SMALL_BLOBS, sample
from treering.archive.portable import header
from treering.core.episodes import Episode, EpisodeLifecycle
from treering.core.errors import SecretRefused
from treering.core.history import Revision
from treering.core.jobs import Job
from treering.core.observations import ObservedSession
from treering.core.records import Knowledge
from treering.memory import Memory

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]

PLAIN = st.sampled_from(["fine", "two words", "x" * 900])
SECRET = st.sampled_from([TOKEN, f"use {TOKEN} here", f"{'long ' * 300}{TOKEN}"])
JSON = st.recursive(
    PLAIN | SECRET | st.integers(-5, 5) | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN | SECRET, inner, max_size=3),
    max_leaves=6,
)
TEXT = PLAIN | SECRET


def _remember(memory: Memory, text: str, tree: Any) -> None:
    memory.remember(text, tags=[str(text)[:40]], payload={"subject": text, "value": text})


def _correct(memory: Memory, text: str, tree: Any) -> None:
    memory.correct(memory.remember(f"wrong {uuid4()}").id, "inaccurate", text=text)


def _flag(memory: Memory, text: str, tree: Any) -> None:
    memory.flag(memory.remember(f"doubtful {uuid4()}").id, text)


def _turn(memory: Memory, text: str, tree: Any) -> None:
    memory.turn(session="s", role="user", text=text, metadata={"tree": tree})


def _episode(memory: Memory, text: str, tree: Any) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        id = str(uuid4())
        tx.episodes.create(sample(Episode, id, task={"input": text, "context": {"tree": tree}}))
        tx.episodes.set_lifecycle(id, EpisodeLifecycle.make(referenced_by=(text[:60],)))


def _observed_session(memory: Memory, text: str, tree: Any) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.observed_sessions.put_many([sample(ObservedSession, str(uuid4()), ignored={"tree": tree}, prompts=(text,))])


def _job(memory: Memory, text: str, tree: Any) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.jobs.enqueue(Job.make(id=str(uuid4()), kind="k", run_at=NOW, created_at=NOW, payload={"tree": tree}))


def _import(memory: Memory, text: str, tree: Any) -> None:
    state = sample(Knowledge, "k", content=text)
    revision = sample(Revision, str(uuid4()), kind="knowledge", subject="k", before=state.to_json())
    line = json.dumps({"kind": "revision", "value": json.loads(revision.to_json())})
    lines = [header("p", NOW.isoformat()), line, json.dumps({"end": {"revision": 1}})]
    path = Path(memory.store.blobs.location).parent.parent / f"{uuid4()}.jsonl"
    path.write_text("\n".join(lines))
    try:
        memory.import_(path)
    finally:
        path.unlink()


VERBS: tuple[Callable[[Memory, str, Any], None], ...] = (
    _remember, _correct, _flag, _turn, _episode, _observed_session, _job, _import
)  # fmt: skip


TABLES = ("knowledge", "turns", "sessions", "episodes", "observed_sessions", "jobs", "revisions", "documents")


def _on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__.strip("_"))
@examples(10)
@given(text=TEXT, tree=JSON)
def test_no_file_has_the_secret(
    open_memory: OpenMemory,
    tmp_path: Path,
    *,
    engine: str,
    verb: Callable[[Memory, str, Any], None],
    text: str,
    tree: Any,
) -> None:
    with open_memory(settings=SMALL_BLOBS) as memory:
        with contextlib.suppress(SecretRefused):
            verb(memory, text, tree)
        scope = memory.scope
        assert TOKEN.encode() not in _on_disk(tmp_path)
        if engine == "postgresql":
            with memory.store.upkeep(scope, NOW) as context:  # type: ignore[attr-defined]
                for name in TABLES:
                    rows = context.connection.exec_driver_sql(f"SELECT * FROM {name}").all()
                    assert TOKEN not in str(rows)
