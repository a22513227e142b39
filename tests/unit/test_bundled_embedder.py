"""The embedder that needs no server: near means alike, fast, small, and the same vectors everywhere."""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from tests.growth import growth
from treering.adapters.models import bundled
from treering.adapters.models.bundled import BundledEmbedder
from treering.core.errors import ModelUnavailable
from treering.ports.models import Embedder

TEXTS = [f"The user {n} prefers pytest and wants project {n % 77} migrated on Friday" for n in range(2_000)]


@pytest.fixture(scope="module")
def embedder() -> Iterator[BundledEmbedder]:
    made = BundledEmbedder()
    made.query("load")
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the package's files that a test may damage."""
    spec = importlib.util.find_spec("wordllama")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    installed = Path(spec.submodule_search_locations[0])
    for part in ("weights", "tokenizers"):
        copytree(installed / part, tmp_path / part)
    return tmp_path


def test_it_is_a_local_embedder_whose_name_tells_its_weights(embedder: BundledEmbedder) -> None:
    port: Embedder = embedder
    assert (port.local, port.dimension) == (True, 256)
    assert port.model == "wordllama-l2-supercat-256-64b47a2d"


def test_each_text_has_one_row_of_length_1(embedder: BundledEmbedder) -> None:
    vectors = embedder.documents(TEXTS[:200])
    assert (vectors.shape, vectors.dtype) == ((200, 256), np.float32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_texts_alike_are_nearer_than_others(embedder: BundledEmbedder) -> None:
    query = embedder.query("Which database do we use?")
    near, far = embedder.documents(["The database is PostgreSQL.", "The cat sleeps on the sofa."]) @ query[0]
    assert near > far + 0.1


def test_the_vector_is_the_mean_of_the_token_vectors(embedder: BundledEmbedder) -> None:
    model = embedder._ready()
    tokens = model.tokenizer.encode("the quick brown fox", add_special_tokens=False).ids
    mean = model.token_vectors[tokens].astype(np.float64).mean(axis=0)
    assert np.allclose(embedder.query("the quick brown fox")[0], mean / np.linalg.norm(mean), atol=1e-5)


def test_a_text_has_the_same_vector_alone_and_among_others(embedder: BundledEmbedder) -> None:
    texts = ["", *TEXTS[:150], "   ", "last", "\n"]
    together = embedder.documents(texts)
    assert np.allclose(together, np.concatenate([embedder.query(text) for text in texts]), atol=1e-6)


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_a_text_that_says_nothing_is_a_row_of_zeros(embedder: BundledEmbedder, text: str) -> None:
    assert not embedder.documents([text, "something", text])[[0, 2]].any()
    assert not embedder.query(text).any()


def test_no_texts_are_no_rows(embedder: BundledEmbedder) -> None:
    assert embedder.documents([]).shape == (0, 256)


@pytest.mark.parametrize("text", ["half \ud800 a character", "\x00", "日本語のテキスト", "🪵" * 40, "<s></s>"])
def test_any_text_is_taken(embedder: BundledEmbedder, text: str) -> None:
    assert np.isfinite(embedder.query(text)).all()


def test_a_long_document_is_read_up_to_a_point_and_quickly(embedder: BundledEmbedder) -> None:
    beginning = "the database is PostgreSQL " * 2_000
    longer = beginning + "cats sleep on sofas " * 15_000
    same = embedder.documents([beginning, longer])
    assert np.array_equal(same[0], same[1])
    assert growth(lambda text: embedder.documents([text]), beginning, longer, enough=2) < 2


def test_the_first_use_of_many_threads_loads_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[Path] = []
    load = bundled._load

    def counted(folder: Path) -> Any:
        loads.append(folder)
        return load(folder)

    monkeypatch.setattr(bundled, "_load", counted)
    fresh = BundledEmbedder()
    with ThreadPoolExecutor(8) as threads:
        vectors = list(threads.map(fresh.query, ["same text"] * 32))
    assert len(loads) == 1
    assert all(np.array_equal(each, vectors[0]) for each in vectors)


def test_it_loads_again_after_closing() -> None:
    fresh = BundledEmbedder()
    before = fresh.query("text")
    fresh.close()
    assert np.array_equal(fresh.query("text"), before)


def test_a_missing_package_is_told_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match=r"not installed; pip install 'wordllama"):
        BundledEmbedder().query("text")


@pytest.mark.parametrize("name", [bundled._WEIGHTS, bundled._TOKENIZER])
def test_files_of_another_version_are_refused(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[-100] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(ModelUnavailable, match=rf"{name} of wordllama is not the version .* pip install 'wordllama"):
        BundledEmbedder(folder).query("text")


@pytest.mark.parametrize("name", [bundled._WEIGHTS, bundled._TOKENIZER])
def test_a_missing_file_is_told_with_advice(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelUnavailable, match=r"cannot be read from .* pip install 'wordllama"):
        BundledEmbedder(folder).query("text")


def test_neither_wordllama_is_imported_nor_memory_wasted() -> None:
    """10,000 different texts; the tokenizer's own cache alone would take 100 MB."""
    script = """
import resource, sys
from treering.adapters.models.bundled import BundledEmbedder
embedder = BundledEmbedder()
for start in range(0, 10_000, 1_000):
    notes = [f"note {n}: the user wants project {n % 77} migrated" for n in range(start, start + 1_000)]
    embedder.documents(notes)
assert "wordllama" not in sys.modules and "safetensors" not in sys.modules
try:  # Where there is a /proc, getrusage also counts what the process was before it became this one.
    peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(peak)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert int(done.stdout) < 100_000
