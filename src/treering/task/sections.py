"""The parts of a working memory: what each may take of the prompt, and what stands in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from treering.core.settings import WorkingSettings


class Section(StrEnum):
    SYSTEM = "system"
    TASK = "task"
    EXECUTION = "execution"
    RESULTS = "results"
    RETRIEVED = "retrieved"


class Temperature(StrEnum):
    """Hot is always shown, warm where there is room, cold as one line."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of item: where it stands, how warm it is, how it is headed, and whether others wrote it.

    What does not `leave` is held elsewhere: it may go from sight without being stored.
    """

    section: Section
    temperature: Temperature
    heading: str
    outside: bool = False
    leaves: bool = True


HOT, WARM, COLD = Temperature.HOT, Temperature.WARM, Temperature.COLD

# In the order in which they are shown within one temperature.
KINDS: Mapping[str, Kind] = {
    "description": Kind(Section.TASK, HOT, "Task"),
    "goal": Kind(Section.TASK, HOT, "Goal"),
    "criterion": Kind(Section.TASK, HOT, "Done when"),
    "critical": Kind(Section.TASK, HOT, "Must"),
    "current": Kind(Section.EXECUTION, HOT, "Now"),
    "system": Kind(Section.SYSTEM, WARM, "System"),
    "constraint": Kind(Section.TASK, WARM, "Constraint"),
    "step": Kind(Section.TASK, WARM, "Plan"),
    "state": Kind(Section.EXECUTION, WARM, "State", outside=True, leaves=False),
    "failure": Kind(Section.EXECUTION, WARM, "Failed", outside=True),
    "result": Kind(Section.RESULTS, WARM, "Output", outside=True),
    "task variable": Kind(Section.TASK, WARM, "Value", leaves=False),
    "accumulator": Kind(Section.RESULTS, WARM, "Gathered", leaves=False),
    "control_flow variable": Kind(Section.EXECUTION, WARM, "Value", leaves=False),
    "intermediate variable": Kind(Section.RESULTS, WARM, "Value", leaves=False),
    "retrieved": Kind(Section.RETRIEVED, WARM, "Memory", outside=True, leaves=False),
    "done": Kind(Section.EXECUTION, WARM, "Done", leaves=False),
    "trace": Kind(Section.EXECUTION, COLD, "Trace", outside=True),
    "metadata variable": Kind(Section.EXECUTION, COLD, "Value", leaves=False),
}
RANKS: Mapping[str, int] = {name: rank for rank, name in enumerate(KINDS)}


def budgets(settings: WorkingSettings) -> Mapping[Section, int]:
    """The most tokens of each section: its share of the total, so that all together never take more."""
    shares = {section: int(getattr(settings, section.value)) for section in Section}
    whole = sum(shares.values())
    return {section: share * settings.total // whole for section, share in shares.items()}
