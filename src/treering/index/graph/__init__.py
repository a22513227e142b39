"""The code of a project as a graph in memory: what a change reaches, what rests on what, how it falls into modules."""

from treering.index.graph.answers import (
    Answers,
    Cycle,
    Cycles,
    Dependencies,
    Entries,
    Entry,
    Guess,
    Impact,
    Route,
    Standing,
    Step,
    Tied,
    Ties,
)
from treering.index.graph.code_graph import CodeGraph
from treering.index.graph.contents import GraphColumns
from treering.index.graph.cycles import Level
from treering.index.graph.edges import EdgeColumns, ServedEdge
from treering.index.graph.file_graph import FileGraph
from treering.index.graph.flows import Carried, DataFlow, Flowing
from treering.index.graph.matches import Found, Match, Why
from treering.index.graph.module_map import CentralFile, Module, ModuleEdge, ModuleMap

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
