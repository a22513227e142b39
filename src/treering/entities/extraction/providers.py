"""Providers of names: the rules, and spaCy and a language model if available."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from treering.core.errors import MissingDependency, ModelUnavailable
from treering.core.privacy import ModelLocation
from treering.core.settings import EntitySettings
from treering.entities.extraction.llm_provider import LlmNames
from treering.entities.extraction.mentions import NameReader
from treering.entities.extraction.rules import FAST
from treering.entities.extraction.spacy_provider import spacy_names
from treering.ports.models import Models, Writer


@dataclass(frozen=True, slots=True)
class Readers:
    """The available readers, rules first; `missing` has the reason for the others."""

    readers: tuple[NameReader, ...] = FAST
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def accurate(self) -> bool:
        """Whether there is a reader besides the rules."""
        return len(self.readers) > len(FAST)

    def has(self, name: str) -> bool:
        return any(reader.name == name for reader in self.readers)

    @property
    def location(self) -> ModelLocation:
        """Where texts are sent."""
        places = {reader.location for reader in self.readers if isinstance(reader, LlmNames)}
        return ModelLocation.ELSEWHERE if ModelLocation.ELSEWHERE in places else ModelLocation.HERE

    def without_model(self) -> "Readers":
        """The readers without a language model."""
        return Readers(tuple(reader for reader in self.readers if reader.name != "llm"), self.missing)


def accurate_readers(models: Models, settings: EntitySettings, writer: Callable[[], Writer] | None = None) -> Readers:
    """The rules, spaCy if installed, and a language model if configured: `writer`, or that of `models`."""
    get_writer = writer or (lambda: models.writer(hurried=False))
    makers: Mapping[str, Callable[[], NameReader]] = {
        "spacy": spacy_names,
        "llm": lambda: LlmNames(get_writer(), most_tokens=settings.llm_tokens),
    }
    found, missing = list[NameReader](FAST), dict[str, str]()
    for name, make in makers.items():
        try:
            found.append(make())
        except (MissingDependency, ModelUnavailable) as exc:
            missing[name] = str(exc)
    return Readers(tuple(found), missing)
