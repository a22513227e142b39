"""Descriptions of the settings, taken from the docstrings of their fields."""

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

from treering.core.settings import Settings


@cache
def setting_descriptions() -> Mapping[str, str]:
    """What each setting does, by its name, such as `search.limit`; empty if the sources are not installed."""
    return {
        f"{section}.{name}": text
        for section, each in Settings.model_fields.items()
        if isinstance(each.annotation, type)
        for name, text in _field_docstrings(each.annotation)
    }


def _field_docstrings(kind: type) -> Iterator[tuple[str, str]]:
    """Fields of a class, each with the string that follows it."""
    try:
        source = textwrap.dedent(inspect.getsource(kind))
    except (OSError, TypeError):
        return
    body = next(each for each in ast.parse(source).body if isinstance(each, ast.ClassDef)).body
    for before, after in pairwise(body):
        match before, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())
