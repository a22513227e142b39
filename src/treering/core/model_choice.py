"""Models named in environment variables, such as `ollama:nomic-embed-text` or `cohere:rerank-v3.5`."""

from collections.abc import Callable, Mapping


def _provider(named: str) -> dict[str, str]:
    provider, _, model = named.partition(":")
    return {"provider": provider, "directory" if provider == "local" else "model": model}


def _writer(named: str) -> dict[str, str]:
    # Model names may contain colons: "qwen3:8b".
    model = named.removeprefix("anthropic:")
    return {"provider": "openai" if model == named else "anthropic", "model": model}


_VARIABLES: Mapping[str, tuple[str, Callable[[str], dict[str, str]]]] = {
    "embedder": ("TREERING_EMBEDDER", _provider),
    "reranker": ("TREERING_RERANKER", _provider),
    "writer": ("TREERING_WRITER", _writer),
}


def models_in(environment: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Settings by name, each with its variable and value: TREERING_EMBEDDER, _RERANKER and _WRITER, each with _URL."""
    found: dict[str, tuple[str, str]] = {}
    for section, (variable, read) in _VARIABLES.items():
        if named := environment.get(variable):
            fields = {**read(named), "url": environment.get(f"{variable}_URL", "")}
            found |= {f"{section}.{name}": (variable, value) for name, value in fields.items()}
    return found
