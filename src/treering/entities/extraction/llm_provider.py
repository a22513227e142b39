"""Mentions found by a language model."""

from collections.abc import Iterable
from importlib.resources import files

from treering.core.delimiters import DATA, delimited, escaped
from treering.core.entities import EntityKind
from treering.core.privacy import ModelLocation, text_may_leave
from treering.core.values import Text, Value
from treering.entities.extraction.mentions import EntityMention
from treering.ports.models import Writer
from treering.prompts.model_answers import ask_json

_PROMPT = "entities.md"
_CONFIDENCE = 0.85


class NamedEntity(Value):
    name: Text
    kind: EntityKind = EntityKind.OTHER


class NamedEntities(Value):
    """Answer schema of the prompt."""

    entities: tuple[NamedEntity, ...] = ()


class LlmNames:
    """One request per text. Names that do not occur in the text are dropped."""

    name = "llm"

    def __init__(self, writer: Writer, *, most_tokens: int) -> None:
        self._writer = writer
        self._most_tokens = most_tokens

    @property
    def location(self) -> ModelLocation:
        return self._writer.location

    def read(self, text: str, language: str) -> Iterable[EntityMention]:
        if not text.strip() or not text_may_leave(text, self.location):
            return
        prompt = files("treering.prompts").joinpath(_PROMPT).read_text("utf-8")
        request = prompt.format(text=delimited(DATA, escaped(text)))
        answer = ask_json(self._writer, request, NamedEntities, most_tokens=self._most_tokens)
        for entity in dict.fromkeys(answer.entities):
            start = text.find(entity.name) if entity.name.strip() else -1
            if start >= 0:
                yield EntityMention(entity.name, entity.kind, start, start + len(entity.name), _CONFIDENCE, self.name)
