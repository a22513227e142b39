"""The sections of a working memory, their token budgets and the kinds of items in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from treering.core.settings import TaskSettings


class Section(StrEnum):
    SYSTEM = "system"
    TASK = "task"
    EXECUTION = "execution"
    RESULTS = "results"
    RETRIEVED = "retrieved"


class Temperature(StrEnum):
    """Hot items are always shown, warm ones if they fit, cold ones as one line."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


@dataclass(frozen=True, slots=True)
class SectionItemKind:
    """A kind of item: its section, temperature and heading, and whether its content comes from `outside`.

    Items that do not `leave` are held elsewhere, so they can be hidden without being stored.
    """

    section: Section
    temperature: Temperature
    heading: str
    outside: bool = False
    leaves: bool = True


HOT, WARM, COLD = Temperature.HOT, Temperature.WARM, Temperature.COLD

# In display order within one temperature.
KINDS: Mapping[str, SectionItemKind] = {
    "description": SectionItemKind(Section.TASK, HOT, "Task"),
    "goal": SectionItemKind(Section.TASK, HOT, "Goal"),
    "criterion": SectionItemKind(Section.TASK, HOT, "Done when"),
    "critical": SectionItemKind(Section.TASK, HOT, "Must"),
    "current": SectionItemKind(Section.EXECUTION, HOT, "Now"),
    "system": SectionItemKind(Section.SYSTEM, WARM, "System"),
    "constraint": SectionItemKind(Section.TASK, WARM, "Constraint"),
    "step": SectionItemKind(Section.TASK, WARM, "Plan"),
    "state": SectionItemKind(Section.EXECUTION, WARM, "State", outside=True, leaves=False),
    "failure": SectionItemKind(Section.EXECUTION, WARM, "Failed", outside=True),
    "result": SectionItemKind(Section.RESULTS, WARM, "Output", outside=True),
    "task variable": SectionItemKind(Section.TASK, WARM, "Value", leaves=False),
    "accumulator": SectionItemKind(Section.RESULTS, WARM, "Gathered", leaves=False),
    "control_flow variable": SectionItemKind(Section.EXECUTION, WARM, "Value", leaves=False),
    "intermediate variable": SectionItemKind(Section.RESULTS, WARM, "Value", leaves=False),
    "retrieved": SectionItemKind(Section.RETRIEVED, WARM, "Memory", outside=True, leaves=False),
    "done": SectionItemKind(Section.EXECUTION, WARM, "Done", leaves=False),
    "trace": SectionItemKind(Section.EXECUTION, COLD, "Trace", outside=True),
    "metadata variable": SectionItemKind(Section.EXECUTION, COLD, "Value", leaves=False),
}
RANKS: Mapping[str, int] = {name: rank for rank, name in enumerate(KINDS)}


def budgets(settings: TaskSettings) -> Mapping[Section, int]:
    """Maximum tokens of each section: its share of the total, so that their sum never exceeds it."""
    shares = {section: int(getattr(settings, section.value)) for section in Section}
    total_shares = sum(shares.values())
    return {section: share * settings.total // total_shares for section, share in shares.items()}
