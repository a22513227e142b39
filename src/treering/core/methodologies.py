"""Methodologies of work: their names for phases, work units, and the stages that hand over to each other."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from treering.core.errors import InvalidInput
from treering.core.phases import NATIVE_PHASES, Phase
from treering.core.records import WorkUnit


@dataclass(frozen=True, slots=True)
class HandOver:
    """One stage hands what it recorded to the next; `types` limits it to these knowledge types (empty: all)."""

    giver: str
    receiver: str
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Methodology:
    """Names of a methodology. `units` are those of its work units from large to small: ("epic", "story")."""

    name: str
    title: str
    phases: Mapping[str, Phase]
    units: tuple[str, ...]
    hand_overs: tuple[HandOver, ...]

    def work_unit(self, *names: str) -> WorkUnit:
        """The unit of work with these names, from large to small: ("042", "3") is subtask 3 of spec 042."""
        if not 0 < len(names) <= len(self.units):
            raise InvalidInput(
                f"a work unit of {self.title} has up to {len(self.units)} names: {', '.join(self.units)}"
            )
        labels = (f"{unit.capitalize()} {name}" for unit, name in zip(self.units, names, strict=False))
        return WorkUnit.make(methodology=self.name, hierarchy=names, label=" / ".join(labels))

    def hand_over_to(self, stage: str) -> HandOver | None:
        """What the stage receives; None for the first one. Raises `InvalidInput` for an unknown stage."""
        if stage not in self.stages:
            known = ", ".join(self.stages)
            raise InvalidInput(f"{stage!r} is not a stage of {self.title}; use one of {known}")
        return next((each for each in self.hand_overs if each.receiver == stage), None)

    @property
    def stages(self) -> tuple[str, ...]:
        """All stages in their order."""
        return tuple(dict.fromkeys(name for each in self.hand_overs for name in (each.giver, each.receiver)))


NATIVE = Methodology(
    "native",
    "Subtasks",
    NATIVE_PHASES,
    ("spec", "subtask"),
    (
        HandOver("planner", "coder"),
        HandOver("coder", "reviewer"),
        HandOver("reviewer", "fixer", ("error_pattern", "requirement")),
    ),
)
BMAD = Methodology(
    "bmad",
    "BMAD",
    MappingProxyType(
        {
            "analysis": Phase.EXPLORE,
            "research": Phase.EXPLORE,
            "brainstorming": Phase.EXPLORE,
            "brief": Phase.DEFINE,
            "prd": Phase.DEFINE,
            "planning": Phase.DEFINE,
            "solutioning": Phase.DEFINE,
            "architecture": Phase.DEFINE,
            "story": Phase.DEFINE,
            "dev": Phase.IMPLEMENT,
            "development": Phase.IMPLEMENT,
            "implementation": Phase.IMPLEMENT,
            "qa": Phase.VALIDATE,
            "review": Phase.VALIDATE,
            "correct_course": Phase.REFINE,
            "retrospective": Phase.REFLECT,
        }
    ),
    ("epic", "story", "task"),
    (
        HandOver("analyst", "pm"),
        HandOver("pm", "architect"),
        HandOver("architect", "scrum_master"),
        HandOver("scrum_master", "dev"),
        HandOver("dev", "qa"),
    ),
)
TDD = Methodology(
    "tdd",
    "Test-driven development",
    MappingProxyType({"red": Phase.DEFINE, "green": Phase.IMPLEMENT, "refactor": Phase.REFINE}),
    ("feature", "cycle"),
    (
        HandOver("red", "green", ("requirement", "error_pattern", "gotcha")),
        HandOver("green", "refactor"),
    ),
)
_KNOWN: dict[str, Methodology] = {each.name: each for each in (NATIVE, BMAD, TDD)}


def register_methodology(methodology: Methodology) -> Methodology:
    """Add a methodology. The same one may be registered twice; another one under its name raises `InvalidInput`."""
    if not methodology.name.isidentifier():
        raise InvalidInput(f"{methodology.name!r} is not a name of a methodology; use letters, digits and underscores")
    if _KNOWN.setdefault(methodology.name, methodology) != methodology:
        raise InvalidInput(f"methodology {methodology.name!r} exists already; choose another name")
    return methodology


def methodology(name: str) -> Methodology:
    """The methodology of this name. Raises `InvalidInput` with the known ones for any other."""
    try:
        return _KNOWN[name]
    except (KeyError, TypeError):
        known = ", ".join(_KNOWN)
        raise InvalidInput(f"{name!r} is not a known methodology; use one of {known}, or register it") from None


def phase_named(name: str) -> Phase:
    """The phase of this name, in any spelling, or of the phase that a methodology calls so. Raises `InvalidInput`."""
    plain = "_".join(re.findall(r"[a-z]+", name.lower()))
    names = (each.phases.get(plain) for each in _KNOWN.values())
    found = next((phase for phase in names if phase is not None), None)
    try:
        return found or Phase(plain)
    except ValueError:
        known = ", ".join((*Phase, *(each for known in _KNOWN.values() for each in known.phases)))
        raise InvalidInput(f"{name!r} is not a phase; use one of {known}") from None
