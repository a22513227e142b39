"""What Treering needs to find documents: by their words, by their vectors, by their place in a conversation.

A document is what one record is found by. It has a number for as long as its words stay the same.
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
"""Kinds of records that are found; a document's kind is its place in this list."""

ASKS = 1
NAMES_TIME = 2
"""Marks of a document: it ends in a question; it holds a date or a word of time."""


def marks_of(text: str) -> int:
    return ASKS * asks(text) | NAMES_TIME * names_time(text)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The words of a query, each by the codes of the forms it may stand in, and its vector in the space of a model.

    `shares` say how much each word counts; empty where all count alike.
    """

    words: Sequence[Sequence[int]]
    vector: "Vectors | None" = None
    model: str = ""
    shares: Sequence[float] = ()

    def share(self, place: int) -> float:
        return self.shares[place] if self.shares else 1.0


@dataclass(frozen=True)
class Candidates:
    """Documents worth a closer look, as columns: those best by words, those best by vector, and their neighbours.

    `words` and `meaning` are the BM25 score and the cosine to the query; `meaning` is NaN where there is no vector, or
    one of zeros.
    `words_weight` is what the words of the query weigh together: a document with all of them once scores about that.
    `neighbours` holds for each document the rows of those before and after it in its conversation (−2, −1, +1, +2);
    −1 where there is none.
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
    """A document that has no vector yet: its record, or None where that cannot be read.

    For a turn also what was said before and after it by whoever may see it.
    """

    number: int
    record: "Record | None"
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many documents there are, and how many of them have a vector of the model."""

    documents: int
    vectors: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A document by its number: of which record, of which kind."""

    number: int
    kind: str
    id: str


class Documents(Protocol):
    """The documents of one project by number and id, without what it takes to search them."""

    def after(self, number: int, *, owner: str, limit: int) -> Sequence[Listed]:
        """The next documents by number: personal ones of `owner`, or those that all see where that is empty.

        On a server two writers may commit in another order than that of their numbers.
        """
        ...

    def numbers(self, kind: str, ids: Sequence[str]) -> Mapping[str, int]: ...


class SearchIndex(Protocol):
    """The documents of one project, as one transaction sees them."""

    def ready(self, model: str) -> None:
        """Read what is new, with the vectors of `model`, so that a transaction that changes something need not."""
        ...

    def languages(self) -> Sequence[str]:
        """Languages that many documents are written in."""
        ...

    def speakers(self) -> Collection[int]:
        """Codes of those who said more than one thing."""
        ...

    def candidates(
        self, wanted: Wanted, kinds: Sequence[str], *, most: int, among: "Numbers | None" = None
    ) -> Candidates:
        """The best `most` by words and by vector, with their neighbours; only `among` these numbers where given."""
        ...

    def look_at(self, wanted: Wanted, numbers: "Numbers") -> Candidates:
        """The same columns for chosen documents."""
        ...

    def passing(self, filters: "Mapping[str, Filter]") -> "Numbers":
        """All documents that the scope sees and the filter of their kind lets through."""
        ...

    def confirmed(self, filters: "Mapping[str, Filter]", numbers: "Numbers") -> Mapping[int, tuple[str, str]]:
        """Kind and id of those among `numbers` that the scope sees and the filter of their kind lets through."""
        ...

    def words_of(self, numbers: "Numbers") -> "Mapping[int, tuple[NDArray[np.uint32], NDArray[np.uint8]]]":
        """The codes of documents and how often each stands there."""
        ...

    def word_scores(self, wanted: Wanted, numbers: "Numbers") -> "Scores":
        """The BM25 scores of documents, as shares of what the words weigh together."""
        ...

    def rarity(self, codes: "NDArray[np.uint32]") -> "Scores":
        """The IDF of each code."""
        ...

    def resemblance(self, model: str, numbers: "Numbers", best: "Numbers") -> "Scores":
        """The cosine of documents to the middle of the `best`; NaN where there is no vector."""
        ...

    def dimension(self, model: str) -> int | None:
        """How many numbers the vectors of a model have; None where there is none."""
        ...

    def coverage(self, model: str) -> Coverage: ...

    def models(self) -> Sequence[str]:
        """The models that there are vectors of."""
        ...

    def unembedded(
        self, model: str, *, limit: int, most_words: int | None = None, skip_unstored: bool = False
    ) -> Sequence[Unembedded]:
        """The next documents without a vector, whatever their owner: vectors are made for the whole project.

        At most `limit` documents with `most_words` words together, but at least one. With `skip_unstored`, documents
        whose vectors are only in memory are left out.
        """
        ...

    def keep_vectors(self, model: str, vectors: "Sequence[tuple[int, str, NDArray[np.float32]]]") -> None:
        """Keep vectors in memory: searches of this process find documents by them, stored or not."""
        ...

    def unstored_vectors(self, model: str) -> "Sequence[tuple[int, str, NDArray[np.float32]]]":
        """Vectors that are kept in memory and not stored yet."""
        ...

    def known_vectors(self, model: str, digests: Sequence[str]) -> "Mapping[str, NDArray[np.float32]]":
        """Vectors of texts that were embedded before."""
        ...

    def vectors(self, model: str, numbers: "Numbers") -> "Mapping[int, NDArray[np.float32]]":
        """The vectors of documents, as they are stored; those that have none are left out."""
        ...

    def add_vectors(self, model: str, vectors: "Sequence[tuple[int, str, NDArray[np.float32]]]") -> int:
        """Number, digest of the embedded text, vector; the number of vectors that were stored is returned.

        Skips documents that were purged, or are being purged, while the model was at work. The embedded engine takes
        vectors in the order of their documents, and skips those that follow a document without a vector.
        """
        ...

    def drop_vectors(self, *, but: str, beside: str = "") -> int:
        """Remove the vectors of every model except these two; how many is returned."""
        ...
