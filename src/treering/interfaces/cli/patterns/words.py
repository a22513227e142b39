"""Patterns in lines of words: where they apply, what they do, and what a change did to that."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from treering.core.conditions import explain
from treering.core.patterns import Applicability, Heuristic, Pattern, Procedure, Strategy, Template
from treering.core.values import Value

ANYTHING = "any task"


@dataclass(frozen=True, slots=True)
class Change:
    """A line that was taken away or came in."""

    added: bool
    line: str


def where(applicability: Applicability) -> list[str]:
    """What a pattern asks of a task, a line each."""
    return list(_asked(applicability)) or [ANYTHING]


def doing(content: Value) -> list[str]:
    """What it says to do, a line each."""
    return list(_DOING[type(content)](content))


def changes(before: Pattern, after: Pattern) -> list[Change]:
    """What of the name, the place and the deed of a pattern is another, in words; lines that stayed are left out."""
    return [change for part in _PARTS for change in _changed(part(before), part(after))]


def listed(names: Iterable[str], last: str = "or") -> str:
    """`a, b or c`."""
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end


def _asked(asked: Applicability) -> Iterator[str]:
    if asked.problem_types:
        yield f"task type is {listed(asked.problem_types)}"
    if asked.domains:
        yield f"domain is {listed(asked.domains)}"
    if (asked.complexity_min, asked.complexity_max) != (0.0, 1.0):
        yield f"complexity is between {asked.complexity_min:g} and {asked.complexity_max:g}"
    if asked.capabilities:
        yield f"{listed(asked.capabilities, 'and')} {'are' if len(asked.capabilities) > 1 else 'is'} at hand"
    yield from (f"only where {explain(each)}" for each in asked.conditions)
    yield from (f"not where {explain(each)}" for each in asked.anti_conditions)


def _strategy(content: Strategy) -> Iterator[str]:
    yield content.approach
    yield from (f"principle: {each}" for each in content.principles)
    if content.trade_offs:
        yield f"trade-offs: {content.trade_offs}"


def _template(content: Template) -> Iterator[str]:
    for number, each in enumerate(content.structure, start=1):
        told = f": {each.description}" if each.description else ""
        after = f" (after {listed(each.depends_on, 'and')})" if each.depends_on else ""
        yield f"{number}. {each.title}{told}{after}"
    for parameter in content.parameters:
        told = f": {parameter.description}" if parameter.description else ""
        default = f", {parameter.default} without one" if parameter.default is not None else ""
        yield f"{{{parameter.name}}}{told}{default}{'' if parameter.required else ', may be left out'}"
    yield from (f"rule: {each}" for each in content.rules)


def _heuristic(content: Heuristic) -> Iterator[str]:
    yield f"where {explain(content.condition)}: {content.action}"
    if content.rationale:
        yield f"because {content.rationale}"


def _procedure(content: Procedure) -> Iterator[str]:
    for number, each in enumerate(content.steps, start=1):
        turns = "".join(f"; where {explain(condition)} go to {name}" for condition, name in each.next_if)
        action = "" if each.action == each.name else f": {each.action}"
        yield f"{number}. {each.name}{action}{turns}"
    yield from (f"ends where {explain(each)}" for each in content.ends_when)


_DOING: Mapping[type[Value], Callable[..., Iterator[str]]] = {
    Strategy: _strategy,
    Template: _template,
    Heuristic: _heuristic,
    Procedure: _procedure,
}
_PARTS: tuple[Callable[[Pattern], Sequence[str]], ...] = (
    lambda each: [f"name: {each.name}"],
    lambda each: where(each.applicability),
    lambda each: doing(each.content),
)


def _changed(before: Sequence[str], after: Sequence[str]) -> Iterator[Change]:
    yield from (Change(False, line) for line in before if line not in after)
    yield from (Change(True, line) for line in after if line not in before)
