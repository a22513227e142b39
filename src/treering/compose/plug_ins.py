"""Plug-ins: packages that provide knowledge types."""

import os
import sys
from collections.abc import Callable
from functools import cache

from treering.core.errors import PluginFailed
from treering.core.payloads import KnowledgeType, register_knowledge_type

PLUG_INS = "treering.knowledge_types"
"""Entry point group of packages that provide knowledge types."""
_METADATA = (".dist-info", ".egg-info", "EGG-INFO")


@cache
def load_plug_ins() -> None:
    """Register the knowledge types of installed packages, once per process."""
    if not any(_may_declare(folder) for folder in dict.fromkeys(sys.path)):
        return
    from importlib.metadata import entry_points

    for entry in entry_points(group=PLUG_INS):
        try:
            _register(entry.load())
        except Exception as exc:
            package = entry.dist.name if entry.dist else entry.value
            raise PluginFailed(
                f"the knowledge type {entry.name!r} of the package {package!r} cannot be loaded "
                f"({type(exc).__name__}: {exc}); upgrade the package or uninstall it"
            ) from exc


def _may_declare(folder: str) -> bool:
    """Whether a package in this folder of the import path declares plug-ins.

    `entry_points` parses the metadata of every installed package, which takes longer than the rest of a short command.
    """
    try:
        with os.scandir(folder or os.curdir) as entries:
            packages = [entry.path for entry in entries if entry.name.endswith(_METADATA)]
    except NotADirectoryError:
        return True  # an archive: `entry_points` can look into it
    except OSError:
        return False
    return any(PLUG_INS in _declared(package) for package in packages)


def _declared(package: str) -> str:
    try:
        with open(os.path.join(package, "entry_points.txt"), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _register(plug_in: KnowledgeType | Callable[[], object]) -> None:
    if isinstance(plug_in, KnowledgeType):
        register_knowledge_type(plug_in.name, plug_in.payload, plug_in.half_life_days)
    else:
        plug_in()
