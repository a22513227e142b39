"""Packages that bring knowledge types."""

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points

from treering.core.errors import PluginFailed
from treering.core.payloads import KnowledgeType, register_knowledge_type

PLUG_INS = "treering.knowledge_types"
"""The entry point group of packages that bring knowledge types."""


@cache
def load_plug_ins() -> None:
    """Register the knowledge types that installed packages bring, once a process."""
    for entry in entry_points(group=PLUG_INS):
        try:
            _register(entry.load())
        except Exception as exc:
            package = entry.dist.name if entry.dist else entry.value
            raise PluginFailed(
                f"the knowledge type {entry.name!r} of the package {package!r} cannot be loaded "
                f"({type(exc).__name__}: {exc}); upgrade the package or uninstall it"
            ) from exc


def _register(plug_in: KnowledgeType | Callable[[], object]) -> None:
    if isinstance(plug_in, KnowledgeType):
        register_knowledge_type(plug_in.name, plug_in.payload, plug_in.half_life_days)
    else:
        plug_in()
