"""Where is …? Asked of a project's code on both engines: found as it is now, and nothing else."""

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.code_projects import code_of, written
from tests.conftest import OpenMemory
from treering.code.api import Code
from treering.code.locations.embedding import ChunkEmbedding, queue_chunk_embedding, run_chunk_embedding
from treering.compose.workers import _handlers
from treering.core.errors import InvalidInput, NotFound, StoreError
from treering.core.jobs import EMBED_CODE, code_embedding_job, embedding_job
from treering.core.privacy import ModelLocation
from treering.core.queries import JobFilter, SearchFilter, TurnFilter
from treering.core.settings import CodeSettings, EmbedderSettings, Settings
from treering.jobs.worker import WorkerStopped
from treering.memory import Memory
from treering.ports.code_chunks import ChunkCoverage, StoredChunk
from treering.search.code_hits import MAX_CODE_HITS
from treering.search.embedding import coverage as coverage_of_records

REDIRECTS = "def follow_redirect(request):\n    # The location names the next hop.\n    return request.location\n"
DECODING = "def decode_gzip(data):\n    return unzip(data)\n"
FILES = {
    "web/redirects.py": REDIRECTS,
    "web/decoding.py": DECODING,
    "web/__init__.py": "",
    "tests/test_redirects.py": "def test_follow_redirect():\n    follow_redirect(None)\n",
}
QUESTION = "where are redirects followed?"
WORDS_ONLY = Settings(embedder=EmbedderSettings(provider="none"), code=CodeSettings(look_seconds=0))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path / "project", FILES)


@pytest.fixture
def code(memory: Memory) -> Code:
    return code_of(memory)


def chunks(memory: Memory) -> list[StoredChunk]:
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        return list(tx.chunks.every())


def coverage(memory: Memory) -> ChunkCoverage:
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        return tx.chunks.coverage(memory.models.embedder((), hurried=False).model)


def test_a_function_is_found_with_its_lines_and_how_it_begins(code: Code, root: Path) -> None:
    code.index(root)
    found = code.where(QUESTION)
    best = found[0]
    assert (best.path, best.symbol, best.start_line, best.end_line) == ("web/redirects.py", "follow_redirect", 1, 3)
    assert best.score == 1.0
    assert best.text == REDIRECTS.rstrip()
    assert found.missing == {}
    assert found.status.up_to_date
    assert len(code.where(QUESTION, limit=1)) == 1


