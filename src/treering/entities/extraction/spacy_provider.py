"""Names that spaCy notices, where it and a model for the language are installed."""

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from treering.core.entities import EntityKind
from treering.core.errors import MissingDependency
from treering.entities.extraction.mentions import Mention

_SURE = 0.8
# What its models call things: those trained on news and web pages in English and Chinese, and those on WikiNER.
_KINDS: Mapping[str, EntityKind] = MappingProxyType(
    {
        "PERSON": EntityKind.PERSON,
        "PER": EntityKind.PERSON,
        "ORG": EntityKind.ORGANISATION,
        "GPE": EntityKind.LOCATION,
        "LOC": EntityKind.LOCATION,
        "FAC": EntityKind.LOCATION,
        "PRODUCT": EntityKind.OTHER,
        "WORK_OF_ART": EntityKind.OTHER,
        "EVENT": EntityKind.OTHER,
        "NORP": EntityKind.OTHER,
        "MISC": EntityKind.OTHER,
    }
)


class SpacyNames:
    """One model a language, loaded when its language first comes; a text in another language has no names for it."""

    name = "spacy"

    def __init__(self, models: Mapping[str, str]) -> None:
        self._models = models

    def read(self, text: str, language: str) -> Iterable[Mention]:
        chosen = self._models.get(language or "en")
        if chosen is None:
            return
        for found in _loaded(chosen)(text).ents:
            kind, name = _KINDS.get(found.label_), found.text.strip()
            if kind is not None and name:
                start = found.start_char + found.text.index(name)
                yield Mention(name, kind, start, start + len(name), _SURE, self.name)


def spacy_names() -> SpacyNames:
    """With the smallest installed model of each language; `MissingDependency` says what to install."""
    try:
        from spacy.util import get_installed_models
    except ImportError as exc:
        raise MissingDependency("spaCy is not installed; `pip install 'treering[spacy]'` brings it") from exc
    models = {name.split("_")[0]: name for name in sorted(get_installed_models(), key=_size, reverse=True)}
    if not models:
        raise MissingDependency("spaCy has no model yet; `python -m spacy download en_core_web_sm` brings one")
    return SpacyNames(models)


def _size(model: str) -> tuple[int, str]:
    order = ("sm", "md", "lg", "trf")
    ending = model.rsplit("_", 1)[-1]
    return (order.index(ending) if ending in order else len(order)), model


@cache
def _loaded(model: str) -> Any:
    import spacy

    return spacy.load(model, exclude=["lemmatizer"])
