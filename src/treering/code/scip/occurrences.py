"""A SCIP document aligned with its source file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from treering.code.scip.scip_pb2 import Document, Occurrence
from treering.code.scip.source_text import COUNTINGS, UNSAID, Counting, Place, SourceText
from treering.code.scip.symbols import is_local, is_written

_DEFINITION = 1


@dataclass(frozen=True, slots=True)
class Mention:
    """An occurrence of a symbol in the text."""

    symbol: str
    place: Place
    text: str
    defines: bool


@dataclass(frozen=True, slots=True)
class Laid:
    """A document whose positions were converted to text ranges of the file."""

    path: str
    source: SourceText
    mentions: Sequence[Mention]
    relations: Sequence[tuple[str, str]]
    """Pairs of a symbol and one that it implements or extends."""

    def key(self, symbol: str) -> str:
        """Return the symbol's key across all documents."""
        return f"{self.path} {symbol}" if is_local(symbol) else symbol

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.path).suffix


def laid_over(document: Document, path: str, source: bytes, fitting: float) -> Laid | None:
    """Align a document with its file; return None if the file is not the one that was indexed."""
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
    """If an index does not declare its position encoding, the encoding under which most names match is used."""
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
    """Return the share of names found at their positions; 0 if it is below the minimum.

    Definitions are compared by name. A reference may use an alias, so it only has to be an identifier.
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
