"""Requests and answers of the code graph."""

from typing import Literal

from pydantic import Field

from treering.core.records import Knowledge, Source
from treering.core.values import Text
from treering.interfaces.rest.nouns.search import CodePlace
from treering.interfaces.rest.schemas import Answered, Asked


class GuessedName(Answered):
    asked: str
    taken_for: str


class IndexCondition(Answered):
    """How current and complete the index was for an answer."""

    stale: list[str]
    incomplete: bool
    guessed: list[GuessedName]
    definitions_only: list[str]
    notes: list[str] = Field(description="Other limits of the answer, such as a folder that does not exist now.")
    up_to_date: bool


class CodeTotalsAnswer(Answered):
    files: int
    definitions: int
    edges: int
    unresolved: int
    problems: int
    languages: dict[str, int]
    waiting: int


class CodeIndexStatus(Answered):
    """Status of the index of the project."""

    root: str
    complete: bool
    current: bool
    totals: CodeTotalsAnswer
    skipped: dict[str, int]
    unread: dict[str, int]
    missing_grammars: list[str]
    outdated: bool
    writer: str
    scip_edges: int
    notes: list[str]
    advice: str


class IndexRequest(Asked):
    """Options of an indexing run. The folder is the repository of the server."""

    history: bool = Field(default=True, description="Read new commits as well.")


class FileWithProblem(Answered):
    path: str
    line: int
    what: str
    count: int


class IndexRunAnswer(Answered):
    """Result of an indexing run."""

    root: str
    read: int
    unchanged: int
    removed: int
    resolved: int
    skipped: dict[str, int]
    unread: dict[str, int]
    problems: list[FileWithProblem]
    problems_total: int
    totals: CodeTotalsAnswer
    seconds: float
    complete: bool
    warnings: list[str]
    notes: list[str]
    changed: bool


class FoundName(Answered):
    """A file or definition that a name may refer to."""

    id: str
    kind: str | None
    why: str
    aside: bool


class FoundNames(Answered):
    asked: str
    matches: list[FoundName]
    left_out: int
    status: IndexCondition


class AnnotateRequest(Asked):
    """An invariant, a decision or a pattern to attach to a part of the code."""

    node: str = Field(description="Name as users write it: `verify_jwt`, `AuthService.login`, a path or folder.")
    text: Text
    kind: Literal["invariant", "decision", "pattern"] = "invariant"
    source: Source | None = Field(default=None, description="Who says so; `user_taught` for a person.")


class WhereRequest(Asked):
    """A question about the code, such as “where are redirects followed?”."""

    query: str = Field(max_length=20_000)
    limit: int = Field(default=5, ge=1, le=100)
    files: tuple[str, ...] = Field(default=(), description="Only these files, or folders that end with a slash.")
    private: bool = Field(default=False, description="Keep the query away from models on other machines.")


class CodePlaces(Answered):
    """Locations that answer the question, best first."""

    query: str
    locations: list[CodePlace]
    missing: dict[str, str]
    status: IndexCondition


class CodeNode(Answered):
    """A node that depends on the queried one, or that it depends on."""

    id: str
    depth: int
    path: list[str]
    score: float
    kind: str
    source: str
    confidence: float
    through: str | None
    test: bool


class NameUses(Answered):
    """Uses of a name whose targets are not known."""

    name: str
    uses: int


class TestFileAnswer(Answered):
    """A file with tests that reach a node."""

    path: str
    tests: int
    depth: int
    score: float


class ImpactAnswer(Answered):
    """What breaks if a node changes."""

    node: str
    members: list[str]
    score: float
    total: int
    tests_total: int
    dependents: list[CodeNode]
    tests: list[str]
    test_files: list[TestFileAnswer] = Field(description="Files of tests, those likely to test the node first.")
    importers: list[str] = Field(description="Files that import its file: the answer if there is no dependent.")
    file_level: bool = Field(description="Whether no dependent is certain, so that the importers are the answer.")
    unresolved: list[NameUses] = Field(description="Uses of its name that could not be resolved and may be of it.")
    unresolved_total: int
    handlers: list[str] = Field(description="Dependents that catch the errors that the node raises.")
    annotations: list[Knowledge] = Field(description="Invariants, decisions and patterns attached to it.")
    memories: list[Knowledge]
    capped: bool
    status: IndexCondition


class DependenciesAnswer(Answered):
    """What a node depends on."""

    node: str
    members: list[str]
    dependencies: list[CodeNode]
    unresolved: list[NameUses] = Field(description="Names that it uses and that could not be resolved.")
    unresolved_total: int
    capped: bool
    status: IndexCondition


class FlowStepNode(Answered):
    id: str
    depth: int
    path: list[str]
    carried: str
    source: str
    confidence: float


class DataFlowAnswer(Answered):
    """Where the data of a node goes, and where it comes from."""

    node: str
    sources: list[FlowStepNode]
    sinks: list[FlowStepNode]
    capped: bool
    status: IndexCondition


class PathStepAnswer(Answered):
    id: str
    kind: str | None
    through: str | None = None
    source: str | None = None
    confidence: float | None = None


class PathAnswer(Answered):
    """A shortest dependency path; without steps if there is none."""

    steps: list[PathStepAnswer]
    score: float
    status: IndexCondition


class EntryPointAnswer(Answered):
    id: str
    kind: str | None
    name: str | None
    depth: int | None
    path: list[str]
    test: bool


class EntryPoints(Answered):
    entries: list[EntryPointAnswer]
    status: IndexCondition


class CycleAnswer(Answered):
    members: list[str]
    example: list[str]


class CyclesAnswer(Answered):
    cycles: list[CycleAnswer]
    status: IndexCondition


class MapFile(Answered):
    path: str
    centrality: float


class MapModule(Answered):
    name: str
    directory: str
    files: list[str]
    central: list[MapFile]
    centrality: float
    size: int


class MapEdge(Answered):
    origin: str
    target: str
    weight: float
    files: int


class ModuleMapAnswer(Answered):
    """The modules that the files form by their uses; every file is in exactly one."""

    modules: list[MapModule]
    edges: list[MapEdge]
    beginning: str
    status: IndexCondition


class FileOnMap(Answered):
    """An indexed file."""

    path: str
    module: str
    records: list[str] = Field(description="Ids of the valid records about it.")
    commits: int = Field(description="Commits that changed it, without those that changed very many files.")
    change_rate: float = Field(description="Recent commits; each counts less the more commits followed it.")


class FileUseOnMap(Answered):
    """One file uses another; both are places in `files`."""

    origin: int
    target: int


class FileMapAnswer(Answered):
    """Every indexed file, and the uses between files."""

    files: list[FileOnMap]
    uses: list[FileUseOnMap]
    without_history: str = Field(description="Why no changes are known; empty if they are.")
    status: IndexCondition


class RelationTerm(Answered):
    name: str
    value: float
    gain: float


class RelatedFile(Answered):
    path: str
    score: float
    why: list[RelationTerm]
    together: int
    reasons: list[str]


class RelatedFiles(Answered):
    path: str
    related: list[RelatedFile]
    without_history: str
    missing: bool = Field(description="Whether the file does not exist now.")
    known_before: bool = Field(description="Whether git's history knows it: it was deleted or renamed.")
    status: IndexCondition


class UnresolvedUse(Answered):
    origin: str
    text: str
    line: int
    used_name: str


class UnresolvedUses(Answered):
    uses: list[UnresolvedUse]
    status: IndexCondition
