"""The bundled embedder: a table of token vectors, without a server or a download."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from treering.adapters.models.sampled_digest import sampled_digest
from treering.adapters.models.subwords import Subwords
from treering.adapters.models.texts import clipped, in_batches
from treering.adapters.models.vectors import unit_rows
from treering.core.errors import ModelUnavailable
from treering.core.privacy import ModelLocation

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from treering.ports.models import Vectors

_PACKAGE = "wordllama"
_ADVICE = "pip install 'wordllama>=0.4,<0.5', or choose another embedder in the settings"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_WEIGHTS_SHA256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
_WEIGHTS_SAMPLE_SHA256 = "1667d52d9f8cd96249d09f76ad29888b3b13c4506207f33a27446a6156ba1e10"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_TOKENIZER_SHA256 = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
_TOKENS = 32_000
_DIMENSION = 256

MAX_TOKENS = 2_048
"""A mean over more tokens describes each of them less; about three pages at four characters per token."""
_MAX_BYTES = 8 * MAX_TOKENS  # Tokenizing text that is then cut off takes seconds for a long document.
_MIN_RELIABILITY = 0.25
_BATCH_TEXTS = 64  # The token vectors of a batch fit the processor's cache: larger batches are slower.
_BATCH_CHARACTERS = 16_384  # A few megabytes of token vectors at a time.


@dataclass(frozen=True)
class _LoadedEmbedder:
    folder: Path
    subwords: Subwords
    token_vectors: NDArray[np.float16]

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """For long texts and for many; it takes 65 ms and 19 MB, which a process that only searches does not need."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_buffer(_rules(self.folder))
        # The cache holds whole texts, which rarely repeat: 100 MB after 10,000 texts, for no gain.
        if resize := getattr(tokenizer.model, "_resize_cache", None):
            resize(0)
        return tokenizer


class BundledEmbedder:
    """The mean of a text's token vectors (WordLlama, 256 dimensions). Loads in about 25 ms on first use; thread-safe.

    Reads two files of the `wordllama` package without importing it, which is slow and accesses the network.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` holds the package's files; by default the installed package."""
        self._folder = folder
        self._loading = Lock()
        self._loaded: _LoadedEmbedder | None = None

    @property
    def model(self) -> str:
        return f"wordllama-l2-supercat-256-{_WEIGHTS_SHA256[:8]}"

    @property
    def dimension(self) -> int:
        return _DIMENSION

    @property
    def location(self) -> ModelLocation:
        return ModelLocation.HERE

    def reliability(self, text: str) -> float:
        """Its vocabulary is English and related languages in Latin script; of other scripts, single characters."""
        letters = [char for char in text if char.isalpha()]
        foreign = sum(char > "\u024f" for char in letters)
        return max(_MIN_RELIABILITY, 1 - foreign / len(letters)) if letters else 1.0

    @property
    def contextual(self) -> bool:
        return False

    @property
    def local(self) -> bool:
        return True

    def documents(self, texts: Sequence[str]) -> Vectors:
        model = self._ready()
        vectors = np.zeros((len(texts), _DIMENSION), np.float32)
        readable = [clipped(text, _MAX_BYTES) for text in texts]
        done = 0
        for batch in in_batches(readable, _BATCH_TEXTS, _BATCH_CHARACTERS):
            vectors[done : done + len(batch)] = unit_rows(_token_sums(model, batch))
            done += len(batch)
        return vectors

    def query(self, text: str) -> Vectors:
        return self.documents([text])

    def forget_queries(self) -> None:
        """Nothing to clear: embedding a query is cheaper than caching it."""

    def close(self) -> None:
        """Free the memory; the next use loads the model again."""
        with self._loading:
            self._loaded = None

    def _ready(self) -> _LoadedEmbedder:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load(self._folder or _installed_folder())
            return self._loaded


def _token_sums(model: _LoadedEmbedder, texts: Sequence[str]) -> Vectors:
    """Sums of token vectors: they have the same direction as the means."""
    tokens = [each[:MAX_TOKENS] for each in _tokens(model, [text if text.strip() else "" for text in texts])]
    counts = np.fromiter(map(len, tokens), np.intp, len(tokens))
    sums = np.zeros((len(tokens), _DIMENSION), np.float32)
    if counts.any():
        flat = np.fromiter(chain.from_iterable(tokens), np.intp, counts.sum())
        starts = np.cumsum(counts) - counts
        # Rows without tokens are left out: reduceat would assign them the next token.
        sums[counts > 0] = np.add.reduceat(model.token_vectors[flat].astype(np.float32), starts[counts > 0], axis=0)
    return sums


def _tokens(model: _LoadedEmbedder, texts: Sequence[str]) -> Sequence[Sequence[int]]:
    if len(texts) > 1:
        return [each.ids for each in model.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
    found = [model.subwords.tokens(text) for text in texts]
    # A single text is not worth waking the tokenizer's threads.
    return [
        model.tokenizer.encode(text, add_special_tokens=False).ids if tokens is None else tokens
        for text, tokens in zip(texts, found, strict=True)
    ]


def _installed_folder() -> Path:
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable(f"the bundled embedder is not installed; {_ADVICE}")
    return Path(spec.submodule_search_locations[0])


def _load(folder: Path) -> _LoadedEmbedder:
    try:
        rules = _rules(folder)
        with (folder / _WEIGHTS).open("rb") as weights:
            _require_known(_WEIGHTS, sampled_digest(weights), _WEIGHTS_SAMPLE_SHA256)
            weights.seek(0)
            # A safetensors file consists of the header's length, the header, and the numbers; here of one matrix.
            start = 8 + int.from_bytes(weights.read(8), "little")
            # Memory-mapped: only pages with tokens that occur take memory, and processes share them.
            mapped = np.memmap(weights, np.float16, "r", offset=start, shape=(_TOKENS, _DIMENSION))
    except OSError as exc:
        raise ModelUnavailable(f"the bundled embedder's files cannot be read from {folder}; {_ADVICE}") from exc
    return _LoadedEmbedder(folder, Subwords(rules), mapped.view(np.ndarray))


def _rules(folder: Path) -> bytes:
    """The file of the tokenizer, verified."""
    rules = (folder / _TOKENIZER).read_bytes()
    _require_known(_TOKENIZER, sha256(rules).hexdigest(), _TOKENIZER_SHA256)
    return rules


def _require_known(name: str, found: str, expected: str) -> None:
    if found != expected:
        raise ModelUnavailable(f"{name} of {_PACKAGE} is not the version that made the stored vectors; {_ADVICE}")
