"""Selection of models: those in the settings, else those found on this machine, else the bundled ones."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import urlsplit

from treering.core.errors import InvalidInput, ModelUnavailable
from treering.ports.models import Embedder, Reranker, Writer

if TYPE_CHECKING:
    from treering.core.settings import Settings


OLLAMA = "http://127.0.0.1:11434"
_EMBEDDERS = ("bundled", "local", "ollama", "openai")
# The provider of a model's vectors, by the prefix of its name.
# The bundled model is last: next to a remote model it embeds the texts that must not leave the machine.
_MODEL_PREFIXES = {"ollama": "ollama/", "bundled": "wordllama-"}
# Ollama lists its models within milliseconds if it is running.
_LOOK_SECONDS = 0.25

T = TypeVar("T", Embedder, Reranker, Writer)


class ConfiguredModels:
    """The models of one memory, created on first use."""

    def __init__(self, settings: Settings, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._environment = environment
        self._models: dict[str, Embedder | Reranker | Writer] = {}
        self._suspended: dict[str, tuple[float, ModelUnavailable]] = {}
        self._installed: tuple[str, ...] | None = None
        self._lock = Lock()

    def embedder(self, known: Sequence[str], *, hurried: bool) -> Embedder:
        provider = self._provider(known)
        if provider == "none":
            raise ModelUnavailable("turned off in the settings; choose an embedder to search by meaning")
        if provider == "bundled":
            return self._once("embedder", provider, _bundled)
        if provider == "local":
            return self._once("embedder", provider, self._local)
        name = f"{provider} {'hurried' if hurried else 'patient'}"
        make = {"ollama": self._ollama, "openai": self._openai}[provider]
        return self._once("embedder", name, lambda: make(known, hurried=hurried))

    def local_embedder(self) -> Embedder:
        if self._settings.embedder.provider == "none":
            raise ModelUnavailable("turned off in the settings; choose an embedder to search by meaning")
        return self._once("local embedder", "bundled", _bundled)

    def reranker(self) -> Reranker:
        chosen = self._settings.reranker
        if chosen.provider == "none":
            raise ModelUnavailable("none is configured; the order is that of the fusion")
        return self._once("reranker", "reranker", self._reranker)

    def writer(self, *, hurried: bool) -> Writer:
        chosen = self._settings.writer
        if not chosen.url:
            raise ModelUnavailable("no language model is configured")
        return self._once("writer", f"writer {hurried}", partial(self._writer, hurried=hurried))

    def failed(self, part: str, error: ModelUnavailable) -> None:
        self._suspended[part] = (monotonic() + self._settings.embedder.rest_seconds, error)

    def forget_queries(self) -> None:
        with self._lock:
            made = list(self._models.items())
        for name, model in made:
            if name.partition(" ")[0] in _EMBEDDERS:
                cast(Embedder, model).forget_queries()

    def close(self) -> None:
        with self._lock:
            made, self._models = list(self._models.values()), {}
        for model in made:
            model.close()

    def _once(self, part: str, name: str, make: Callable[[], T]) -> T:
        until, error = self._suspended.get(part, (0.0, None))
        if error is not None and monotonic() < until:
            raise ModelUnavailable(str(error))
        with self._lock:
            if name not in self._models:
                try:
                    self._models[name] = make()
                except InvalidInput as exc:
                    raise ModelUnavailable(str(exc)) from exc
            return cast(T, self._models[name])

    def _provider(self, known: Sequence[str]) -> str:
        chosen = self._settings.embedder
        if chosen.provider != "auto":
            return chosen.provider
        if not known:
            return "ollama" if self._ollama_model(known) else "bundled"
        for provider, prefix in _MODEL_PREFIXES.items():
            if any(name.startswith(prefix) for name in known):
                return provider
        raise ModelUnavailable(
            f"this project has vectors of {known[0]}, which is not available here; name that model in the settings or "
            "in TREERING_EMBEDDER, or choose another and run `treering embed`"
        )

    def _ollama_model(self, known: Sequence[str]) -> str | None:
        """The model that the project has vectors of, else the best installed one."""
        chosen = self._settings.embedder
        if chosen.model:
            return chosen.model
        if stored := next((name for name in known if name.startswith("ollama/")), None):
            return stored.removeprefix("ollama/").partition("@")[0]
        if self._installed is None:
            self._installed = _ollama_models(chosen.url or OLLAMA)
        if not self._installed:
            return None
        from treering.adapters.models.ollama import choose_model

        return choose_model(self._installed, _memory_bytes())

    def _local(self) -> Embedder:
        from treering.adapters.models.local_embedder import LocalEmbedder

        chosen = self._settings.embedder
        if not chosen.directory:
            raise ModelUnavailable("a local embedder needs a folder; set embedder.directory in the settings")
        return LocalEmbedder(Path(chosen.directory).expanduser(), chosen.dimension)

    def _ollama(self, known: Sequence[str], *, hurried: bool) -> Embedder:
        from treering.adapters.models.http import RequestTimeouts
        from treering.adapters.models.ollama import LOADING_TIMEOUTS, OllamaEmbedder

        chosen = self._settings.embedder
        url, model = chosen.url or OLLAMA, self._ollama_model(known)
        if model is None:
            raise ModelUnavailable(f"ollama at {url} has no embedding model; run `ollama pull qwen3-embedding:0.6b`")
        timeouts = RequestTimeouts.once(chosen.query_seconds) if hurried else LOADING_TIMEOUTS
        return OllamaEmbedder(url, model, timeouts=timeouts)

    def _openai(self, known: Sequence[str], *, hurried: bool) -> Embedder:
        from treering.adapters.models.http import RequestTimeouts
        from treering.adapters.models.openai_compatible import OpenAIEmbedder

        chosen = self._settings.embedder
        if not (chosen.url and chosen.model):
            raise ModelUnavailable("an OpenAI-compatible embedder needs a URL and a model; set both in the settings")
        timeouts = RequestTimeouts.once(chosen.query_seconds) if hurried else RequestTimeouts()
        return OpenAIEmbedder(
            chosen.url, chosen.model, self._key(chosen.key_variable), chosen.dimension, timeouts=timeouts
        )

    def _reranker(self) -> Reranker:
        from treering.adapters.models.cross_encoder import LocalReranker
        from treering.adapters.models.http import RequestTimeouts
        from treering.adapters.models.rerank import HttpReranker

        chosen = self._settings.reranker
        if chosen.provider == "local":
            return LocalReranker(Path(chosen.directory).expanduser())
        if chosen.provider == "none":
            raise ModelUnavailable("none is configured")
        timeouts = RequestTimeouts.once(self._settings.embedder.query_seconds)
        return HttpReranker(
            chosen.url, chosen.model, self._key(chosen.key_variable), chosen.provider, timeouts=timeouts
        )

    def _writer(self, *, hurried: bool) -> Writer:
        from treering.adapters.models.anthropic import AnthropicWriter
        from treering.adapters.models.http import RequestTimeouts
        from treering.adapters.models.openai_compatible import WRITING_TIMEOUTS, ChatWriter

        chosen = self._settings.writer
        timeouts = RequestTimeouts.once(self._settings.embedder.query_seconds) if hurried else WRITING_TIMEOUTS
        writer_class = AnthropicWriter if chosen.provider == "anthropic" else ChatWriter
        return writer_class(chosen.url, chosen.model, self._key(chosen.key_variable), timeouts=timeouts)

    def _key(self, variable: str) -> str | None:
        return self._environment.get(variable) or None


def _memory_bytes() -> int:
    """Memory of this machine; 0 if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 0


def _ollama_models(url: str) -> tuple[str, ...]:
    """The models that Ollama has installed; empty if it does not answer."""
    if url == OLLAMA and not _listens(url):
        return ()
    from treering.adapters.models.ollama import installed

    try:
        return installed(url, _LOOK_SECONDS)
    except ModelUnavailable:
        return ()


def _listens(url: str) -> bool:
    """Whether a server accepts connections: most machines lack Ollama, and the HTTP client is slow to import."""
    address = urlsplit(url)
    try:
        socket.create_connection((address.hostname, address.port), _LOOK_SECONDS).close()
    except OSError:
        return False
    return True


def _bundled() -> Embedder:
    # Importing numpy and the tokenizer takes longer than many commands.
    from treering.adapters.models.bundled import BundledEmbedder

    return BundledEmbedder()
