"""Documents that searches of this process have read from the server."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import NamedTuple

_MAX_BYTES = 64_000_000
_MAX_AGE = timedelta(minutes=10)
_OBJECTS = 700  # bytes of a document's objects in memory, beside its content


class StoredDocument(NamedTuple):
    """A document with its vector of one model, empty without one. It never changes, and numbers are not reused."""

    integers: tuple[int, ...]
    """Number, time, speaker, marks, length, place, and the number of distinct words."""
    kind: str
    thread: str
    codes: bytes
    counts: bytes
    vector: bytes

    @property
    def number(self) -> int:
        return self.integers[0]

    @property
    def size(self) -> int:
        """Bytes in memory, roughly."""
        return _OBJECTS + len(self.codes) + len(self.counts) + len(self.vector)


class DocumentView(NamedTuple):
    """The documents that one principal sees in a project, with their vectors of one model."""

    tenant: str
    project: str
    principal: str
    model: str


@dataclass(eq=False, slots=True)
class CachedDocuments:
    """Documents of one view by number; only `DocumentCache` adds to them."""

    since: datetime
    by_number: dict[int, StoredDocument] = field(default_factory=dict)
    size: int = 0

    def chosen(self, numbers: Iterable[int]) -> dict[int, StoredDocument]:
        """Those of the documents that are cached."""
        found = ((number, self.by_number.get(number)) for number in numbers)
        return {number: document for number, document in found if document is not None}


class DocumentCache:
    """Documents of all projects, in a limited number of bytes. For many threads.

    Beyond the limit, the views used least recently are dropped. A view is dropped after ten minutes, too: another
    process may have removed some of its documents.
    """

    def __init__(self, max_bytes: int = _MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._size = 0
        self._lock = Lock()
        self._views: dict[DocumentView, CachedDocuments] = {}

    def of(self, view: DocumentView, now: datetime) -> CachedDocuments:
        with self._lock:
            for old in [each for each, cached in self._views.items() if abs(now - cached.since) >= _MAX_AGE]:
                self._drop(old)
            cached = self._views.pop(view, None) or CachedDocuments(now)
            self._views[view] = cached
            return cached

    def add(self, view: DocumentView, cached: CachedDocuments, documents: Iterable[StoredDocument]) -> None:
        """Add documents to those that `of` returned, unless `drop` has dropped these since."""
        with self._lock:
            if self._views.get(view) is not cached:
                return
            new = {each.number: each for each in documents if each.number not in cached.by_number}
            added = sum(each.size for each in new.values())
            cached.by_number |= new
            cached.size += added
            self._size += added
            while self._size > self._max_bytes:
                self._drop(next(iter(self._views)))

    def drop(self, tenant: str, project: str) -> None:
        """Drop all documents of a project, after one of them was removed."""
        with self._lock:
            for view in [each for each in self._views if (each.tenant, each.project) == (tenant, project)]:
                self._drop(view)

    def _drop(self, view: DocumentView) -> None:
        self._size -= self._views.pop(view).size
