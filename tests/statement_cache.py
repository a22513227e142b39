"""One cache of compiled SQL statements for every engine of a test process.

SQLAlchemy keeps a cache per engine. Each test opens new engines, so that compiling statements again took a third of the
processor time of the contract tests.
"""

from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache

_cache: LRUCache[Any, Any] = LRUCache(5_000)


def share_compiled_statements() -> None:
    """Have engines whose dialects are alike use statements that another one compiled."""
    DefaultDialect.__eq__ = _alike  # type: ignore[method-assign]
    DefaultDialect.__hash__ = _hash_of_type  # type: ignore[method-assign, assignment]
    event.listen(Engine, "engine_connect", _use_shared_cache)


def _use_shared_cache(connection: Any) -> None:
    connection.engine._compiled_cache = _cache


def _alike(one: Any, other: Any) -> bool:
    return type(one) is type(other) and _version(one) == _version(other)


def _hash_of_type(dialect: Any) -> int:
    return hash(type(dialect))


def _version(dialect: Any) -> Any:
    """None until the dialect has met its server."""
    return getattr(dialect, "server_version_info", None)
