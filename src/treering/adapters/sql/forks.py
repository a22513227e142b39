"""Keeps an open database safe when its process forks.

A child must not touch a connection of its parent, and SQLite believes in the child that it still has the parent's
locks. So connections that nobody uses are closed before a fork, and both sides open new ones when they next need them.
An SQLite file that is in use at that moment stays with the parent.
"""

import os
from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from sqlalchemy import Engine, Pool, QueuePool, event

from treering.core.errors import StoreUnavailable


class ForkHandling(NamedTuple):
    """What a child process does with an inherited engine."""

    renew: Callable[[], None]
    reconnect: bool
    wait: Callable[[], None]


_engines: WeakKeyDictionary[Engine, ForkHandling] = WeakKeyDictionary()
_in_use: WeakSet[Engine] = WeakSet()
# Garbage collection would close the connections, which only the parent may do.
_parents: list[Pool] = []


def survive_forks(
    engine: Engine, renew: Callable[[], None], *, reconnect: bool = False, wait: Callable[[], None] = lambda: None
) -> None:
    """Handle `engine` at every fork; `renew` resets other inherited state in the child.

    `reconnect` lets the child connect even if a connection of its parent was in use. `wait` returns once no thread of
    ours uses a connection. Neither function may refer to `engine`.
    """
    _engines[engine] = ForkHandling(renew, reconnect, wait)


def _before() -> None:
    for engine, handling in list(_engines.items()):
        handling.wait()
        if isinstance(engine.pool, QueuePool) and engine.pool.checkedout():
            _in_use.add(engine)
        else:
            engine.dispose()


def _in_child() -> None:
    for engine, handling in list(_engines.items()):
        _parents.append(engine.pool)
        engine.dispose(close=False)
        handling.renew()
        if engine in _in_use and not handling.reconnect:
            event.listen(engine, "do_connect", _refuse)
    _in_use.clear()


def _refuse(*_connecting: object) -> None:
    raise StoreUnavailable(
        "this memory was in the middle of a transaction when its process forked; "
        "open memories after the fork, or fork between transactions"
    )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_use.clear, after_in_child=_in_child)
