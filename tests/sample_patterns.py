"""Patterns for tests: kept, applied and held against episodes with a few steps."""

from datetime import datetime, timedelta
from typing import Any

from treering.core.episodes import Episode
from treering.core.patterns import Pattern
from treering.core.runs import Run
from treering.memory import Memory

HOUR = timedelta(hours=1)
STRATEGY = {"form": "strategy", "approach": "one step at a time"}
ROUTINE = ("git status", "pytest -q", "git commit -m x")


def keep(memory: Memory, name: str = "small steps", **fields: Any) -> Pattern:
    """A pattern for fixes."""
    told = {"category": "strategy", "content": STRATEGY, "applicability": {"problem_types": ["fix"]}, "id": name}
    return memory.patterns.add(name=name, **told | fields)


def pattern_stages(memory: Memory, *, dry_run: bool = False) -> tuple[Run, ...]:
    """What the night does with patterns."""
    return tuple(memory.maintenance.run(stage, dry_run=dry_run)[0] for stage in ("mine", "validate", "refine"))


def did(memory: Memory, id: str, *commands: str, **fields: Any) -> Episode:
    """An episode of a fix, each in its own session, that ran these commands; `!` before one says that it failed."""
    trace = [
        {
            "action": "run",
            "tool": "Bash",
            "input": command.removeprefix("!"),
            "output": "error: it broke" if command.startswith("!") else "ok",
            "is_error": command.startswith("!"),
        }
        for command in commands
    ]
    told = {"session": f"session of {id}", "task_type": "fix", "trace": trace}
    return memory.episode("fix the login", id=id, **told | fields)


def apply_often(memory: Memory, pattern: str, outcomes: str, *, prefix: str = "a", **fields: Any) -> None:
    """One session for each letter: S for success, P for part of it, F for failure."""
    status = {"S": "SUCCESS", "P": "PARTIAL", "F": "FAILURE"}
    for place, letter in enumerate(outcomes):
        told = {"session": f"{prefix}{place}", "task_type": "fix", **fields}
        memory.patterns.record_application(pattern, outcome=status[letter], **told)


def stand_beside(memory: Memory, outcomes: str, at: datetime | None = None) -> None:
    """Fixes that used no pattern: what the base rate is made of."""
    for place, letter in enumerate(outcomes):
        status = "SUCCESS" if letter == "S" else "FAILURE"
        told: dict[str, Any] = {"outcome": status, "session": f"beside {place}", "task_type": "fix"}
        memory.episode("fix the login", id=f"beside {place}", **told | ({"at": at} if at else {}))


def verdict(memory: Memory, id: str) -> Any:
    """What validation makes of one pattern now."""
    (found,) = (each.judged for each in memory.patterns.validate() if each.pattern == id)
    return found
