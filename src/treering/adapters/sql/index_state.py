"""What a process has read of a project's index, and how it grows by rows of the database."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from treering.adapters.vectors.signs import STORED
from treering.adapters.words.postings import Words
from treering.adapters.words.segments import DocumentColumns, Segments
from treering.ports.index import DOCUMENT_KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.adapters.vectors.space import VectorPart, VectorSpace
    from treering.adapters.words.segments import DocumentPart

    _Part = DocumentPart | VectorPart

DOCUMENTS = (
    "SELECT number, kind, owner, at, speaker, marks, length, thread, place, language, codes, counts FROM documents "
    # The unary plus keeps SQLite from using an index that would read the whole project to find new rows.
    "WHERE number > ? AND +tenant = ? AND +project = ? ORDER BY number"
)
KIND_NUMBERS = {name: place for place, name in enumerate(DOCUMENT_KINDS)}


@dataclass(frozen=True)
class IndexState:
    """What has been read of a project so far."""

    segments: Segments = field(default_factory=Segments.empty)
    spaces: dict[str, VectorSpace] = field(default_factory=dict)
    languages: Counter[str] = field(default_factory=Counter)
    speakers: Counter[int] = field(default_factory=Counter)
    owners: dict[str, int] = field(default_factory=lambda: {"": 0})

    @property
    def unsaved(self) -> int:
        """Number of documents or vectors that are in no file."""
        return max((self.segments.unsaved, *(space.unsaved for space in self.spaces.values())))

    def visible_to(self, principal: str) -> NDArray[np.bool_] | None:
        """Mask of the documents that a principal can see; None if all are visible."""
        segments = self.segments
        if self.owners.keys() <= {"", principal} and not segments.gone.any():
            return None
        owner, mine = segments.columns.owner, self.owners.get(principal, 0)
        return np.asarray(~segments.gone & ((owner == 0) | (owner == mine)), np.bool_)

    def without_files(self) -> IndexState:
        return self._with_parts(lambda part: replace(part, file=""))

    def with_files_of(self, before: IndexState, saved: IndexState) -> IndexState:
        """With the saved parts in place of those that `before` had."""
        olds: list[_Part] = [*before.segments.parts]
        news: list[_Part] = [*saved.segments.parts]
        for name, space in saved.spaces.items():
            olds += before.spaces[name].parts[: len(space.parts)]
            news += space.parts
        mapped = {id(old): new for old, new in zip(olds, news, strict=True) if old.size == new.size}
        return self._with_parts(lambda part: mapped.get(id(part), part))

    def _with_parts(self, change: Callable[[Any], Any]) -> IndexState:
        segments = replace(self.segments, parts=tuple(map(change, self.segments.parts)))
        spaces = {name: replace(space, parts=tuple(map(change, space.parts))) for name, space in self.spaces.items()}
        return replace(self, segments=segments, spaces=spaces)


def with_documents(state: IndexState, fetched: Iterator[Sequence[Any]]) -> IndexState:
    """Add the rows of `DOCUMENTS`."""
    owners, languages, speakers = dict(state.owners), Counter(state.languages), Counter(state.speakers)
    columns, words = list[DocumentColumns](), list[Words]()
    for rows in fetched:
        table = []
        for number, kind, owner, at, speaker, marks, length, thread, place, language, _codes, _counts in rows:
            languages[language] += 1
            speakers[speaker] += 1
            whose = owners.setdefault(owner, len(owners))
            table.append((number, KIND_NUMBERS[kind], whose, at, speaker, marks, length, _hashed(thread), place))
        columns.append(DocumentColumns.of(table))
        words.append(Words.of([(row[10], row[11]) for row in rows]))
    if not columns:
        return state
    segments = state.segments.extended(DocumentColumns.joined(columns), Words.joined(words))
    return IndexState(segments, state.spaces, languages, speakers, owners)


@lru_cache(maxsize=1_000)
def _hashed(thread: str) -> int:
    """0 for no conversation."""
    return int.from_bytes(hashlib.blake2b(thread.encode(), digest_size=8).digest(), "little") if thread else 0


def as_matrix(vectors: Sequence[bytes]) -> NDArray[np.float32]:
    """Stored vectors as rows."""
    flat = np.frombuffer(b"".join(vectors), STORED).astype(np.float32)
    return flat.reshape(len(vectors), -1)
