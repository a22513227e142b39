"""The code of a project as a graph in memory: what a change reaches, what rests on what, how it falls into modules."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treering.code.graph.answers import Answers as Answers
    from treering.code.graph.answers import Cycle as Cycle
    from treering.code.graph.answers import Cycles as Cycles
    from treering.code.graph.answers import Dependencies as Dependencies
    from treering.code.graph.answers import Entries as Entries
    from treering.code.graph.answers import Entry as Entry
    from treering.code.graph.answers import Guess as Guess
    from treering.code.graph.answers import Impact as Impact
    from treering.code.graph.answers import Route as Route
    from treering.code.graph.answers import Standing as Standing
    from treering.code.graph.answers import Step as Step
    from treering.code.graph.answers import Tied as Tied
    from treering.code.graph.answers import Ties as Ties
    from treering.code.graph.code_graph import CodeGraph as CodeGraph
    from treering.code.graph.contents import GraphColumns as GraphColumns
    from treering.code.graph.cycles import Level as Level
    from treering.code.graph.edges import EdgeColumns as EdgeColumns
    from treering.code.graph.edges import ServedEdge as ServedEdge
    from treering.code.graph.file_graph import FileGraph as FileGraph
    from treering.code.graph.flows import Carried as Carried
    from treering.code.graph.flows import DataFlow as DataFlow
    from treering.code.graph.flows import Flowing as Flowing
    from treering.code.graph.matches import Found as Found
    from treering.code.graph.matches import Match as Match
    from treering.code.graph.matches import Why as Why
    from treering.code.graph.module_map import CentralFile as CentralFile
    from treering.code.graph.module_map import Module as Module
    from treering.code.graph.module_map import ModuleEdge as ModuleEdge
    from treering.code.graph.module_map import ModuleMap as ModuleMap

# Loaded on first use: finding a place in the code needs little of the graph.
_MODULES = {
    "Answers": "answers",
    "Carried": "flows",
    "CentralFile": "module_map",
    "CodeGraph": "code_graph",
    "Cycle": "answers",
    "Cycles": "answers",
    "DataFlow": "flows",
    "Dependencies": "answers",
    "EdgeColumns": "edges",
    "Entries": "answers",
    "Entry": "answers",
    "FileGraph": "file_graph",
    "Flowing": "flows",
    "Found": "matches",
    "GraphColumns": "contents",
    "Guess": "answers",
    "Impact": "answers",
    "Level": "cycles",
    "Match": "matches",
    "Module": "module_map",
    "ModuleEdge": "module_map",
    "ModuleMap": "module_map",
    "Route": "answers",
    "ServedEdge": "edges",
    "Standing": "answers",
    "Step": "answers",
    "Tied": "answers",
    "Ties": "answers",
    "Why": "matches",
}

__all__ = [
    "Answers",
    "Carried",
    "CentralFile",
    "CodeGraph",
    "Cycle",
    "Cycles",
    "DataFlow",
    "Dependencies",
    "EdgeColumns",
    "Entries",
    "Entry",
    "FileGraph",
    "Flowing",
    "Found",
    "GraphColumns",
    "Guess",
    "Impact",
    "Level",
    "Match",
    "Module",
    "ModuleEdge",
    "ModuleMap",
    "Route",
    "ServedEdge",
    "Standing",
    "Step",
    "Tied",
    "Ties",
    "Why",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
