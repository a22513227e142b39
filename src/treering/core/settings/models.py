"""Settings of the embedder, the reranker and the language model."""

from typing import Literal

from pydantic import Field

from treering.core.values import Value


class EmbedderSettings(Value):
    provider: Literal["auto", "bundled", "local", "ollama", "openai", "none"] = "auto"
    """`bundled`, `local` (a folder with an ONNX model), `ollama`, `openai` (any service with that API), `none` or
    `auto`. `auto` keeps the model that the project has vectors of; a new project uses Ollama if it runs on this
    machine, else the bundled model. Text is sent to another machine only if `url` names it."""
    model: str = ""
    """Name of the model at the provider; empty: the provider's default. Required for `openai`."""
    url: str = ""
    """Address of Ollama or of the OpenAI-compatible service; empty: Ollama's port on this machine."""
    directory: str = ""
    """Folder with `model.onnx` and `tokenizer.json`, for `local`."""
    key_variable: str = "TREERING_EMBEDDER_KEY"
    """Environment variable that holds the API key. Settings are printed, so the key is not one of them."""
    dimension: int | None = Field(default=None, ge=1)
    """Length to which vectors are cut, for models that support it (Matryoshka); None: full length."""
    batch: int = Field(default=256, ge=1)
    """Documents embedded per commit; a crash loses at most this many."""
    inline: int = Field(default=1_000, ge=0)
    """Maximum number of new documents that a search embeds first, if the model runs in this process."""
    query_seconds: float = Field(default=3.0, gt=0)
    """Seconds that a search waits for an embedding server before it continues without vectors."""
    rest_seconds: float = Field(default=30.0, ge=0)
    """Seconds during which a failed server is not called again, so that not every search waits for it."""


class RerankerSettings(Value):
    provider: Literal["none", "local", "cohere", "jina", "vllm"] = "none"
    """`local` (a folder with an ONNX cross-encoder), the API of a `/rerank` service (`cohere`, `jina`, `vllm`) or
    `none`."""
    model: str = ""
    """Name of the model at the service."""
    url: str = ""
    """Address of the service."""
    directory: str = ""
    """Folder with `model.onnx` and `tokenizer.json`, for `local`."""
    key_variable: str = "TREERING_RERANKER_KEY"
    """Environment variable that holds the API key."""
    candidates: int = Field(default=20, ge=1)
    """Number of top results that are reranked. More is slower."""
    share: float = Field(default=0.7, ge=0, le=1)
    """Weight of the reranker's score against the original order: 0 ignores it, 1 uses it alone."""


class WriterSettings(Value):
    provider: Literal["openai", "anthropic"] = "openai"
    """API of the service: `openai` (chat completions; also Ollama, vLLM, LM Studio, llama.cpp) or `anthropic`."""
    url: str = ""
    """Address of the chat service; empty: no language model is used."""
    model: str = ""
    """Name of the model at the service."""
    key_variable: str = "TREERING_WRITER_KEY"
    """Environment variable that holds the API key."""
