"""Recorded figures (recorded.json): the only source of the table in RESULTS.md, and what a new run is compared with."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Literal

from bench.registry import BENCHES, command_of
from bench.results import table

RECORDED = Path(__file__).with_name("recorded.json")
RESULTS = Path(__file__).with_name("RESULTS.md")
HEADERS = ("what", "how much", "goal", "best peer", "command", "date", "commit")
HEADER = """\
# Results

One line per figure. The linked page has the complete tables, the method, and where Treering falls short. A figure in
bold misses its goal. Times come from a shared two-core machine.

This file is generated from [recorded.json](recorded.json); [README](README.md) describes how to run and record.
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """One recorded figure. `noise` is the share of its value by which a new run may be worse without a warning.

    `short` figures are measured by the short run; the others are entered by hand after a long bench. Figures that are
    not `listed` are compared but have no line in RESULTS.md.
    """

    key: str
    bench: str
    what: str
    value: float
    unit: str
    better: Literal["higher", "lower"]
    noise: float
    date: str
    commit: str
    short: bool = False
    listed: bool = True
    goal: float | None = None
    peer: str = ""

    @property
    def misses_goal(self) -> bool:
        if self.goal is None:
            return False
        return self.value < self.goal if self.better == "higher" else self.value > self.goal

    def is_worse(self, value: float) -> bool:
        """Whether a new value is worse by more than noise."""
        allowed = abs(self.value) * self.noise + _ROUNDING
        return value < self.value - allowed if self.better == "higher" else value > self.value + allowed

    def is_better(self, value: float) -> bool:
        """Whether a new value is better by more than noise."""
        gained = value - self.value if self.better == "higher" else self.value - value
        return gained > abs(self.value) * self.noise + _ROUNDING


_ROUNDING = 1e-9
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Change:
    """A recorded figure and its new value."""

    figure: Figure
    value: float

    def __str__(self) -> str:
        figure = self.figure
        return f"{figure.what}: {shown(figure.value, figure.unit)} -> {shown(self.value, figure.unit)} ({figure.key})"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a new run says about the recorded figures. `missing` are short figures that it did not measure."""

    worse: tuple[Change, ...]
    better: tuple[Change, ...]
    missing: tuple[Figure, ...]


def compare(recorded: Iterable[Figure], measured: Mapping[str, float]) -> Comparison:
    """Compare a short run, rounded as recorded figures are; a measured key that is not recorded is a `KeyError`."""
    figures = {figure.key: figure for figure in recorded}
    changes = [Change(figures[key], round(value, _DIGITS)) for key, value in measured.items()]
    return Comparison(
        worse=tuple(change for change in changes if change.figure.is_worse(change.value)),
        better=tuple(change for change in changes if change.figure.is_better(change.value)),
        missing=tuple(figure for figure in figures.values() if figure.short and figure.key not in measured),
    )


def with_measured(
    recorded: Iterable[Figure], measured: Mapping[str, float], *, date: str, commit: str
) -> tuple[Figure, ...]:
    """The figures with the new values of those that were measured."""
    return tuple(
        replace(figure, value=round(measured[figure.key], _DIGITS), date=date, commit=commit)
        if figure.key in measured
        else figure
        for figure in recorded
    )


def read_recorded(path: Path = RECORDED) -> tuple[Figure, ...]:
    return tuple(Figure(**each) for each in json.loads(path.read_text("utf-8")))


def write_recorded(figures: Sequence[Figure], path: Path = RECORDED) -> None:
    """Write the figures, one a line; fields that have their default are left out."""
    lines = ",\n".join(json.dumps(_fields(figure), ensure_ascii=False) for figure in figures)
    path.write_text(f"[\n{lines}\n]\n", "utf-8")


def results_page(figures: Iterable[Figure]) -> str:
    """The text of RESULTS.md."""
    return f"{HEADER}\n{table(HEADERS, [_row(figure) for figure in figures if figure.listed])}\n"


def shown(value: float, unit: str) -> str:
    """A value with its unit: `1,416 ms`, `0.787`, `70 of 87`."""
    number = f"{round(value, _DIGITS):,}"
    return f"{number} {unit}" if unit else number


def _row(figure: Figure) -> tuple[str, ...]:
    value = shown(figure.value, figure.unit)
    sign = "≥" if figure.better == "higher" else "≤"
    return (
        f"[{figure.what}](results/{BENCHES[figure.bench].page}.md)",
        f"**{value}**" if figure.misses_goal else value,
        "" if figure.goal is None else f"{sign} {figure.goal:,}",
        figure.peer,
        f"`{command_of(figure.bench)}`",
        figure.date,
        figure.commit,
    )


def _fields(figure: Figure) -> dict[str, object]:
    defaults = {field.name: field.default for field in fields(Figure)}
    return {name: value for name, value in asdict(figure).items() if value != defaults[name]}
