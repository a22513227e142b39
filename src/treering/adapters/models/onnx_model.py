"""An ONNX model in a folder with its tokenizer, shared by the local embedder and the local reranker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from treering.core.errors import ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Encoding

WEIGHTS = ("model.onnx", "onnx/model.onnx")
TOKENIZER = "tokenizer.json"

MAX_TOKENS = 512
"""The training length of most small models; a chunk of code has some 500 tokens."""
MAX_BYTES = 16 * MAX_TOKENS  # Tokenizing text that is then cut off is wasted.
_ERRORS_ONLY = 3
_TYPES = {"tensor(int32)": np.int32}  # else int64


@dataclass(frozen=True, slots=True)
class LoadedOnnxModel:
    tokenizer: Tokenizer
    session: Any
    inputs: tuple[tuple[str, type[np.signedinteger[Any]]], ...]
    outputs: tuple[str, ...]

    def run(self, encoded: Sequence[Encoding], output: str | None = None) -> NDArray[Any]:
        """One output, by default the first, for texts of equal length.

        Raises `KeyError` for an input that no tokenizer makes, and the runtime's errors, which have no common base.
        """
        columns = {
            "input_ids": [each.ids for each in encoded],
            "attention_mask": [each.attention_mask for each in encoded],
            "token_type_ids": [each.type_ids for each in encoded],
        }
        fed = {name: np.asarray(columns[name], kind) for name, kind in self.inputs}
        return np.asarray(self.session.run([output or self.outputs[0]], fed)[0])


class OnnxModel:
    """A folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`. Loads on first use; thread-safe."""

    def __init__(self, directory: Path, part: str, prepare: Callable[[Tokenizer], object], *, threads: int = 0) -> None:
        """`part` names the setting in errors; `prepare` sets truncation and padding; 0 threads: the default."""
        self.directory = directory
        self._part = part
        self._prepare = prepare
        self._threads = threads
        self._loading = Lock()
        self._loaded: LoadedOnnxModel | None = None

    def close(self) -> None:
        """Free the memory; the next use loads the model again."""
        with self._loading:
            self._loaded = None

    def ready(self) -> LoadedOnnxModel:
        """Load the model if necessary; `ModelUnavailable` if that fails."""
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def weights(self) -> Path:
        """The file of the model; `ModelUnavailable` if it or the tokenizer is missing."""
        weights = next((self.directory / name for name in WEIGHTS if (self.directory / name).is_file()), None)
        if weights is None or not (self.directory / TOKENIZER).is_file():
            raise self.unavailable(f"{self.directory} lacks model.onnx or tokenizer.json; put them there")
        return weights

    def unusable(self, what: str, advice: str) -> ModelUnavailable:
        return self.unavailable(f"the model in {self.directory} {what}; {advice}")

    def unavailable(self, message: str) -> ModelUnavailable:
        return ModelUnavailable(f"{message}, or choose another {self._part} in the settings")

    def _load(self) -> LoadedOnnxModel:
        if find_spec("onnxruntime") is None:
            raise self.unavailable(
                f"a local {self._part} needs a runtime that is missing; pip install 'treering[onnx]'"
            )
        weights = self.weights()
        runtime = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.log_severity_level = _ERRORS_ONLY
        try:
            session = runtime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
            tokenizer = Tokenizer.from_file(str(self.directory / TOKENIZER))
            self._prepare(tokenizer)
        except Exception as exc:  # neither library's errors have a common base
            raise self.unusable("cannot be read", "install it again") from exc
        inputs = tuple((each.name, _TYPES.get(each.type, np.int64)) for each in session.get_inputs())
        return LoadedOnnxModel(tokenizer, session, inputs, tuple(each.name for each in session.get_outputs()))