def test_an_edit_is_found_and_the_old_text_is_not(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    (root / "web/decoding.py").write_text("def decode_brotli(data):\n    return decompress(data)\n")
    assert code.where("where is brotli decoded?")[0].symbol == "decode_brotli"
    assert "decode_gzip" not in {place.symbol for place in code.where("decode_gzip unzip")}
    assert "decode_gzip" not in {chunk.symbol for chunk in chunks(memory)}


def test_a_file_takes_its_chunks_and_vectors_with_it(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    memory.settle()
    before = coverage(memory)
    assert before.chunks == before.vectors == len(chunks(memory)) == 3
    (root / "web/redirects.py").unlink()
    code.index(root)
    assert "web/redirects.py" not in {chunk.path for chunk in chunks(memory)}
    assert coverage(memory) == ChunkCoverage(2, 2)
    assert "web/redirects.py" not in {place.path for place in code.where(QUESTION)}


def test_files_that_are_no_longer_code_have_no_chunks(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    (root / "web/redirects.py").write_bytes(b"\0binary")
    code.index(root)
    assert "web/redirects.py" not in {chunk.path for chunk in chunks(memory)}


def test_an_unchanged_chunk_keeps_its_vector_where_it_moved(memory: Memory, code: Code, root: Path) -> None:
    code.index(root)
    memory.settle()
    model = memory.models.embedder((), hurried=False).model
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        before = dict(tx.chunks.vectors(model))
    (root / "web/decoding.py").write_text(f"import zlib\n\n\n{DECODING}")
    code.index(root)
    kept = {chunk.digest for chunk in chunks(memory)} & before.keys()
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        assert set(tx.chunks.vectors(model)) == kept
    assert len(kept) == 2


def test_another_project_finds_nothing(open_memory: OpenMemory, root: Path) -> None:
    one, other = open_memory(project="one"), open_memory(project="other")
    code_of(one).index(root)
    with pytest.raises(NotFound, match="treering index"):
        code_of(other).where(QUESTION)
    assert other.search(QUESTION, code=True).code == ()


def test_a_write_that_fails_leaves_neither_file_nor_chunk(
    memory: Memory, code: Code, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from treering.adapters.sql.code_chunks import StoredChunks

    code.index(root)
    before = chunks(memory), code.status().totals

    def fail(*_given: object) -> None:
        raise StoreError("the disk is full")

    (root / "web/retries.py").write_text("def retry_failed_uploads():\n    pass\n")
    with monkeypatch.context() as patch:
        patch.setattr(StoredChunks, "add_vectors", fail)
        put = StoredChunks.put

        def put_then_fail(self: StoredChunks, files: dict[str, tuple[StoredChunk, ...]]) -> None:
            put(self, files)
            if "web/retries.py" in files:
                fail()

        patch.setattr(StoredChunks, "put", put_then_fail)
        with pytest.raises(StoreError):
            code.index(root)
    assert chunks(memory) == before[0]
    assert code_of(memory).status().totals == before[1]
    code.index(root)
    assert code.where("where are failed uploads retried?")[0].symbol == "retry_failed_uploads"


def test_changed_files_that_cannot_be_read_are_not_served(memory: Memory, root: Path) -> None:
    code = code_of(memory, inline_files=0)
    code.index(root)
    (root / "web/redirects.py").write_text(REDIRECTS + "\n\ndef more():\n    pass\n")
    found = code.where(QUESTION)
    assert found.status.stale == ("web/redirects.py",)
    assert not found.status.up_to_date
    assert "web/redirects.py" not in {place.path for place in found}


def test_without_an_embedder_words_are_used_and_reported(open_memory: OpenMemory, root: Path) -> None:
    memory = open_memory(settings=WORDS_ONLY)
    memory.code.index(root)
    found = memory.code.where(QUESTION)
    assert found[0].symbol == "follow_redirect"
    assert "words only" in found.missing["meaning"]
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        assert tx.jobs.count(JobFilter(kinds=(EMBED_CODE,))) == 0


def test_vectors_are_made_by_a_job_in_slices(
    open_memory: OpenMemory, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.search.embedding.EMBED_SECONDS", 1e-9)
    slow = Settings(embedder=EmbedderSettings(batch=1))
    memory = open_memory(settings=slow, background=False)
    memory.code.index(root)
    assert coverage(memory) == ChunkCoverage(3, 0)
    assert memory.settle().dead == 0
    assert coverage(memory) == ChunkCoverage(3, 3)


def test_a_file_changed_since_indexing_is_skipped_when_embedding(memory: Memory, root: Path) -> None:
    memory.code.index(root)
    (root / "web/decoding.py").write_text("def other():\n    pass\n")
    work = ChunkEmbedding(memory.scope, memory.store, memory._parts.clock, memory.settings)
    embedder = memory.models.embedder((), hurried=False)
    work.embed_all(embedder)
    assert work.coverage(embedder.model) == ChunkCoverage(3, 2)
    assert work.embed_all(embedder) == 0


def test_vectors_of_other_models_go_when_asked(memory: Memory, root: Path) -> None:
    memory.code.index(root)
    with memory.store.transaction(memory.scope, memory._parts.clock()) as tx:
        tx.chunks.add_vectors("another", {chunks(memory)[0].digest: b"12"})
    work = ChunkEmbedding(memory.scope, memory.store, memory._parts.clock, memory.settings)
    assert work.drop_others(memory.models.embedder((), hurried=False).model) == 1


class Elsewhere:
    """A model that is not in this process."""

    model, dimension, local, contextual = "far/away", 2, False, True
    location = ModelLocation.HERE

    def __init__(self) -> None:
        self.read: list[str] = []

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.read += texts
        return np.ones((len(texts), 2), np.float32)

    def query(self, text: str) -> NDArray[np.float32]:
        return self.documents([text])

    def reliability(self, text: str) -> float:
        return 1.0

    def forget_queries(self) -> None: ...

    def close(self) -> None: ...


class OnlyElsewhere:
    def __init__(self) -> None:
        self.chosen = Elsewhere()

    def embedder(self, _known: Sequence[str], *, hurried: bool) -> Elsewhere:
        return self.chosen


def test_a_query_vector_of_another_dimension_is_reported_and_words_decide(
    memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = OnlyElsewhere()
    memory.code.index(root)
    ChunkEmbedding(memory.scope, memory.store, memory._parts.clock, memory.settings).embed_all(models.chosen)
    monkeypatch.setattr(memory._parts.models, "embedder", models.embedder)
    assert memory.code.where(QUESTION).missing == {}
    monkeypatch.setattr(models.chosen, "query", lambda _text: np.ones((1, 3), np.float32))
    found = memory.code.where(QUESTION)
    assert found[0].path == "web/redirects.py"
    assert found.missing["meaning"].startswith(
        "found by words only: far/away returned a vector of 3 numbers, but those of the chunks have 2; give the model"
    )


def test_remote_models_get_code_only_on_request_and_without_secrets(memory: Memory, root: Path) -> None:
    secret = "ghp_" + "x7Kq2mVt9LpZ4cRb8WnD3sYh6JfA1gUe5TiO"
    written(root, {"web/tokens.py": f'def token():\n    return "{secret}"\n'})
    models, new_id = OnlyElsewhere(), memory._parts.new_id
    memory.code.index(root)
    work = ChunkEmbedding(memory.scope, memory.store, memory._parts.clock, memory.settings)
    assert not queue_chunk_embedding(work, models, new_id)  # type: ignore[arg-type]
    job = code_embedding_job(memory._parts.clock(), new_id())
    run_chunk_embedding(work, job, models, new_id)  # type: ignore[arg-type]
    assert models.chosen.read == []
    assert work.embed_all(models.chosen) == 4
    assert "token" in " ".join(models.chosen.read)
    assert secret not in " ".join(models.chosen.read)
    (place,) = memory.code.where("token", limit=1)
    assert place.path == "web/tokens.py"
    assert secret not in place.text


def test_a_worker_that_is_to_stop_embeds_no_further_than_the_batch_it_is_at(memory: Memory, root: Path) -> None:
    settings = memory.settings.model_copy(update={"embedder": EmbedderSettings(batch=1)})
    ports, stop = memory._parts, threading.Event()
    stop.set()
    for text in ("The gate is green.", "The fence is blue."):
        memory.remember(text)
    memory.code.index(root)
    work = ChunkEmbedding(memory.scope, memory.store, ports.clock, settings)
    work.drop_others("none")
    handlers = _handlers(memory.store, ports.models, settings, ports.clock, stop)
    for job in (code_embedding_job(ports.clock(), ports.new_id()), embedding_job(ports.clock(), ports.new_id())):
        with pytest.raises(WorkerStopped):
            handlers[job.kind](memory.scope, job, ports.clock())
    model = ports.models.embedder((), hurried=False).model
    assert work.coverage(model).vectors == 1
    assert coverage_of_records(memory.scope, memory.store, ports.clock(), model).vectors == 1


def test_code_locations_are_ranked_among_memories(memory: Memory, root: Path) -> None:
    note = memory.remember("Redirects are followed five times at most", files=["web/redirects.py"])
    memory.code.index(root)
    found = memory.search(QUESTION)
    assert [(hit.kind, hit.id) for hit in found][:2] == [("knowledge", note.id), ("code", "web/redirects.py:1-3")]
    assert found[0].score == 1.0 > found[1].score
    assert found.code[0].symbol == "follow_redirect"
    assert [hit.id for hit in memory.search(QUESTION, code=False)] == [note.id]
    assert memory.search("which function follows a redirect?")[0].id == "web/redirects.py:1-3"


def test_code_is_a_kind_of_the_one_filter(memory: Memory, root: Path) -> None:
    memory.remember("Redirects are followed five times at most", files=["web/redirects.py"], type="decision")
    memory.code.index(root)
    for query in (QUESTION, "redirect"):
        assert {hit.kind for hit in memory.search(query, where=SearchFilter(kinds=("code",)))} == {"code"}
    assert {hit.kind for hit in memory.search("redirect", where=SearchFilter(kinds=("knowledge",)))} == {"knowledge"}
    both = memory.search("redirect", where=SearchFilter(kinds=("code", "knowledge")))
    assert {hit.kind for hit in both} == {"code", "knowledge"}
    assert memory.search(QUESTION, where=SearchFilter(types=("decision",))).code == ()
    in_file = memory.search(QUESTION, where=SearchFilter(kinds=("code",), files=("web/decoding.py", "web/gone/")))
    assert {place.path for place in in_file.code} <= {"web/decoding.py"}
    in_folder = memory.search(QUESTION, where=SearchFilter(kinds=("code",), files=("tests/",)))
    assert {place.path for place in in_folder.code} == {"tests/test_redirects.py"}
    assert len(memory.search(QUESTION, limit=1)) == 1
    with pytest.raises(InvalidInput, match="no kind of record has all of these fields"):
        memory.search(QUESTION, where=SearchFilter(kinds=("code",), roles=("user",)))


def test_contradictory_options_for_code_are_rejected(memory: Memory, root: Path) -> None:
    memory.code.index(root)
    with pytest.raises(InvalidInput, match="only the kind turn, episode is requested; add the kind code"):
        memory.search(QUESTION, code=True, where=SearchFilter(kinds=("turn", "episode")))
    for kinds in (("code",), ("code", "turn")):
        with pytest.raises(InvalidInput, match="the kind code is requested, but `code` excludes"):
            memory.search(QUESTION, code=False, where=SearchFilter(kinds=kinds))
    assert memory.search(QUESTION, code=True, where=SearchFilter(kinds=("turn", "code"))).code
    assert "web/" in memory.context.build(QUESTION, where=SearchFilter(kinds=("code",))).text


def test_code_does_not_crowd_out_knowledge(memory: Memory, tmp_path: Path) -> None:
    many = {f"shop/keep_{number}.py": f"def orders_kept_{number}(orders):\n    return orders\n" for number in range(20)}
    known = memory.remember("Orders are kept in PostgreSQL because of row-level security")
    memory.code.index(written(tmp_path / "many", many))
    for query in ("why are orders kept in PostgreSQL", "PostgreSQL orders", "what about row-level security"):
        assert [hit.id for hit in memory.search(query)] == [known.id], query
    asked = memory.search("where are orders kept?")
    assert asked[0].id == known.id
    assert len(asked.code) == MAX_CODE_HITS


def test_places_are_explained_beside_records(memory: Memory, root: Path) -> None:
    memory.remember("Redirects are followed five times at most")
    memory.code.index(root)
    answer = memory.search(QUESTION, explain=True)
    assert answer.explanation is not None
    assert [each.id for each in answer.explanation.results] == [hit.id for hit in answer]


def test_recall_adds_code_only_where_a_place_is_asked_for_and_everything_is_searched(
    memory: Memory, root: Path
) -> None:
    memory.code.index(root)
    assert memory.search("redirects").code == ()
    assert memory.search("redirects", code=True).code[0].symbol == "follow_redirect"
    assert memory.search(QUESTION, precise=True).code == ()
    assert memory.search(QUESTION, as_of="2020-01-01").code == ()
    assert memory.search(QUESTION, turns=None).code == ()
    assert memory.search(QUESTION, turns=TurnFilter(sessions=("s",))).code == ()
    assert memory.search("", code=True).code == ()


def test_a_search_reports_missing_code(open_memory: OpenMemory, root: Path) -> None:
    memory = open_memory(settings=Settings(code=CodeSettings(look_seconds=0, inline_files=0)))
    memory.code.index(root)
    (root / "web/redirects.py").write_text("def other():\n    pass\n")
    answer = memory.search(QUESTION)
    assert "web/redirects.py" not in {place.path for place in answer.code}
    assert "files changed" in answer.missing["some code"]


def test_recall_is_as_before_where_nothing_is_indexed(memory: Memory) -> None:
    memory.remember("Redirects are followed five times at most")
    answer = memory.search(QUESTION)
    assert len(answer) == 1
    assert answer.code == ()
    assert "code" not in answer.missing


@pytest.mark.parametrize("limit", [0, -1, 101, True, "5"])
def test_an_invalid_limit_is_rejected(code: Code, root: Path, limit: int) -> None:
    code.index(root)
    with pytest.raises(InvalidInput, match="limit"):
        code.where(QUESTION, limit=limit)


def test_a_query_that_is_not_a_string_is_rejected(code: Code, root: Path) -> None:
    code.index(root)
    with pytest.raises(InvalidInput, match="give a string"):
        code.where(7)  # type: ignore[arg-type]


def test_odd_names_and_bytes_are_no_trouble(memory: Memory, code: Code, root: Path) -> None:
    long = "x" * 3_000
    (root / "web/odd.js").write_text(
        f"export function {long}() {{ return 1 }}\nexport const o = {{ 'a\\u0000b'() {{ return '\\ud800' }} }}\n"
    )
    (root / "web/odd.py").write_bytes(b"def caf\xe9():\n    '''\xff\xfe'''\n    return 1\n")
    code.index(root)
    assert {chunk.path for chunk in chunks(memory)} >= {"web/odd.js"}
    assert max(len(chunk.symbol) for chunk in chunks(memory)) <= 400
    memory.settle()
    assert code.where("odd")
