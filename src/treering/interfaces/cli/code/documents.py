"""JSON documents of the code graph's answers. Truncated lists say how many entries were left out."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from treering.interfaces.cli.output import record_document

if TYPE_CHECKING:
    from treering.code.facts import Unresolved
    from treering.code.graph import (
        CodeAnswers,
        CodeEntries,
        Cycles,
        DataFlow,
        Dependencies,
        DependencyPath,
        IndexStatus,
        ModuleMap,
        NameCount,
        ReachedNode,
    )
    from treering.code.history.relatives import Relations
    from treering.code.index.report import IndexReport
    from treering.code.linked_memories import CodeImpact

Document = Mapping[str, Any]


def indexed(done: "IndexReport") -> Document:
    return {**asdict(done), "changed": done.changed}


def impact(found: "CodeImpact", limit: int) -> Document:
    dependents = _nodes(found.dependents[:limit])
    return {
        "node": found.node,
        "members": found.members,
        "score": found.score,
        "total": found.total,
        "tests_total": found.tests_total,
        "dependents": dependents,
        "left_out": found.total - len(dependents),
        "tests": found.tests,
        "test_files": [asdict(file) for file in found.test_files],
        "importers": found.importers,
        "file_level": found.file_level,
        "unresolved": _names(found.unresolved),
        "unresolved_total": found.unresolved_total,
        "handlers": found.handlers,
        "annotations": [record_document(record) for record in found.annotations],
        "memories": [record_document(record) for record in found.memories],
        "status": _index_status(found.status),
    }


def dependencies(found: "Dependencies", limit: int) -> Document:
    return {
        "node": found.node,
        "members": found.members,
        "dependencies": _nodes(found.dependencies[:limit]),
        "left_out": max(0, len(found.dependencies) - limit),
        "total": len(found.dependencies),
        "capped": found.capped,
        "unresolved": _names(found.unresolved),
        "unresolved_total": found.unresolved_total,
        "status": _index_status(found.status),
    }


def unresolved(found: "CodeAnswers[Unresolved]", limit: int) -> Document:
    uses = [{"origin": use.origin, "name": use.used_name, "text": use.text, "line": use.line} for use in found[:limit]]
    return {"uses": uses, "left_out": len(found) - len(uses), "status": _index_status(found.status)}


def route(origin: str, target: str, found: "DependencyPath") -> Document:
    return {
        "origin": origin,
        "target": target,
        "route": [asdict(step) for step in found.steps] or None,
        "score": found.score if found.steps else None,
        "status": _index_status(found.status),
    }


def data_flow(found: "DataFlow", limit: int) -> Document:
    return {
        "node": found.node,
        "sources": [asdict(each) for each in found.sources[:limit]],
        "sinks": [asdict(each) for each in found.sinks[:limit]],
        "left_out": max(0, len(found.sources) - limit) + max(0, len(found.sinks) - limit),
        "capped": found.capped,
        "status": _index_status(found.status),
    }


def relations(found: "Relations") -> Document:
    return {**asdict(found), "status": _index_status(found.status)}


def module_map(found: "ModuleMap", limit: int | None) -> Document:
    """Only edges between listed modules are included."""
    modules = found.modules[:limit]
    names = {module.name for module in modules}
    between = (edge for edge in found.edges if edge.origin in names and edge.target in names)
    return {
        "modules": [{**asdict(module), "size": module.size} for module in modules],
        "edges": [asdict(edge) for edge in between],
        "left_out": len(found.modules) - len(modules),
        "status": _index_status(found.status),
    }


def cycles(found: "Cycles", limit: int | None) -> Document:
    listed = found[:limit]
    return {
        "cycles": [asdict(cycle) for cycle in listed],
        "left_out": len(found) - len(listed),
        "status": _index_status(found.status),
    }


def entries(found: "CodeEntries", limit: int | None, *, tests: bool = False) -> Document:
    shown = [each for each in found if tests or not each.test]
    listed = shown[:limit]
    return {
        "entries": [
            {"id": each.id, "kind": each.kind, "name": each.definition.entry_name, "test": each.test} for each in listed
        ],
        "left_out": len(shown) - len(listed),
        "tests_left_out": len(found) - len(shown),
        "status": _index_status(found.status),
    }


def _names(found: "Iterable[NameCount]") -> list[Document]:
    return [asdict(each) for each in found]


def _nodes(found: "Iterable[ReachedNode]") -> list[Document]:
    return [asdict(each) for each in found]


def _index_status(status: "IndexStatus") -> Document:
    return {**asdict(status), "up_to_date": status.up_to_date}
