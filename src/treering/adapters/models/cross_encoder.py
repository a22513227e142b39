"""An in-process reranker: an ONNX cross-encoder from a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from treering.adapters.models.onnx_model import MAX_BYTES, MAX_TOKENS, LoadedOnnxModel, OnnxModel
from treering.adapters.models.scores import logistic
from treering.adapters.models.texts import clipped, in_batches
from treering.core.privacy import ModelLocation

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from treering.core.errors import ModelUnavailable

_PADS = ("[PAD]", "<pad>", "<|endoftext|>")
_BATCH_TEXTS = 16
_BATCH_CHARACTERS = 32_000


class LocalReranker:
    """A folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`. Loads on first use; thread-safe.

    The model returns one logit per pair, or two: against and for.
    """

    def __init__(self, directory: Path) -> None:
        self._model = OnnxModel(directory, "reranker", _pad_and_truncate)

    @property
    def model(self) -> str:
        return f"local/{self._model.directory.name}"

    @property
    def location(self) -> ModelLocation:
        return ModelLocation.HERE

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        asked = clipped(query, MAX_BYTES)
        readable = [clipped(text, MAX_BYTES) for text in texts]
        said = [at for at, text in enumerate(readable) if text.strip()] if asked.strip() else []
        scores = [0.0] * len(texts)
        if said:
            model = self._model.ready()
            batches = in_batches([readable[at] for at in said], _BATCH_TEXTS, _BATCH_CHARACTERS)
            given = [score for batch in batches for score in self._batch_scores(model, asked, batch)]
            for at, score in zip(said, given, strict=True):
                scores[at] = score
        return scores

    def close(self) -> None:
        """Free the memory; the next use loads the model again."""
        self._model.close()

    def _batch_scores(self, model: LoadedOnnxModel, query: str, texts: Sequence[str]) -> list[float]:
        encoded = model.tokenizer.encode_batch([(query, text) for text in texts])
        try:
            logits = model.run(encoded).astype(np.float64)
        except Exception as exc:  # onnxruntime's errors have no common base
            raise self._unusable("does not take pairs of texts") from exc
        return [float(score) for score in logistic(self._one_logit(logits, len(texts)))]

    def _one_logit(self, logits: NDArray[np.float64], count: int) -> NDArray[np.float64]:
        columns = logits.reshape(count, -1) if logits.size and logits.size % count == 0 else logits.reshape(0, 0)
        if columns.shape[1] not in (1, 2) or not np.isfinite(columns).all():
            raise self._unusable("does not give one score for each text")
        return np.asarray(columns[:, -1] - columns[:, 0] if columns.shape[1] == 2 else columns[:, 0])

    def _unusable(self, what: str) -> ModelUnavailable:
        return self._model.unusable(what, "take a cross-encoder")


def _pad_and_truncate(tokenizer: Tokenizer) -> None:
    tokenizer.enable_truncation(MAX_TOKENS)
    pads = (tokenizer.token_to_id(token) for token in _PADS)
    tokenizer.enable_padding(pad_id=next((pad for pad in pads if pad is not None), 0))
