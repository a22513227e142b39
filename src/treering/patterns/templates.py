"""Instantiation of templates: parameters are filled in and the order of subtasks is checked."""

import re
from collections.abc import Mapping, Sequence
from graphlib import CycleError

from treering.core.errors import InvalidInput
from treering.core.pattern_words import dependency_order
from treering.core.patterns import Parameter, PatternContent, Procedure, Template, TemplateSubtask

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def instantiate(template: Template, values: Mapping[str, object]) -> tuple[TemplateSubtask, ...]:
    """The subtasks, each after those it depends on, otherwise in the order of the template.

    `{name}` is replaced by the value of that parameter in titles, descriptions and dependencies. Braces in values, and
    braces around anything but a parameter, are kept literally.
    """
    given = _parameter_values(template.parameters, values)
    subtasks = [_fill(each, given) for each in template.structure]
    _check_titles(subtasks)
    return _in_order(subtasks)


def _parameter_values(parameters: Sequence[Parameter], values: Mapping[str, object]) -> Mapping[str, str]:
    """A value for every parameter: the one given, else its default, else empty if it is optional."""
    names = [each.name for each in parameters]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidInput(f"the template declares {_quoted(repeated)} more than once; rename one")
    if unknown := sorted(set(values) - set(names)):
        raise InvalidInput(f"the template has no parameter {_quoted(unknown)}; it has {_quoted(names) or 'none'}")
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    if wrong := sorted(set(values) - set(texts)):
        raise InvalidInput(f"the value of {_quoted(wrong)} is not a string; pass it as a string")
    missing = [each for each in parameters if each.required and each.default is None and each.name not in texts]
    if missing:
        wanted = ", ".join(f"{each.name!r}{f' ({each.description})' if each.description else ''}" for each in missing)
        raise InvalidInput(f"the template needs a value for {wanted}")
    return {each.name: texts.get(each.name, each.default or "") for each in parameters}


def _fill(subtask: TemplateSubtask, given: Mapping[str, str]) -> TemplateSubtask:
    def fill(text: str) -> str:
        return _PLACEHOLDER.sub(lambda found: given.get(found[1], found[0]), text)

    return TemplateSubtask.make(
        title=fill(subtask.title),
        description=fill(subtask.description),
        depends_on=tuple(map(fill, subtask.depends_on)),
    )


def _check_titles(subtasks: Sequence[TemplateSubtask]) -> None:
    titles = [each.title for each in subtasks]
    if any(not title.strip() for title in titles):
        raise InvalidInput("a subtask has no title once its parameters are filled in; give them values")
    if repeated := sorted({title for title in titles if titles.count(title) > 1}):
        raise InvalidInput(f"several subtasks are called {_quoted(repeated)}; dependencies need titles that differ")
    for each in subtasks:
        if unknown := [title for title in each.depends_on if title not in titles]:
            raise InvalidInput(
                f"{each.title!r} depends on {_quoted(unknown)}, but no subtask has that title; "
                f"the titles are {_quoted(titles)}"
            )


def _in_order(subtasks: Sequence[TemplateSubtask]) -> tuple[TemplateSubtask, ...]:
    try:
        return dependency_order(subtasks)
    except CycleError as exc:
        cycle = " → ".join(repr(subtasks[index].title) for index in reversed(exc.args[1]))
        raise InvalidInput(f"subtasks depend on each other in a cycle: {cycle}; remove one dependency") from exc


def check_content(content: PatternContent) -> None:
    """Raise `InvalidInput` for content that cannot be followed: no steps, an unknown next step, cyclic subtasks."""
    if isinstance(content, Template):
        if not content.structure:
            raise InvalidInput("the template has no subtasks; say in `structure` what is to be done")
        _check_titles(content.structure)
        _in_order(content.structure)
    elif isinstance(content, Procedure):
        if not content.steps:
            raise InvalidInput("the procedure has no steps; say in `steps` what is to be done")
        names = [each.name for each in content.steps]
        if unknown := sorted({name for each in content.steps for _, name in each.next_if if name not in names}):
            raise InvalidInput(
                f"the procedure continues with {_quoted(unknown)}, but has no such step; its steps are {_quoted(names)}"
            )


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
