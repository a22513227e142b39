"""The code graph: indexing and queries."""

from typing import Annotated, Any, Literal

from fastapi import Query

from treering.core.fields import KnowledgeFields
from treering.core.queries import CodeFilter
from treering.core.records import Knowledge
from treering.interfaces.rest.calls import Raw, Route
from treering.interfaces.rest.nouns.code_schemas import (
    AnnotateRequest,
    CodeIndexStatus,
    CodePlaces,
    CyclesAnswer,
    DataFlowAnswer,
    DependenciesAnswer,
    EntryPoints,
    FileMapAnswer,
    FoundNames,
    ImpactAnswer,
    IndexRequest,
    IndexRunAnswer,
    ModuleMapAnswer,
    PathAnswer,
    RelatedFiles,
    UnresolvedUses,
    WhereRequest,
)
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory

Node = Annotated[
    str,
    Query(description="Name as users write it: `verify_jwt`, `AuthService.login`, `tokens.py:42`, a path or folder."),
]
Depth = Annotated[int | None, Query(ge=1, le=1_000, description="Maximum length of a path.")]
Cap = Annotated[int, Query(ge=1, le=10_000, description="Maximum number of nodes.")]
MinConfidence = Annotated[float, Query(ge=0, le=1, description="Only edges of at least this confidence.")]


def get_code_status(memory: Memory) -> Any:
    """Status of the index; 404 if nothing is indexed."""
    return memory.code.status()


def index_code(memory: Memory, body: IndexRequest | None = None) -> Any:
    """Index new and changed files of the repository that the server runs in."""
    return memory.code.index(history=body is None or body.history)


def forget_code(memory: Memory) -> Any:
    """Remove the index; memories stay. The answer is the status before."""
    return memory.code.forget()


def find_code(memory: Memory, name: Node, limit: Annotated[int, Query(ge=1, le=1_000)] = 50) -> Any:
    """Files and definitions that a name may refer to."""
    return memory.code.find(name, limit=limit)


def search_code(memory: Memory, body: WhereRequest) -> Any:
    """Locations in the code that answer a question."""
    where = CodeFilter.make(files=tuple(body.files))
    return memory.code.where(body.query, limit=body.limit, where=where, hurried=True, private=body.private)


def get_impact(
    memory: Memory, node: Node, depth: Depth = None, cap: Cap = 500, min_confidence: MinConfidence = 0
) -> Any:
    """What breaks if this changes, the tests that reach it, and the memories about it."""
    return memory.code.impact(node, depth=depth, cap=cap, min_confidence=min_confidence)


def annotate_code(memory: Memory, body: AnnotateRequest) -> Knowledge:
    """Attach an invariant, a decision or a pattern to a part of the code. It is a record: remove it as one."""
    source: KnowledgeFields = {} if body.source is None else {"source": body.source}
    return memory.code.annotate(body.node, body.text, kind=body.kind, **source)


def get_dependencies(
    memory: Memory, node: Node, depth: Depth = None, cap: Cap = 500, min_confidence: MinConfidence = 0
) -> Any:
    """What a node depends on."""
    return memory.code.dependencies(node, depth=depth, cap=cap, min_confidence=min_confidence)


def get_data_flow(memory: Memory, node: Node, depth: Annotated[int, Query(ge=1, le=100)] = 5, cap: Cap = 500) -> Any:
    """Where the data of a node goes, and where it comes from."""
    return memory.code.data_flow(node, depth=depth, cap=cap)


def get_path(
    memory: Memory,
    origin: Node,
    target: Annotated[str, Query(description="Node that the path leads to.")],
) -> Any:
    """A shortest dependency path between two nodes."""
    return memory.code.path(origin, target)


