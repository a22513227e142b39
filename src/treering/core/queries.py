"""Typed filters by kind of record, sort orders and pages."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Generic, Literal, TypeVar

from treering.core.entities import EntityKind
from treering.core.episodes import EpisodeStatus, OutcomeStatus
from treering.core.events import SessionOutcome, SessionType
from treering.core.history import Action
from treering.core.injections import InjectionPoint, ItemKind, ItemOutcome
from treering.core.jobs import JobState
from treering.core.messages import Role
from treering.core.patterns import PatternCategory, PatternStatus
from treering.core.records import Level, Source
from treering.core.runs import RunState
from treering.core.scope import Visibility
from treering.core.values import Count, FilePaths, Instant, Keys, Label, Labels, Share, Text, Value


class SearchedKind(StrEnum):
    """The kinds of records that a search returns."""

    KNOWLEDGE = "knowledge"
    TURN = "turn"
    EPISODE = "episode"
    PATTERN = "pattern"


CODE: Literal["code"] = "code"
"""Kind of code locations, which are results too if code is indexed."""


class TimeRange(Value):
    """From `since` (inclusive) to `before` (exclusive); None leaves an end open."""

    since: Instant | None = None
    before: Instant | None = None


class ShareRange(Value):
    """From `at_least` to `at_most`, both inclusive."""

    at_least: Share = 0.0
    at_most: Share = 1.0


class PlaceRange(Value):
    """Positions in a session, from `first` (inclusive) to `before` (exclusive)."""

    first: Count = 0
    before: Count


class Filter(Value):
    """All fields must match; an empty tuple or None matches everything. In a tuple, one match is enough."""


class KnowledgeFilter(Filter):
    ids: Keys = ()
    types: Labels = ()
    levels: tuple[Level, ...] = ()
    visibility: tuple[Visibility, ...] = ()
    owners: Keys = ()
    sources: tuple[Source, ...] = ()
    sessions: Keys = ()
    not_sessions: Keys = ()
    tags: Labels = ()
    all_tags: Labels = ()
    files: FilePaths = ()
    modules: Labels = ()
    related_to: Keys = ()
    derived_from: Keys = ()
    nodes: Keys = ()
    same_text: Keys = ()
    fact_keys: Keys = ()
    statement_keys: Keys = ()
    created: TimeRange | None = None
    updated: TimeRange | None = None
    accessed: TimeRange | None = None
    valid_at: Instant | None = None
    believed_at: Instant | None = None
    confidence: ShareRange | None = None
    language: Label | None = None
    pinned: bool | None = None
    needs_review: bool | None = None
    user_verified: bool | None = None
    flagged: bool | None = None
    tainted: bool | None = None
    stale: bool | None = None
    deprecated: bool | None = None
    deleted: bool | None = False


class TurnFilter(Filter):
    ids: Keys = ()
    sessions: Keys = ()
    not_sessions: Keys = ()
    roles: tuple[Role, ...] = ()
    speakers: Labels = ()
    visibility: tuple[Visibility, ...] = ()
    owners: Keys = ()
    said: TimeRange | None = None
    places: PlaceRange | None = None
    tainted: bool | None = None
    deleted: bool | None = False


class CodeFilter(Value):
    """Filter for code locations."""

    files: FilePaths = ()
    """Files, or folders that end with a slash."""

    def passes(self, path: str) -> bool:
        return not self.files or any(path == file or (file[-1] == "/" and path.startswith(file)) for file in self.files)


ALL_CODE = CodeFilter.defaults()


class SearchFilter(Value):
    """Filter for records of any kind; kinds without a filtered field are left out."""

    kinds: tuple[SearchedKind | Literal["code"], ...] = ()
    types: Labels = ()
    tags: Labels = ()
    files: FilePaths = ()
    modules: Labels = ()
    sessions: Keys = ()
    not_sessions: Keys = ()
    """Excluded sessions; records without a session are kept."""
    roles: tuple[Role, ...] = ()
    time: TimeRange | None = None
    """When the record was created, written or executed."""
    confidence: ShareRange | None = None
    tainted: bool | None = None

    def by_kind(self) -> dict[str, Filter]:
        """Filters by kind, for the kinds that have all filtered fields."""
        asked = self._asked()
        # These exclude nothing from kinds without sessions or taint.
        anything = {"not_sessions"} if self.tainted else {"not_sessions", "tainted"}
        return {
            kind: KIND_FILTERS[kind](**{names[field]: value for field, value in asked.items() if field in names})
            if asked
            else KIND_FILTERS[kind].defaults()
            for kind, names in _SEARCHED_BY.items()
            if (not self.kinds or kind in self.kinds) and asked.keys() - anything <= names.keys()
        }

    def of_code(self) -> CodeFilter | None:
        """Filter for code locations; None if they lack a filtered field."""
        wanted = not self.kinds or CODE in self.kinds
        known = {"files", "not_sessions"} if self.tainted else {"files", "not_sessions", "tainted"}
        return CodeFilter(files=self.files) if wanted and self._asked().keys() <= known else None

    def _asked(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "kinds" and value not in (None, ())}


class SessionFilter(Filter):
    ids: Keys = ()
    started: TimeRange | None = None
    owners: Keys = ()
    ended: bool | None = None
    learned: bool | None = None


class EpisodeFilter(Filter):
    ids: Keys = ()
    sessions: Keys = ()
    not_sessions: Keys = ()
    domains: Labels = ()
    task_types: Labels = ()
    outcomes: tuple[OutcomeStatus, ...] = ()
    statuses: tuple[EpisodeStatus, ...] = ()
    tools: Labels = ()
    strategies: Labels = ()
    tags: Labels = ()
    failures: Labels = ()
    consolidated: bool | None = None
    cold: bool | None = None
    happened: TimeRange | None = None
    tainted: bool | None = None
    deleted: bool | None = False


class PatternFilter(Filter):
    ids: Keys = ()
    categories: tuple[PatternCategory, ...] = ()
    statuses: tuple[PatternStatus, ...] = ()
    problem_types: Labels = ()
    domains: Labels = ()
    updated: TimeRange | None = None
    deleted: bool | None = False


class ApplicationFilter(Filter):
    ids: Keys = ()
    patterns: Keys = ()
    episodes: Keys = ()
    sessions: Keys = ()
    outcomes: tuple[OutcomeStatus, ...] = ()
    happened: TimeRange | None = None


class EntityFilter(Filter):
    ids: Keys = ()
    kinds: tuple[EntityKind, ...] = ()
    names: Labels = ()
    aliases: Labels = ()
    same_names: Labels = ()
    merged_into: Keys = ()
    deleted: bool | None = False


class EntityLinkFilter(Filter):
    entities: Keys = ()
    records: Keys = ()


class CoAccessFilter(Filter):
    ids: Keys = ()
    files: FilePaths = ()
    weight: ShareRange | None = None


class ObservedSessionFilter(Filter):
    ids: Keys = ()
    types: tuple[SessionType, ...] = ()
    outcomes: tuple[SessionOutcome, ...] = ()
    finished: bool | None = None
    started: TimeRange | None = None


class SavedScratchpadFilter(Filter):
    ids: Keys = ()
    saved: TimeRange | None = None


class SignalEvidenceFilter(Filter):
    ids: Keys = ()
    signals: Labels = ()
    records: Keys = ()
    promoted: bool | None = None
    seen: TimeRange | None = None


class InjectedItemFilter(Filter):
    ids: Keys = ()
    sessions: Keys = ()
    points: tuple[InjectionPoint, ...] = ()
    kinds: tuple[ItemKind, ...] = ()
    items: tuple[Text, ...] = ()
    outcomes: tuple[ItemOutcome, ...] = ()
    judged: bool | None = None
    injected: TimeRange | None = None


class ProjectSettingFilter(Filter):
    ids: Keys = ()


class AuditFilter(Filter):
    subjects: Keys = ()
    actions: tuple[Action, ...] = ()
    kinds: Labels = ()
    actors: Keys = ()
    happened: TimeRange | None = None


class RevisionFilter(Filter):
    subjects: Keys = ()
    kinds: Labels = ()
    groups: Keys = ()
    undone: bool | None = None


class JobFilter(Filter):
    kinds: Labels = ()
    keys: Labels = ()
    states: tuple[JobState, ...] = ()


class RunFilter(Filter):
    stages: Labels = ()
    states: tuple[RunState, ...] = ()
    started: TimeRange | None = None


class Order(Value):
    """Sort field; equal values are sorted by id in the same direction."""

    by: Label
    descending: bool = True


V = TypeVar("V")


class Page(Value, Generic[V]):
    """A page of items, and the cursor of the next page (None at the end)."""

    items: tuple[V, ...]
    next: str | None = None


KIND_FILTERS: Mapping[SearchedKind, type[Filter]] = {
    SearchedKind.KNOWLEDGE: KnowledgeFilter,
    SearchedKind.TURN: TurnFilter,
    SearchedKind.EPISODE: EpisodeFilter,
    SearchedKind.PATTERN: PatternFilter,
}
SEARCHED_TIME: Mapping[SearchedKind, str] = {
    SearchedKind.KNOWLEDGE: "created",
    SearchedKind.TURN: "said",
    SearchedKind.EPISODE: "happened",
    SearchedKind.PATTERN: "updated",
}
"""The time field of each filter."""


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_SEARCHED_BY: Mapping[SearchedKind, Mapping[str, str]] = {
    SearchedKind.KNOWLEDGE: _same(
        "types", "tags", "files", "modules", "sessions", "not_sessions", "confidence", "tainted"
    ),
    SearchedKind.TURN: _same("sessions", "not_sessions", "roles", "tainted"),
    SearchedKind.EPISODE: _same("tags", "sessions", "not_sessions", "tainted"),
    SearchedKind.PATTERN: {},
}
_SEARCHED_BY = {kind: {**names, "time": SEARCHED_TIME[kind]} for kind, names in _SEARCHED_BY.items()}
"""Field names of each kind's filter by those of `SearchFilter`."""
