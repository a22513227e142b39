"""Mentions found by spaCy, if it and a model for the language are installed."""

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from treering.core.entities import EntityKind
from treering.core.errors import MissingDependency
from treering.entities.extraction.mentions import EntityMention

_CONFIDENCE = 0.8
# Labels of its models: OntoNotes (English, Chinese) and WikiNER.
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
    """One model per language, loaded on first use; no names for other languages."""

    name = "spacy"

    def __init__(self, models: Mapping[str, str]) -> None:
        self._models = models

    def read(self, text: str, language: str) -> Iterable[EntityMention]:
        chosen = self._models.get(language or "en")
        if chosen is None:
            return
        for found in _loaded(chosen)(text).ents:
            kind, name = _KINDS.get(found.label_), found.text.strip()
            if kind is not None and name:
                start = found.start_char + found.text.index(name)
                yield EntityMention(name, kind, start, start + len(name), _CONFIDENCE, self.name)


def spacy_names() -> SpacyNames:
    """Uses the smallest installed model of each language; raises `MissingDependency` with what to install."""
    try:
        from spacy.util import get_installed_models
    except ImportError as exc:
        raise MissingDependency("spaCy is not installed; run `pip install 'treering[spacy]'`") from exc
    models = {name.split("_")[0]: name for name in sorted(get_installed_models(), key=_size, reverse=True)}
    if not models:
        raise MissingDependency("spaCy has no model; run `python -m spacy download en_core_web_sm`")
    return SpacyNames(models)


def _size(model: str) -> tuple[int, str]:
    order = ("sm", "md", "lg", "trf")
    ending = model.rsplit("_", 1)[-1]
    return (order.index(ending) if ending in order else len(order)), model


@cache
def _loaded(model: str) -> Any:
    import spacy

    return spacy.load(model, exclude=["lemmatizer"])