def list_entry_points(
    memory: Memory,
    node: Annotated[str | None, Query(description="Only those that lead to this node.")] = None,
    kind: Annotated[str | None, Query(description="Only this kind of entry point.")] = None,
) -> dict[str, Any]:
    """Entry points of the code, or those that lead to a node."""
    found = memory.code.entry_points(node, kind=kind)
    entries = [
        {
            "id": each.id,
            "kind": each.kind,
            "name": each.definition.entry_name,
            "depth": each.depth,
            "path": list(each.path),
            "test": each.test,
        }
        for each in found
    ]
    return {"entries": entries, "status": found.status}


def list_cycles(memory: Memory, level: Annotated[Literal["file", "symbol"], Query()] = "file") -> dict[str, Any]:
    """Files, or symbols, that depend on each other, largest cycles first."""
    found = memory.code.cycles(level)
    return {"cycles": list(found), "status": found.status}


def get_module_map(memory: Memory) -> Any:
    """The modules that the files form by their uses, with their sizes and what each depends on."""
    return memory.code.module_map()


def get_file_map(memory: Memory) -> Any:
    """Every indexed file with its module, its memories and its changes, and the uses between files."""
    return memory.code.file_map()


def draw_module_map(memory: Memory, title: Annotated[str, Query(max_length=200)] = "Module map") -> Raw:
    """The module map as an SVG drawing."""
    drawn = memory.code.map_svg(memory.code.module_map(), title)
    return Raw(drawn.encode(), "image/svg+xml")


def list_related_files(
    memory: Memory,
    path: Annotated[str, Query(description="File, relative to the root.")],
    limit: Annotated[int, Query(ge=1, le=1_000)] = 10,
) -> Any:
    """Files related to a file: changed together, used together in sessions, imported, or named alike."""
    return memory.code.related(path, limit=limit)


def list_unresolved(
    memory: Memory,
    path: Annotated[str, Query(description="File, folder, or name of a definition.")],
    inside: Annotated[bool, Query(description="Of a definition: the uses in it, not those that may be of it.")] = False,
) -> dict[str, Any]:
    """Uses without a known target: in a file or folder, or those anywhere that may be of a definition."""
    found = memory.code.unresolved(path, inside=inside)
    return {"uses": list(found), "status": found.status}


_SLOW = CallQueue.SLOW
ROUTES = (
    Route("GET", "/code", get_code_status, CodeIndexStatus, "Get the status of the code index"),
    Route("POST", "/code/index", index_code, IndexRunAnswer, "Index the code", _SLOW),
    Route("DELETE", "/code", forget_code, CodeIndexStatus, "Remove the code index", _SLOW),
    Route("GET", "/code/find", find_code, FoundNames, "Find files and definitions", _SLOW),
    Route("POST", "/code/where", search_code, CodePlaces, "Find code that answers a question", _SLOW),
    Route("GET", "/code/impact", get_impact, ImpactAnswer, "Get the impact of a change", _SLOW),
    Route("POST", "/code/annotations", annotate_code, Knowledge, "Annotate a part of the code", _SLOW, 201),
    Route("GET", "/code/dependencies", get_dependencies, DependenciesAnswer, "Get dependencies", _SLOW),
    Route("GET", "/code/data-flow", get_data_flow, DataFlowAnswer, "Trace data", _SLOW),
    Route("GET", "/code/path", get_path, PathAnswer, "Get a dependency path", _SLOW),
    Route("GET", "/code/entry-points", list_entry_points, EntryPoints, "List entry points", _SLOW),
    Route("GET", "/code/cycles", list_cycles, CyclesAnswer, "List cycles", _SLOW),
    Route("GET", "/code/map", get_module_map, ModuleMapAnswer, "Get the module map", _SLOW),
    Route("GET", "/code/files", get_file_map, FileMapAnswer, "Get the map of files", _SLOW),
    Route("GET", "/code/map.svg", draw_module_map, str, "Draw the module map", _SLOW, media_type="image/svg+xml"),
    Route("GET", "/code/related", list_related_files, RelatedFiles, "List related files", _SLOW),
    Route("GET", "/code/unresolved", list_unresolved, UnresolvedUses, "List unresolved uses", _SLOW),
)
