"""Handmade SCIP indexes of small sources."""

from collections.abc import Iterable, Mapping

from treering.code.facts import Definition, DefinitionKind
from treering.code.scip import ScipEdges, ScipLimits, read_scip
from treering.code.scip.scip_pb2 import Document, Index, Occurrence

DEFINES = 1


class Project:
    """Files with their definitions, and an index of them that grows."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = {path: text.encode() for path, text in files.items()}
        self.definitions: dict[str, list[Definition]] = {path: [] for path in files}
        self.documents: dict[str, Document] = {path: Document(relative_path=path) for path in files}

    def define(self, path: str, qualname: str, kind: DefinitionKind, line: int, end_line: int = 0) -> None:
        """One of our definitions."""
        self.definitions[path].append(Definition(qualname, kind, line, end_line or line))

    def mention(self, path: str, word: str, symbol: str, *, nth: int = 0, defines: bool = False) -> Occurrence:
        """Add an occurrence of this symbol at the nth `word` of the file."""
        lines = self.files[path].decode().split("\n")
        places = [
            (line, place)
            for line, text in enumerate(lines)
            for place in range(len(text))
            if text.startswith(word, place)
        ]
        line, start = places[nth]
        return self.at(path, (line, start, start + len(word)), symbol, defines=defines)

    def at(self, path: str, span: Iterable[int], symbol: str, *, defines: bool = False) -> Occurrence:
        occurrence: Occurrence = self.documents[path].occurrences.add(range=span, symbol=symbol)
        occurrence.symbol_roles = DEFINES * defines
        return occurrence

    def relate(self, path: str, symbol: str, other: str) -> None:
        self.documents[path].symbols.add(symbol=symbol).relationships.add(symbol=other, is_implementation=True)

    def bytes(self) -> bytes:
        index = Index(documents=[each.SerializeToString() for each in self.documents.values()])
        index.metadata.tool_info.name = "hand"
        return index.SerializeToString()

    def read(self, *, folder: str = "", limits: ScipLimits | None = None) -> ScipEdges:
        return read_scip(
            self.bytes(), lambda path: self.definitions.get(path, ()), self.files.get, folder=folder, limits=limits
        )
