"""Treering: memory for AI agents."""

TYPE_CHECKING = False  # not from `typing`: every hook process imports this package
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from treering.client import Client as Client
    from treering.compose import load_settings as load_settings
    from treering.compose import open as open
    from treering.context.briefing import Briefing as Briefing
    from treering.conversation.api import Conversation as Conversation
    from treering.core.entities import Entity as Entity
    from treering.core.episodes import Episode as Episode
    from treering.core.errors import TreeringError as TreeringError
    from treering.core.injections import Injection as Injection
    from treering.core.injections import InjectionPoint as InjectionPoint
    from treering.core.injections import Occasion as Occasion
    from treering.core.messages import Message as Message
    from treering.core.methodologies import HandOver as HandOver
    from treering.core.methodologies import Methodology as Methodology
    from treering.core.methodologies import register_methodology as register_methodology
    from treering.core.patterns import Pattern as Pattern
    from treering.core.payloads import register_knowledge_type as register_knowledge_type
    from treering.core.phases import Phase as Phase
    from treering.core.queries import EpisodeFilter as EpisodeFilter
    from treering.core.queries import KnowledgeFilter as KnowledgeFilter
    from treering.core.queries import PatternFilter as PatternFilter
    from treering.core.queries import SearchFilter as SearchFilter
    from treering.core.queries import TimeRange as TimeRange
    from treering.core.queries import TurnFilter as TurnFilter
    from treering.core.records import Knowledge as Knowledge
    from treering.core.records import Relation as Relation
    from treering.core.records import Source as Source
    from treering.core.scope import Scope as Scope
    from treering.core.scope import Visibility as Visibility
    from treering.core.settings import Settings as Settings
    from treering.core.taint import Taint as Taint
    from treering.core.turns import Turn as Turn
    from treering.knowledge.authors import Author as Author
    from treering.knowledge.authors import Reason as Reason
    from treering.memory import Memory as Memory
    from treering.render.budget import RenderedContext as RenderedContext
    from treering.search.answer import Answer as Answer
    from treering.search.answer import Confidence as Confidence
    from treering.search.answer import Hit as Hit
    from treering.task.api import Task as Task

# Imported on first use, so that `import treering` stays fast.
_PUBLIC = {
    "open": "treering.compose",
    "Answer": "treering.search.answer",
    "Author": "treering.knowledge.authors",
    "Briefing": "treering.context.briefing",
    "Client": "treering.client",
    "Confidence": "treering.search.answer",
    "Conversation": "treering.conversation.api",
    "Entity": "treering.core.entities",
    "Episode": "treering.core.episodes",
    "EpisodeFilter": "treering.core.queries",
    "HandOver": "treering.core.methodologies",
    "Hit": "treering.search.answer",
    "Injection": "treering.core.injections",
    "InjectionPoint": "treering.core.injections",
    "Knowledge": "treering.core.records",
    "KnowledgeFilter": "treering.core.queries",
    "load_settings": "treering.compose",
    "Memory": "treering.memory",
    "Message": "treering.core.messages",
    "Methodology": "treering.core.methodologies",
    "Occasion": "treering.core.injections",
    "Pattern": "treering.core.patterns",
    "PatternFilter": "treering.core.queries",
    "Phase": "treering.core.phases",
    "Reason": "treering.knowledge.authors",
    "Relation": "treering.core.records",
    "RenderedContext": "treering.render.budget",
    "Scope": "treering.core.scope",
    "SearchFilter": "treering.core.queries",
    "Settings": "treering.core.settings",
    "Source": "treering.core.records",
    "Taint": "treering.core.taint",
    "Task": "treering.task.api",
    "TimeRange": "treering.core.queries",
    "TreeringError": "treering.core.errors",
    "Turn": "treering.core.turns",
    "TurnFilter": "treering.core.queries",
    "Visibility": "treering.core.scope",
    "register_knowledge_type": "treering.core.payloads",
    "register_methodology": "treering.core.methodologies",
}

__all__ = [
    "Answer",
    "Author",
    "Briefing",
    "Client",
    "Confidence",
    "Conversation",
    "Entity",
    "Episode",
    "EpisodeFilter",
    "HandOver",
    "Hit",
    "Injection",
    "InjectionPoint",
    "Knowledge",
    "KnowledgeFilter",
    "Memory",
    "Message",
    "Methodology",
    "Occasion",
    "Pattern",
    "PatternFilter",
    "Phase",
    "Reason",
    "Relation",
    "RenderedContext",
    "Scope",
    "SearchFilter",
    "Settings",
    "Source",
    "Taint",
    "Task",
    "TimeRange",
    "TreeringError",
    "Turn",
    "TurnFilter",
    "Visibility",
    "load_settings",
    "open",
    "register_knowledge_type",
    "register_methodology",
]


def __getattr__(name: str) -> "Any":
    if name not in _PUBLIC:
        raise AttributeError(f"module 'treering' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
