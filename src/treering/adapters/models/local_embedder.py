"""An in-process embedder: an ONNX model from a folder, such as a sentence transformer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treering.adapters.models.onnx_model import MAX_BYTES, MAX_TOKENS, TOKENIZER, OnnxModel
from treering.adapters.models.prefixes import Prefixes, prefixes_of
from treering.adapters.models.sampled_digest import sampled_digest
from treering.adapters.models.texts import clipped
from treering.adapters.models.vectors import unit_rows
from treering.core.privacy import ModelLocation

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from treering.core.errors import ModelUnavailable
    from treering.ports.models import Vectors

_THREADS = 2
"""Vectors are made beside other work."""
_POOLED, _TOKENS = "sentence_embedding", ("last_hidden_state", "token_embeddings")
_INPUTS = "input_ids, attention_mask and token_type_ids"
_POOLINGS: Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "mean": lambda tokens: tokens.mean(axis=0),
    "cls": lambda tokens: tokens[0],
    "lasttoken": lambda tokens: tokens[-1],
}
_POOLING_FLAGS = {
    "mean": "pooling_mode_mean_tokens",
    "cls": "pooling_mode_cls_token",
    "lasttoken": "pooling_mode_lasttoken",
    "max": "pooling_mode_max_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
}
# The first file that names a limit decides; tokenizer.json often keeps a shorter one of the training.
_LIMITS = (
    ("sentence_bert_config.json", "max_seq_length"),
    ("tokenizer_config.json", "model_max_length"),
    ("config.json", "max_position_embeddings"),
)


@dataclass(frozen=True, slots=True)
class _EmbedderOptions:
    """What the files beside the model say about its use. All of it changes the vectors."""

    pooling: str
    prefixes: Prefixes
    max_tokens: int
    dense: bool


class LocalEmbedder:
    """A folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`. Loads on first use; thread-safe.

    Texts are embedded one by one: padding costs more time than batches save on a processor, and the vector of an
    8-bit model would depend on the other texts of its batch.
    """

    def __init__(self, directory: Path, dimension: int | None = None) -> None:
        """`dimension` cuts the vectors. `ModelUnavailable` if a file is missing or cannot be read."""
        self._onnx = OnnxModel(directory, "embedder", self._truncate, threads=_THREADS)
        self._options = self._read_options()
        self._reduced_to = dimension
        self._digest = self._digest_of_files()

    @property
    def model(self) -> str:
        """The name contains a digest of the files and options, so that another model in the folder has another."""
        reduced = f"@{self._reduced_to}" if self._reduced_to else ""
        return f"local/{self._onnx.directory.name}-{self._digest[:8]}{reduced}"

    @cached_property
    def dimension(self) -> int:
        return len(self._vector("a"))

    @property
    def location(self) -> ModelLocation:
        return ModelLocation.HERE

    @property
    def local(self) -> bool:
        return False  # It takes 3 to 200 ms per text.

    @property
    def contextual(self) -> bool:
        return True

    def reliability(self, text: str) -> float:
        return 1.0

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self._embedded(self._options.prefixes.document, texts)

    def query(self, text: str) -> Vectors:
        return self._embedded(self._options.prefixes.query, [text])

    def forget_queries(self) -> None:
        """Nothing to clear: queries are not cached."""

    def close(self) -> None:
        """Free the memory; the next use loads the model again."""
        self._onnx.close()

    def _embedded(self, prefix: str, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for at, text in enumerate(texts):
            if text.strip():
                vectors[at] = self._vector(prefix + text)
        return unit_rows(vectors)

    def _vector(self, text: str) -> NDArray[np.float32]:
        model = self._onnx.ready()
        encoded = model.tokenizer.encode(clipped(text, MAX_BYTES))
        output = next((name for name in (_POOLED, *_TOKENS) if name in model.outputs), model.outputs[0])
        try:
            found = model.run([encoded], output)
        except Exception as exc:  # onnxruntime's errors have no common base
            asked = ", ".join(name for name, _ in model.inputs)
            raise self._unusable(f"cannot embed a text (its inputs: {asked})") from exc
        if found.ndim == 3 and found.shape[:2] == (1, len(encoded.ids)):
            found = self._pooled(found[0])[None]
        if found.ndim != 2 or len(found) != 1 or not found.size or not np.isfinite(found).all():
            raise self._unusable("does not give one vector of finite numbers for a text")
        if self._reduced_to and found.shape[1] < self._reduced_to:
            raise self._onnx.unusable(
                f"has vectors of {found.shape[1]} numbers, fewer than embedder.dimension", "remove that setting"
            )
        return np.asarray(found[0, : self._reduced_to], np.float32)

    def _pooled(self, tokens: NDArray[Any]) -> NDArray[Any]:
        if self._options.dense:
            raise self._unusable("needs layers after pooling (modules.json) that are not in its ONNX file")
        pool = _POOLINGS.get(self._options.pooling)
        if pool is None:
            raise self._unusable(f"needs a pooling that is not supported: {self._options.pooling}")
        return pool(tokens)

    def _truncate(self, tokenizer: Tokenizer) -> None:
        if self._digest_of_files() != self._digest:
            raise ValueError("the files changed")
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._options.max_tokens)

    def _unusable(self, what: str) -> ModelUnavailable:
        return self._onnx.unusable(what, f"take one with {_INPUTS} as inputs and {_POOLED} or {_TOKENS[0]} as output")

    def _digest_of_files(self) -> str:
        weights = self._onnx.weights()
        # Weights over 2 GB are in a file beside the graph.
        files = (weights, *sorted(weights.parent.glob(f"{weights.name}_data*")), self._onnx.directory / TOKENIZER)
        digest = sha256(repr(self._options).encode())
        try:
            for each in files:
                with each.open("rb") as file:
                    digest.update(sampled_digest(file).encode())
        except OSError as exc:
            raise self._onnx.unusable("cannot be read", "check its permissions") from exc
        return digest.hexdigest()

    def _read_options(self) -> _EmbedderOptions:
        config, pooling = self._json("config.json"), self._json("1_Pooling/config.json")
        limits = (self._json(file).get(key) for file, key in _LIMITS)
        limit = next((int(each) for each in limits if isinstance(each, int | float) and each > 0), MAX_TOKENS)
        return _EmbedderOptions(
            _pooling_of(pooling),
            self._prefixes(str(config.get("_name_or_path", ""))),
            min(limit, MAX_TOKENS),
            '.Dense"' in json.dumps(self._json("modules.json")),
        )

    def _prefixes(self, original: str) -> Prefixes:
        """Those that the model's files name, else those of its family, by the folder's or the original name."""
        prompts = self._json("config_sentence_transformers.json").get("prompts")
        if isinstance(prompts, dict) and any(prompts.values()):
            document = prompts.get("document") or prompts.get("passage") or ""
            return Prefixes(str(prompts.get("query") or ""), str(document))
        return prefixes_of(f"{self._onnx.directory.name} {original}")

    def _json(self, name: str) -> dict[str, Any]:
        """A file beside the model; empty if it is missing. A list is returned as the value of its only key."""
        file = self._onnx.directory / name
        try:
            read = json.loads(file.read_text("utf-8")) if file.is_file() else {}
        except (OSError, ValueError) as exc:
            raise self._onnx.unavailable(f"{file} cannot be read; install the model again") from exc
        return read if isinstance(read, dict) else {"": read}


def _pooling_of(config: Mapping[str, Any]) -> str:
    """Names of the poolings that a sentence transformer uses, joined; the mean if it names none."""
    if isinstance(named := config.get("pooling_mode"), str):
        return named
    return "+".join(mode for mode, flag in _POOLING_FLAGS.items() if config.get(flag)) or "mean"
