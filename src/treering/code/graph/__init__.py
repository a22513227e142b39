"""The code of a project as a graph in memory: impact, dependencies, data flow, cycles and modules."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treering.code.graph.answers import CodeAnswers as CodeAnswers
    from treering.code.graph.answers import CodeEntries as CodeEntries
    from treering.code.graph.answers import CodeEntry as CodeEntry
    from treering.code.graph.answers import Cycle as Cycle
    from treering.code.graph.answers import Cycles as Cycles
    from treering.code.graph.answers import Dependencies as Dependencies
    from treering.code.graph.answers import DependencyPath as DependencyPath
    from treering.code.graph.answers import Impact as Impact
    from treering.code.graph.answers import IndexStatus as IndexStatus
    from treering.code.graph.answers import NameCount as NameCount
    from treering.code.graph.answers import NameGuess as NameGuess
    from treering.code.graph.answers import PathStep as PathStep
    from treering.code.graph.answers import ReachedNode as ReachedNode
    from treering.code.graph.answers import ReachedNodes as ReachedNodes
    from treering.code.graph.code_graph import CodeGraph as CodeGraph
    from treering.code.graph.contents import GraphColumns as GraphColumns
    from treering.code.graph.cycles import CycleLevel as CycleLevel
    from treering.code.graph.edges import EdgeColumns as EdgeColumns
    from treering.code.graph.edges import ServedEdge as ServedEdge
    from treering.code.graph.file_graph import FileGraph as FileGraph
    from treering.code.graph.flows import DataFlow as DataFlow
    from treering.code.graph.flows import FlowKind as FlowKind
    from treering.code.graph.flows import FlowNode as FlowNode
    from treering.code.graph.matches import MatchReason as MatchReason
    from treering.code.graph.matches import NameMatch as NameMatch
    from treering.code.graph.matches import NameMatches as NameMatches
    from treering.code.graph.module_map import CentralFile as CentralFile
    from treering.code.graph.module_map import CodeModule as CodeModule
    from treering.code.graph.module_map import ModuleEdge as ModuleEdge
    from treering.code.graph.ranked_tests import TestFile as TestFile
    # Loaded on first use: a search for locations needs little of the graph.

# Loaded on first use: finding a place in the code needs little of the graph.
_MODULES = {
    "CodeAnswers": "answers",
    "FlowKind": "flows",
    "CentralFile": "module_map",
    "CodeGraph": "code_graph",
    "Cycle": "answers",
    "Cycles": "answers",
    "DataFlow": "flows",
    "Dependencies": "answers",
    "EdgeColumns": "edges",
    "CodeEntries": "answers",
    "CodeEntry": "answers",
    "FileGraph": "file_graph",
    "FlowNode": "flows",
    "NameMatches": "matches",
    "GraphColumns": "contents",
    "NameCount": "answers",
    "NameGuess": "answers",
    "TestFile": "ranked_tests",
    "Impact": "answers",
    "CycleLevel": "cycles",
    "NameMatch": "matches",
    "CodeModule": "module_map",
    "ModuleEdge": "module_map",
    "ModuleMap": "module_map",
    "DependencyPath": "answers",
    "ServedEdge": "edges",
    "IndexStatus": "answers",
    "PathStep": "answers",
    "ReachedNode": "answers",
    "ReachedNodes": "answers",
    "MatchReason": "matches",
}

__all__ = [
    "CentralFile",
    "CodeAnswers",
    "CodeEntries",
    "CodeEntry",
    "CodeGraph",
    "CodeModule",
    "Cycle",
    "CycleLevel",
    "Cycles",
    "DataFlow",
    "Dependencies",
    "DependencyPath",
    "EdgeColumns",
    "FileGraph",
    "FlowKind",
    "FlowNode",
    "GraphColumns",
    "Impact",
    "IndexStatus",
    "MatchReason",
    "ModuleEdge",
    "ModuleMap",
    "NameCount",
    "NameGuess",
    "NameMatch",
    "NameMatches",
    "PathStep",
    "ReachedNode",
    "ReachedNodes",
    "ServedEdge",
    "TestFile",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
