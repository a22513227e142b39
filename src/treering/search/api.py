"""One search over everything a project holds: knowledge, turns, episodes, patterns and code in one ranking."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from treering.core.errors import InvalidInput
from treering.core.methodologies import phase_named
from treering.core.phases import Phase
from treering.core.timestamps import end_of
from treering.search.request import ALL_KNOWLEDGE, ALL_TURNS, SearchRequest, current, filters_of, known_at, untainted

if TYPE_CHECKING:
    from datetime import date, datetime

    from treering.core.queries import KnowledgeFilter, SearchFilter, TurnFilter
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.clock import Clock
    from treering.ports.models import Models
    from treering.ports.store import Store
    from treering.search.accesses import ReturnedRecords
    from treering.search.answer import Answer
    from treering.search.code_hits import SearchCode


class SearchOptions(TypedDict, total=False):
    """Keyword arguments of `Memory.search`, apart from `phase` and `tainted`."""

    limit: int | None
    where: SearchFilter | None
    knowledge: KnowledgeFilter | None
    turns: TurnFilter | None
    superseded: bool
    as_of: datetime | date | str | None
    files: Iterable[str]
    explain: bool
    thorough: bool
    precise: bool
    repeated: bool
    private: bool
    code: bool | None


@dataclass(frozen=True)
class Search:
    """The search of one project. Safe to share between threads."""

    scope: Scope
    store: Store
    clock: Clock
    settings: Settings
    models: Models
    accesses: ReturnedRecords
    find_code: SearchCode
    """Searches the project's code index."""

    def run(
        self,
        query: str,
        *,
        limit: int | None = None,
        where: SearchFilter | None = None,
        knowledge: KnowledgeFilter | None = ALL_KNOWLEDGE,
        turns: TurnFilter | None = ALL_TURNS,
        superseded: bool = False,
        as_of: datetime | date | str | None = None,
        files: Iterable[str] = (),
        phase: Phase | str | None = None,
        explain: bool = False,
        thorough: bool = True,
        precise: bool = False,
        repeated: bool = False,
        private: bool = False,
        tainted: bool = True,
        code: bool | None = None,
        note_access: bool = True,
        catch_up: bool = True,
    ) -> Answer:
        """The best matches for a query; `Memory.search` documents the options.

        With `note_access`, the results count as accessed, which keeps inferred records from expiring. Without
        `catch_up`, the search does not wait for the vectors of many new documents.
        """
        from treering.search.code_hits import check_code_option, code_request, names_code
        from treering.search.pipeline import search

        if precise and superseded:
            raise InvalidInput("a precise search returns no superseded records; pass precise or superseded")
        check_code_option(where, code=code)
        now = self.clock() if as_of is None else end_of(as_of, self.clock())
        filters = filters_of(where, knowledge, turns) if tainted else untainted(filters_of(where, knowledge, turns))
        if as_of is not None:
            filters = known_at(filters, now)
        elif not superseded:
            filters = current(filters)
        request = SearchRequest(
            query=query,
            filters=filters,
            limit=self.settings.search.limit if limit is None else limit,
            files=tuple(files),
            phase=None if phase is None else phase_named(phase),
            explain=explain,
            thorough=thorough,
            precise=precise,
            repeated=repeated,
            private=private,
            as_of=as_of is not None,
            catch_up=catch_up,
        )
        answer = search(self.scope, self.store, now, request, settings=self.settings, models=self.models)
        if as_of is None and note_access:
            self.accesses.note(answer, now)
        if code is None and (as_of is not None or precise):
            code = names_code(where)
        elif code is None and (knowledge, turns) != (ALL_KNOWLEDGE, ALL_TURNS):
            code = False
        in_code = code_request(query, where, code=code, limit=request.limit, settings=self.settings)
        if in_code is None or not self._has_code():
            return answer
        from treering.search.code_hits import with_code

        return with_code(answer, self.find_code, in_code, private=private)

    def _has_code(self) -> bool:
        """Whether code is indexed; checked first because importing the code graph is slow."""
        with self.store.reading(self.scope, self.clock()) as tx:
            return tx.code.state() is not None
