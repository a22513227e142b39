"""Models named in environment variables, such as `ollama:nomic-embed-text` or `cohere:rerank-v3.5`."""

from collections.abc import Mapping
from typing import TypeVar

from treering.core.errors import InvalidInput
from treering.core.settings import EmbedderSettings, RerankerSettings, Settings, WriterSettings

S = TypeVar("S", EmbedderSettings, RerankerSettings, WriterSettings)

_VARIABLES = ("TREERING_EMBEDDER", "TREERING_RERANKER", "TREERING_WRITER", "TREERING_TEST_SYNCHRONOUS")


def from_environment(settings: Settings, environment: Mapping[str, str]) -> Settings:
    """The settings, with unset models from TREERING_EMBEDDER, _RERANKER and _WRITER (each with _URL).

    TREERING_TEST_SYNCHRONOUS=off turns `store.synchronous` off.
    """
    if not any(environment.get(name) for name in _VARIABLES):
        return settings
    embedder, reranker, writer, store = settings.embedder, settings.reranker, settings.writer, settings.store
    if environment.get("TREERING_TEST_SYNCHRONOUS") == "off":
        store = store.replace(synchronous="off")
    if embedder == EmbedderSettings() and (named := environment.get("TREERING_EMBEDDER")):
        provider, _, model = named.partition(":")
        embedder = _made(EmbedderSettings, "TREERING_EMBEDDER", environment, provider=provider, model=model)
    if reranker == RerankerSettings() and (named := environment.get("TREERING_RERANKER")):
        provider, _, model = named.partition(":")
        place = {"directory": model} if provider == "local" else {"model": model}
        reranker = _made(RerankerSettings, "TREERING_RERANKER", environment, provider=provider, **place)
    if writer == WriterSettings() and (named := environment.get("TREERING_WRITER")):
        # Model names may contain colons: "qwen3:8b".
        model = named.removeprefix("anthropic:")
        provider = "openai" if model == named else "anthropic"
        writer = _made(WriterSettings, "TREERING_WRITER", environment, provider=provider, model=model)
    return settings.replace(embedder=embedder, reranker=reranker, writer=writer, store=store)


def _made(kind: type[S], variable: str, environment: Mapping[str, str], **fields: str) -> S:
    try:
        return kind.make(**fields, url=environment.get(f"{variable}_URL", ""))
    except InvalidInput as exc:
        raise InvalidInput(f"{variable}: {exc}") from exc
