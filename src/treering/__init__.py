"""Treering: memory for AI agents."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from treering.compose import load_settings as load_settings
    from treering.compose import open as open
    from treering.core.errors import TreeringError as TreeringError
    from treering.core.messages import Message as Message
    from treering.core.payloads import register_knowledge_type as register_knowledge_type
    from treering.core.queries import KnowledgeFilter as KnowledgeFilter
    from treering.core.queries import SearchFilter as SearchFilter
    from treering.core.queries import TurnFilter as TurnFilter
    from treering.core.settings import Settings as Settings
    from treering.memory import Memory as Memory

# Loaded on first use: `import treering` stays short for whoever only wants the version or the hooks.
_PUBLIC = {
    "open": "treering.compose",
    "load_settings": "treering.compose",
    "Memory": "treering.memory",
    "Message": "treering.core.messages",
    "Settings": "treering.core.settings",
    "TreeringError": "treering.core.errors",
    "KnowledgeFilter": "treering.core.queries",
    "SearchFilter": "treering.core.queries",
    "TurnFilter": "treering.core.queries",
    "register_knowledge_type": "treering.core.payloads",
}

__all__ = [
    "KnowledgeFilter",
    "Memory",
    "Message",
    "SearchFilter",
    "Settings",
    "TreeringError",
    "TurnFilter",
    "load_settings",
    "open",
    "register_knowledge_type",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'treering' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PUBLIC[name]), name)
