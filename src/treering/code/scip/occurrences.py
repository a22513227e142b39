"""A SCIP document aligned with its source file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from treering.code.scip.scip_pb2 import Document, Occurrence
from treering.code.scip.source_text import POSITION_ENCODINGS, UNSPECIFIED, PositionEncoding, SourceText, TextRange
from treering.code.scip.symbols import is_local, is_written

_DEFINITION = 1


@dataclass(frozen=True, slots=True)
class SymbolOccurrence:
    """An occurrence of a symbol in the text."""

    symbol: str
    place: TextRange
    text: str
    defines: bool


@dataclass(frozen=True, slots=True)
class AlignedDocument:
    """A document whose positions were converted to text ranges of the file."""

    path: str
    source: SourceText
    occurrences: Sequence[SymbolOccurrence]
    relations: Sequence[tuple[str, str]]
    """Pairs of a symbol and one that it implements or extends."""

    def key(self, symbol: str) -> str:
        """Return the symbol's key across all documents."""
        return f"{self.path} {symbol}" if is_local(symbol) else symbol

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.path).suffix


def align(document: Document, path: str, source: bytes, min_match: float) -> AlignedDocument | None:
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
    best: tuple[float, Sequence[SymbolOccurrence]] | None = None
    for encoding in _encodings(document, text):
        occurrences = list(_occurrences(document.occurrences, text, encoding))
        if len(occurrences) < len(document.occurrences):
            continue
        fit = _matched_share(occurrences, text, min_match)
        if fit > (best[0] if best else 0.0):
            best = (fit, occurrences)
    return None if best is None else AlignedDocument(path, text, best[1], relations)


def _encodings(document: Document, text: SourceText) -> Sequence[PositionEncoding]:
    """If an index does not declare its position encoding, the encoding under which most names match is used."""
    if document.position_encoding != UNSPECIFIED:
        known = POSITION_ENCODINGS.get(document.position_encoding)
        return () if known is None else (known,)
    return tuple(POSITION_ENCODINGS.values())[: 1 if text.text.isascii() else None]


def _occurrences(
    occurrences: Sequence[Occurrence], text: SourceText, encoding: PositionEncoding
) -> Iterator[SymbolOccurrence]:
    for occurrence in occurrences:
        place = text.place(occurrence.range, encoding)
        if place is None:
            return
        defines = bool(occurrence.symbol_roles & _DEFINITION)
        yield SymbolOccurrence(occurrence.symbol, place, text.at(place), defines)


def _matched_share(occurrences: Sequence[SymbolOccurrence], text: SourceText, minimum: float) -> float:
    """Return the share of names found at their positions; 0 if it is below the minimum.

    Definitions are compared by name. A reference may use an alias, so it only has to be an identifier.
    """
    matches = [is_written(each.symbol, each.text) for each in occurrences if each.defines]
    if all(each is None for each in matches):
        matches = [
            text.is_word(each.place)
            for each in occurrences
            if not each.defines and is_written(each.symbol, each.text) is not None
        ]
    named = [each for each in matches if each is not None]
    share = sum(named) / len(named) if named else 1.0
    return share if share >= minimum else 0.0
