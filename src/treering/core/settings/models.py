"""Which models are used, and how."""

from typing import Literal

from pydantic import Field

from treering.core.values import Value


class EmbedderSettings(Value):
    provider: Literal["auto", "bundled", "ollama", "openai", "none"] = "auto"
    """Auto stays with the model that a project has vectors of; a new project gets Ollama's where it runs here, else
    the bundled one. Nothing is ever sent to another machine unless `url` names it."""
    model: str = ""
    """The model's name at the provider; empty leaves the choice to us (for `openai` it must be given)."""
    url: str = ""
    """Where Ollama or the OpenAI-compatible service listens; empty is Ollama's own port on this machine."""
    key_variable: str = "TREERING_EMBEDDER_KEY"
    """The environment variable that holds the key: a key has no place in settings that are printed."""
    dimension: int | None = Field(default=None, ge=1)
    """Shorter vectors from a model that can be cut (Matryoshka); None takes what the model gives."""
    batch: int = Field(default=256, ge=1)
    """Documents that are embedded between two commits: what a crash costs at most."""
    inline: int = Field(default=1_000, ge=0)
    """A search first embeds at most this many new documents, if the model runs in this process."""
    query_seconds: float = Field(default=3.0, gt=0)
    """How long a search waits for a server before it does without."""
    rest_seconds: float = Field(default=30.0, ge=0)
    """How long a server that failed is not asked again, or every search would wait for it."""


class RerankerSettings(Value):
    provider: Literal["none", "local", "cohere", "jina", "vllm"] = "none"
    """A directory with an ONNX cross-encoder, or the dialect of a `/rerank` service."""
    model: str = ""
    url: str = ""
    directory: str = ""
    """Holds `model.onnx` and `tokenizer.json` for `local`."""
    key_variable: str = "TREERING_RERANKER_KEY"
    candidates: int = Field(default=20, ge=1)
    """How many results are read again with the query; the best of them come first in the new order."""
    share: float = Field(default=0.7, ge=0, le=1)
    """How much the reranker's word counts against the order before it."""


class WriterSettings(Value):
    provider: Literal["openai", "anthropic"] = "openai"
    """The API that the service speaks: OpenAI's chat completions (also Ollama, vLLM, LM Studio…) or Anthropic's."""
    url: str = ""
    """Where the chat service is; empty means that no language model is used."""
    model: str = ""
    key_variable: str = "TREERING_WRITER_KEY"
