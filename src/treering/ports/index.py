"""The search index: documents by their words, their vectors and their position in a conversation.

A document is the searchable form of one record. Its number stays the same as long as its words do.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from treering.core.language.text_features import asks, names_time

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treering.core.queries import Filter
    from treering.core.values import Record
    from treering.ports.models import Vectors

    Numbers = NDArray[np.int64]
    Scores = NDArray[np.float64]

DOCUMENT_KINDS = ("knowledge", "turn", "episode", "pattern")
"""Searchable kinds of records; a document's kind is stored as its position in this tuple."""

ASKS = 1
NAMES_TIME = 2
"""Flags of a document: it ends in a question; it contains a date or another time expression."""


def marks_of(text: str) -> int:
    return ASKS * asks(text) | NAMES_TIME * names_time(text)


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """The words of a query, each as the codes of its possible forms, and its vector in the space of a model.

    `shares` are the weights of the words; empty if all weigh the same.
    """

    words: Sequence[Sequence[int]]
    vector: "Vectors | None" = None
    model: str = ""
    shares: Sequence[float] = ()

    def share(self, place: int) -> float:
        return self.shares[place] if self.shares else 1.0


@dataclass(frozen=True)
class Candidates:
    """Candidate documents as columns: the best by words, the best by vector, and their neighbours.

    `words` and `meaning` are the BM25 score and the cosine to the query; `meaning` is NaN if the vector is missing or
    zero. `words_weight` is the total weight of the query's words: a document that contains each of them once scores
    about that. `neighbours` holds for each document the rows of the documents before and after it in its conversation
    (−2, −1, +1, +2); −1 if there is none.
    """

    number: "Numbers"
    kind: "NDArray[np.int8]"
    at: "Numbers"
    speaker: "Numbers"
    marks: "Numbers"
    length: "Numbers"
    words: "Scores"
    meaning: "Scores"
    neighbours: "NDArray[np.int64]"
    words_weight: float

    def __len__(self) -> int:
        return len(self.number)


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A document without a vector: its record, or None if that cannot be read.

    For a turn also the text before and after it that its audience may see.
    """

    number: int
    record: "Record | None"
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Number of documents, and of those with a vector of the model."""

    documents: int
    vectors: int


@dataclass(frozen=True, slots=True)
class DocumentRef:
    """A document's number, and the kind and id of its record."""

    number: int
    kind: str
    id: str


class DocumentNumbers(Protocol):
    """Numbers and ids of the documents of one project, without loading the search index."""

    def after(self, number: int, *, owner: str, limit: int) -> Sequence[DocumentRef]:
        """The next documents by number: the personal ones of `owner`, or the shared ones if `owner` is empty.

        On a server, concurrent writers may commit in a different order than that of their numbers.
        """
        ...

    def numbers(self, kind: str, ids: Sequence[str]) -> Mapping[str, int]: ...


class SearchIndex(Protocol):
    """The documents of one project, as one transaction sees them."""

    def load(self, model: str) -> None:
        """Load new documents and the vectors of `model` now, so that a later write transaction need not."""
        ...

    def languages(self) -> Sequence[str]:
        """Languages of a large share of the documents."""
        ...

    def speakers(self) -> Collection[int]:
        """Codes of speakers with more than one document."""
        ...

    def candidates(
        self, wanted: IndexQuery, kinds: Sequence[str], *, limit: int, among: "Numbers | None" = None
    ) -> Candidates:
        """The best `limit` by words and by vector, with their neighbours; only those in `among`, if given."""
        ...

    def columns_of(self, wanted: IndexQuery, numbers: "Numbers") -> Candidates:
        """The same columns for the given documents."""
        ...

    def matching_numbers(self, filters: "Mapping[str, Filter]") -> "Numbers":
        """All documents that the scope can see and the filter of their kind accepts."""
        ...

    def matching_ids(self, filters: "Mapping[str, Filter]", numbers: "Numbers") -> Mapping[int, tuple[str, str]]:
        """Kind and id of those `numbers` that the scope can see and the filter of their kind accepts."""
        ...

    def words_of(self, numbers: "Numbers") -> "Mapping[int, tuple[NDArray[np.uint32], NDArray[np.uint8]]]":
        """The word codes of documents and their counts."""
        ...

    def containing(self, words: Sequence[Sequence[int]], numbers: "Numbers") -> "NDArray[np.bool_]":
        """Whether each of the ascending `numbers` (rows) contains each word (columns) in any of its forms."""
        ...

    def holding(self, words: Sequence[Sequence[int]], kinds: Sequence[str]) -> "Numbers | None":
        """All visible documents of these kinds that contain one of the words; None if that is not known in memory."""
        ...

    def word_scores(self, wanted: IndexQuery, numbers: "Numbers") -> "Scores":
        """BM25 scores of documents, as shares of the total weight of the words."""
        ...

    def rarity(self, codes: "NDArray[np.uint32]") -> "Scores":
        """IDF of each code."""
        ...

    def similarity(self, model: str, numbers: "Numbers", best: "Numbers") -> "Scores":
        """Cosine of documents to the centroid of `best`; NaN for a document without a vector."""
        ...

    def feedback(
        self, codes: "NDArray[np.uint32]", model: str, numbers: "Numbers", best: "Numbers"
    ) -> "tuple[Scores, Scores]":
        """`rarity` of the codes and `similarity` of the documents; a server looks up both at once."""
        ...

    def dimension(self, model: str) -> int | None:
        """Dimension of a model's vectors; None if there are none."""
        ...

    def coverage(self, model: str) -> Coverage: ...

    def models(self) -> Sequence[str]:
        """Models that have vectors in this project."""
        ...

    def unembedded(
        self, model: str, *, limit: int, max_words: int | None = None, skip_unstored: bool = False
    ) -> Sequence[Unembedded]:
        """The next documents without a vector, of every owner: vectors are computed for the whole project.

        At most `limit` documents with `max_words` words in total, but at least one. `skip_unstored` omits documents
        whose vectors are held in memory.
        """
        ...

    def hold_vectors(self, model: str, vectors: "Sequence[tuple[int, str, NDArray[np.float32]]]") -> None:
        """Hold vectors in memory: searches of this process use them before they are stored."""
        ...

    def unstored_vectors(self, model: str) -> "Sequence[tuple[int, str, NDArray[np.float32]]]":
        """Vectors that are held in memory and not stored yet."""
        ...

    def known_vectors(self, model: str, digests: Sequence[str]) -> "Mapping[str, NDArray[np.float32]]":
        """Stored vectors of texts that were embedded before, by digest."""
        ...

    def vectors(self, model: str, numbers: "Numbers") -> "Mapping[int, NDArray[np.float32]]":
        """The stored vectors of documents; documents without one are omitted."""
        ...

    def add_vectors(self, model: str, vectors: "Sequence[tuple[int, str, NDArray[np.float32]]]") -> int:
        """Store vectors, given as (number, digest of the embedded text, vector); return how many were stored.

        Skips documents that were purged while the model was running. The embedded engine stores vectors in the order of
        their documents, and skips those after a document without a vector.
        """
        ...

    def drop_vectors(self, *, but: str, beside: str = "") -> int:
        """Remove the vectors of every model except `but` and `beside`; return their number."""
        ...
