"""A document of the index laid over the file it speaks of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from treering.code.scip.scip_pb2 import Document, Occurrence
from treering.code.scip.symbols import is_local, is_written
from treering.code.scip.text import COUNTINGS, UNSAID, Counting, Place, SourceText

_DEFINITION = 1


@dataclass(frozen=True, slots=True)
class Mention:
    """A symbol at a place."""

    symbol: str
    place: Place
    text: str
    defines: bool


@dataclass(frozen=True, slots=True)
class Laid:
    """A document whose positions are places of the file."""

    path: str
    source: SourceText
    mentions: Sequence[Mention]
    relations: Sequence[tuple[str, str]]
    """Symbols, each with one that it implements or extends."""

    def key(self, symbol: str) -> str:
        """The symbol as it is known among all documents."""
        return f"{self.path} {symbol}" if is_local(symbol) else symbol

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.path).suffix


def laid_over(document: Document, path: str, source: bytes, fitting: float) -> Laid | None:
    """The document in the words of the file; None where the file is not the one that was indexed."""
    if document.text and document.text.encode() != source:
        return None
    text = SourceText(source)
    relations = [
        (each.symbol, other.symbol)
        for each in document.symbols
        for other in each.relationships
        if other.is_implementation
    ]
    best: tuple[float, Sequence[Mention]] | None = None
    for counting in _countings(document, text):
        mentions = list(_mentions(document.occurrences, text, counting))
        if len(mentions) < len(document.occurrences):
            continue
        fit = _fits(mentions, text, fitting)
        if fit > (best[0] if best else 0.0):
            best = (fit, mentions)
    return None if best is None else Laid(path, text, best[1], relations)


def _countings(document: Document, text: SourceText) -> Sequence[Counting]:
    """Where an index does not say how it counts, the way in which the names fit best is the right one."""
    if document.position_encoding != UNSAID:
        known = COUNTINGS.get(document.position_encoding)
        return () if known is None else (known,)
    return tuple(COUNTINGS.values())[: 1 if text.text.isascii() else None]


def _mentions(occurrences: Sequence[Occurrence], text: SourceText, counting: Counting) -> Iterator[Mention]:
    for occurrence in occurrences:
        place = text.place(occurrence.range, counting)
        if place is None:
            return
        defines = bool(occurrence.symbol_roles & _DEFINITION)
        yield Mention(occurrence.symbol, place, text.at(place), defines)


def _fits(mentions: Sequence[Mention], text: SourceText, least: float) -> float:
    """The share of names that stand where they should; 0 where it is less than what is asked for.

    What is defined tells most. What is only mentioned may have another name there, but it is one.
    """
    told = [is_written(each.symbol, each.text) for each in mentions if each.defines]
    if all(each is None for each in told):
        told = [
            text.is_word(each.place)
            for each in mentions
            if not each.defines and is_written(each.symbol, each.text) is not None
        ]
    named = [each for each in told if each is not None]
    share = sum(named) / len(named) if named else 1.0
    return share if share >= least else 0.0
