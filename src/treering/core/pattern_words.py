"""Patterns in plain words, a line each: where they apply, and what they say to do."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from treering.core.conditions import explain
from treering.core.patterns import (
    Applicability,
    Heuristic,
    Parameter,
    Pattern,
    PatternContent,
    Procedure,
    Strategy,
    Subtask,
    Template,
)
from treering.core.values import Value

ANYTHING = "any task"


def where(applicability: Applicability) -> tuple[str, ...]:
    """What a pattern asks of a task."""
    return tuple(_asked(applicability)) or (ANYTHING,)


def advice_of(pattern: Pattern) -> str:
    """What a pattern says to do, and how."""
    return "\n".join(filter(None, (pattern.summary or pattern.description, *doing(pattern), pattern.guidance.how)))


def doing(pattern: Pattern) -> tuple[str, ...]:
    """What it says to do, and what that risks."""
    return (*said(pattern.content), *(f"risk: {each}" for each in pattern.guidance.risks))


def said(content: PatternContent) -> tuple[str, ...]:
    """What a content says to do, whatever its form; subtasks stand after those they depend on."""
    return tuple(_SAID[type(content)](content))


def in_order(subtasks: Sequence[Subtask]) -> tuple[Subtask, ...]:
    """Each after those it depends on, otherwise as they are written; `CycleError` has the places that go in circles."""
    places = {each.title: place for place, each in enumerate(subtasks)}
    sorter = TopologicalSorter(
        {place: {places[title] for title in each.depends_on if title in places} for place, each in enumerate(subtasks)}
    )
    sorter.prepare()
    ordered, ready = list[Subtask](), set[int]()
    while sorter.is_active():
        ready.update(sorter.get_ready())
        first = min(ready)
        ready.remove(first)
        ordered.append(subtasks[first])
        sorter.done(first)
    return tuple(ordered)


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
    for number, each in enumerate(_as_far_as_ordered(content.structure), start=1):
        told = f": {each.description}" if each.description else ""
        after = f" (after {listed(each.depends_on, 'and')})" if each.depends_on else ""
        yield f"{number}. {each.title}{told}{after}"
    yield from map(_parameter, content.parameters)
    yield from (f"rule: {each}" for each in content.rules)


def _as_far_as_ordered(subtasks: Sequence[Subtask]) -> Sequence[Subtask]:
    """Reading a template that goes in circles is no error; making it into subtasks is."""
    try:
        return in_order(subtasks)
    except CycleError:
        return subtasks


def _parameter(parameter: Parameter) -> str:
    told = f": {parameter.description}" if parameter.description else ""
    default = f", {parameter.default} without one" if parameter.default is not None else ""
    return f"{{{parameter.name}}}{told}{default}{'' if parameter.required else ', may be left out'}"


def _heuristic(content: Heuristic) -> Iterator[str]:
    yield f"where {explain(content.condition)}: {content.action}"
    if content.rationale:
        yield f"because {content.rationale}"


def _procedure(content: Procedure) -> Iterator[str]:
    for number, each in enumerate(content.steps, start=1):
        turns = "".join(f"; where {explain(condition)} go to {name}" for condition, name in each.next_if)
        # Said once: a name that is the action, or that the number says already.
        named = "" if each.name in (each.action, f"{number}", f"step {number}") else f"{each.name}: "
        yield f"{number}. {named}{each.action}{turns}"
    yield from (f"ends where {explain(each)}" for each in content.ends_when)


_SAID: Mapping[type[Value], Callable[..., Iterator[str]]] = {
    Strategy: _strategy,
    Template: _template,
    Heuristic: _heuristic,
    Procedure: _procedure,
}
