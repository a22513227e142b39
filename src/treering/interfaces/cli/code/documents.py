"""What programs get of the code graph: each answer as plain JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from treering.interfaces.cli.output import record_document

if TYPE_CHECKING:
    from treering.index.graph import Cycle, DataFlow, Dependencies, Entry, ModuleMap, Route, Standing, Tied
    from treering.index.linked import CodeImpact
    from treering.index.relatives import Relations
    from treering.index.summary import Indexed

Document = Mapping[str, Any]


def indexed(done: "Indexed") -> Document:
    return {**asdict(done), "changed": done.changed}


def impact(found: "CodeImpact", limit: int) -> Document:
    return {
        "node": found.node,
        "members": found.members,
        "total": found.total,
        "tests_total": found.tests_total,
        "dependents": _tied(found.dependents[:limit]),
        "tests": found.tests,
        "importers": found.importers,
        "memories": [record_document(record) for record in found.memories],
        "invariants": [node.model_dump(mode="json") for node in found.invariants],
        "standing": _standing(found.standing),
    }


def dependencies(found: "Dependencies", limit: int) -> Document:
    return {
        "node": found.node,
        "members": found.members,
        "dependencies": _tied(found.dependencies[:limit]),
        "total": len(found.dependencies),
        "capped": found.capped,
        "standing": _standing(found.standing),
    }


def route(origin: str, target: str, found: "Route | None") -> Document:
    if found is None:
        return {"origin": origin, "target": target, "route": None}
    return {
        "origin": origin,
        "target": target,
        "route": [asdict(step) for step in found.steps],
        "score": found.score,
        "standing": _standing(found.standing),
    }


def data_flow(found: "DataFlow") -> Document:
    return {
        "node": found.node,
        "sources": [asdict(each) for each in found.sources],
        "sinks": [asdict(each) for each in found.sinks],
        "capped": found.capped,
        "standing": _standing(found.standing),
    }


def relations(found: "Relations") -> Document:
    return asdict(found)


def module_map(found: "ModuleMap") -> Document:
    return {
        "modules": [{**asdict(module), "size": module.size} for module in found.modules],
        "edges": [asdict(edge) for edge in found.edges],
        "standing": _standing(found.standing),
    }


def cycles(found: "Iterable[Cycle]") -> list[Document]:
    return [asdict(cycle) for cycle in found]


def entries(found: "Iterable[Entry]") -> list[Document]:
    return [{"id": each.id, "kind": each.kind, "name": each.definition.entry_name} for each in found]


def _tied(found: "Iterable[Tied]") -> list[Document]:
    return [asdict(each) for each in found]


def _standing(standing: "Standing") -> Document:
    return {**asdict(standing), "whole": standing.whole}
