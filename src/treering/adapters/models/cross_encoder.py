"""An in-process reranker: an ONNX cross-encoder from a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from treering.adapters.models.scores import logistic
from treering.adapters.models.texts import clipped, in_batches
from treering.core.errors import ModelUnavailable
from treering.core.privacy import ModelLocation

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WEIGHTS = ("model.onnx", "onnx/model.onnx")
_TOKENIZER = "tokenizer.json"
_PADS = ("[PAD]", "<pad>", "<|endoftext|>")
_INSTEAD = "or choose another reranker in the settings"

MAX_TOKENS = 512
"""For query and text together; the training length of most cross-encoders."""
_MAX_BYTES = 16 * MAX_TOKENS  # Tokenizing text that is then cut off is wasted.
_BATCH_TEXTS = 16
_BATCH_CHARACTERS = 32_000


@dataclass(frozen=True, slots=True)
class _LoadedCrossEncoder:
    tokenizer: Tokenizer
    session: Any
    inputs: tuple[str, ...]


class LocalReranker:
    """A folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`. Loads on first use; thread-safe.

    The model returns one logit per pair, or two: against and for.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._loading = Lock()
        self._loaded: _LoadedCrossEncoder | None = None

    @property
    def model(self) -> str:
        return f"local/{self._directory.name}"

    @property
    def location(self) -> ModelLocation:
        return ModelLocation.HERE

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        asked = clipped(query, _MAX_BYTES)
        readable = [clipped(text, _MAX_BYTES) for text in texts]
        said = [at for at, text in enumerate(readable) if text.strip()] if asked.strip() else []
        scores = [0.0] * len(texts)
        if said:
            model = self._ready()
            batches = in_batches([readable[at] for at in said], _BATCH_TEXTS, _BATCH_CHARACTERS)
            given = [score for batch in batches for score in self._batch_scores(model, asked, batch)]
            for at, score in zip(said, given, strict=True):
                scores[at] = score
        return scores

    def close(self) -> None:
        """Free the memory; the next use loads the model again."""
        with self._loading:
            self._loaded = None

    def _ready(self) -> _LoadedCrossEncoder:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load(self._directory)
            return self._loaded

    def _batch_scores(self, model: _LoadedCrossEncoder, query: str, texts: Sequence[str]) -> list[float]:
        encoded = model.tokenizer.encode_batch([(query, text) for text in texts])
        columns = {
            "input_ids": [each.ids for each in encoded],
            "attention_mask": [each.attention_mask for each in encoded],
            "token_type_ids": [each.type_ids for each in encoded],
        }
        try:
            fed = {name: np.asarray(columns[name], np.int64) for name in model.inputs}
            logits = np.asarray(model.session.run(None, fed)[0], np.float64)
        except Exception as exc:  # onnxruntime's errors have no common base
            raise self._unusable("does not take pairs of texts") from exc
        return [float(score) for score in logistic(self._one_logit(logits, len(texts)))]

    def _one_logit(self, logits: NDArray[np.float64], count: int) -> NDArray[np.float64]:
        columns = logits.reshape(count, -1) if logits.size and logits.size % count == 0 else logits.reshape(0, 0)
        if columns.shape[1] not in (1, 2) or not np.isfinite(columns).all():
            raise self._unusable("does not give one score for each text")
        return np.asarray(columns[:, -1] - columns[:, 0] if columns.shape[1] == 2 else columns[:, 0])

    def _unusable(self, what: str) -> ModelUnavailable:
        return ModelUnavailable(f"the model in {self._directory} {what}; take a cross-encoder, {_INSTEAD}")


def _load(directory: Path) -> _LoadedCrossEncoder:
    if find_spec("onnxruntime") is None:
        raise ModelUnavailable(
            f"a local reranker needs a runtime that is missing; pip install 'treering[rerank]', {_INSTEAD}"
        )
    weights = next((directory / name for name in _WEIGHTS if (directory / name).is_file()), None)
    if weights is None or not (directory / _TOKENIZER).is_file():
        raise ModelUnavailable(f"{directory} lacks model.onnx or tokenizer.json; put them there, {_INSTEAD}")
    runtime = import_module("onnxruntime")
    try:
        session = runtime.InferenceSession(weights, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(directory / _TOKENIZER))
    except Exception as exc:  # neither library's errors have a common base
        raise ModelUnavailable(f"the model in {directory} cannot be read; install it again, {_INSTEAD}") from exc
    tokenizer.enable_truncation(MAX_TOKENS)
    pads = (tokenizer.token_to_id(token) for token in _PADS)
    tokenizer.enable_padding(pad_id=next((pad for pad in pads if pad is not None), 0))
    return _LoadedCrossEncoder(tokenizer, session, tuple(each.name for each in session.get_inputs()))
