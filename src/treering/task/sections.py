"""The sections of a working memory, their token budgets and the kinds of items in them."""

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
    """Hot items are always shown, warm ones if they fit, cold ones as one line."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


@dataclass(frozen=True, slots=True)
class ItemKind:
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
KINDS: Mapping[str, ItemKind] = {
    "description": ItemKind(Section.TASK, HOT, "Task"),
    "goal": ItemKind(Section.TASK, HOT, "Goal"),
    "criterion": ItemKind(Section.TASK, HOT, "Done when"),
    "critical": ItemKind(Section.TASK, HOT, "Must"),
    "current": ItemKind(Section.EXECUTION, HOT, "Now"),
    "system": ItemKind(Section.SYSTEM, WARM, "System"),
    "constraint": ItemKind(Section.TASK, WARM, "Constraint"),
    "step": ItemKind(Section.TASK, WARM, "Plan"),
    "state": ItemKind(Section.EXECUTION, WARM, "State", outside=True, leaves=False),
    "failure": ItemKind(Section.EXECUTION, WARM, "Failed", outside=True),
    "result": ItemKind(Section.RESULTS, WARM, "Output", outside=True),
    "task variable": ItemKind(Section.TASK, WARM, "Value", leaves=False),
    "accumulator": ItemKind(Section.RESULTS, WARM, "Gathered", leaves=False),
    "control_flow variable": ItemKind(Section.EXECUTION, WARM, "Value", leaves=False),
    "intermediate variable": ItemKind(Section.RESULTS, WARM, "Value", leaves=False),
    "retrieved": ItemKind(Section.RETRIEVED, WARM, "Memory", outside=True, leaves=False),
    "done": ItemKind(Section.EXECUTION, WARM, "Done", leaves=False),
    "trace": ItemKind(Section.EXECUTION, COLD, "Trace", outside=True),
    "metadata variable": ItemKind(Section.EXECUTION, COLD, "Value", leaves=False),
}
RANKS: Mapping[str, int] = {name: rank for rank, name in enumerate(KINDS)}


def budgets(settings: WorkingSettings) -> Mapping[Section, int]:
    """Maximum tokens of each section: its share of the total, so that their sum never exceeds it."""
    shares = {section: int(getattr(settings, section.value)) for section in Section}
    total_shares = sum(shares.values())
    return {section: share * settings.total // total_shares for section, share in shares.items()}
