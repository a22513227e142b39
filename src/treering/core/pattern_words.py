"""Text rendering of patterns: where they apply and what to do, one item per line."""

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
    Template,
    TemplateSubtask,
)
from treering.core.values import Value

ANYTHING = "any task"


def requirement_lines(applicability: Applicability) -> tuple[str, ...]:
    """Requirements of a pattern, one per line."""
    return tuple(_requirements(applicability)) or (ANYTHING,)


def instruction_lines(pattern: Pattern) -> tuple[str, ...]:
    """Instructions of a pattern, followed by its risks."""
    return (*content_lines(pattern.content), *(f"risk: {each}" for each in pattern.guidance.risks))


def advice_of(pattern: Pattern) -> str:
    """Summary, instructions and guidance of a pattern."""
    lines = (pattern.summary or pattern.description, *instruction_lines(pattern), pattern.guidance.how)
    return "\n".join(filter(None, lines))


def content_lines(content: PatternContent) -> tuple[str, ...]:
    """Instructions of a content of any form; subtasks follow those they depend on."""
    return tuple(_RENDERERS[type(content)](content))


def dependency_order(subtasks: Sequence[TemplateSubtask]) -> tuple[TemplateSubtask, ...]:
    """Subtasks after those they depend on, otherwise in written order. `CycleError` names the indexes of a cycle."""
    places = {each.title: place for place, each in enumerate(subtasks)}
    sorter = TopologicalSorter(
        {place: {places[title] for title in each.depends_on if title in places} for place, each in enumerate(subtasks)}
    )
    sorter.prepare()
    ordered, ready = list[TemplateSubtask](), set[int]()
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


def _requirements(required: Applicability) -> Iterator[str]:
    if required.problem_types:
        yield f"task type is {listed(required.problem_types)}"
    if required.domains:
        yield f"domain is {listed(required.domains)}"
    if (required.complexity_min, required.complexity_max) != (0.0, 1.0):
        yield f"complexity is between {required.complexity_min:g} and {required.complexity_max:g}"
    if required.capabilities:
        yield f"{listed(required.capabilities, 'and')} {'are' if len(required.capabilities) > 1 else 'is'} available"
    yield from (f"only where {explain(each)}" for each in required.conditions)
    yield from (f"not where {explain(each)}" for each in required.anti_conditions)


def _strategy(content: Strategy) -> Iterator[str]:
    yield content.approach
    yield from (f"principle: {each}" for each in content.principles)
    if content.trade_offs:
        yield f"trade-offs: {content.trade_offs}"


def _template(content: Template) -> Iterator[str]:
    for number, each in enumerate(_ordered_or_written(content.structure), start=1):
        description = f": {each.description}" if each.description else ""
        after = f" (after {listed(each.depends_on, 'and')})" if each.depends_on else ""
        yield f"{number}. {each.title}{description}{after}"
    yield from map(_parameter, content.parameters)
    yield from (f"rule: {each}" for each in content.rules)


def _ordered_or_written(subtasks: Sequence[TemplateSubtask]) -> Sequence[TemplateSubtask]:
    """Subtasks in order; in written order if their dependencies are cyclic."""
    try:
        return dependency_order(subtasks)
    except CycleError:
        return subtasks


def _parameter(parameter: Parameter) -> str:
    description = f": {parameter.description}" if parameter.description else ""
    default = f", {parameter.default} without one" if parameter.default is not None else ""
    return f"{{{parameter.name}}}{description}{default}{'' if parameter.required else ', may be left out'}"


def _heuristic(content: Heuristic) -> Iterator[str]:
    yield f"where {explain(content.condition)}: {content.action}"
    if content.rationale:
        yield f"because {content.rationale}"


def _procedure(content: Procedure) -> Iterator[str]:
    for number, each in enumerate(content.steps, start=1):
        turns = "".join(f"; where {explain(condition)} go to {name}" for condition, name in each.next_if)
        # Leave out a name that repeats the action or the number.
        named = "" if each.name in (each.action, f"{number}", f"step {number}") else f"{each.name}: "
        yield f"{number}. {named}{each.action}{turns}"
    yield from (f"ends where {explain(each)}" for each in content.ends_when)


_RENDERERS: Mapping[type[Value], Callable[..., Iterator[str]]] = {
    Strategy: _strategy,
    Template: _template,
    Heuristic: _heuristic,
    Procedure: _procedure,
}
