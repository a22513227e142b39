"""What the members of a crew do."""

import os
import resource
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import treering
from tests.integration.fork_server import tell
from treering.compose import now
from treering.core.errors import TreeringError
from treering.core.records import Knowledge
from treering.core.settings import Settings
from treering.core.turns import Turn
from treering.memory import Memory

# Every text of a few kilobytes becomes a blob, so that transactions with blobs are cheap to make.
BLOB_BYTES = 1_024
RECORDS = ("r0", "r1", "r2")
TURNS = ("t0", "t1")
_LONG = ("r2", "t1")


def text_of(id: str) -> str:
    """What is stored under an id: a word of its own, and for some enough to become a blob."""
    name = id.replace("-", "")
    return f"{name} " + (f"blob of {id} " * 200 if id.endswith(_LONG) else "was written")


def open_place(
    place: str, tenant: str = "t", blobs: str | None = None, clock: Callable[[], datetime] = now, **store: Any
) -> Memory:
    settings = Settings.make(store={"blob_bytes": BLOB_BYTES, **store})
    return treering.open(
        place, project="p", tenant=tenant, blobs=blobs, settings=settings, clock=clock, background=False
    )


def die_after(memory: Memory, commits: int) -> None:
    """Have this process killed as soon as it has committed so many transactions: nothing may be half done then."""
    transaction, left = memory.store.transaction, commits

    @contextmanager
    def counted(*given: Any, **options: Any) -> Iterator[Any]:
        nonlocal left
        with transaction(*given, **options) as tx:
            yield tx
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    memory.store.transaction = counted  # type: ignore[method-assign]


def write_groups(worker: str, **place: Any) -> None:
    """Groups of records in one transaction each, then single verbs; each is told once the store has it."""
    memory = open_place(**place)
    for number in count():
        group = f"{worker}g{number}"
        with memory.store.transaction(memory.scope, now()) as tx:
            tx.knowledge.create_many(_records(group))
            for part in TURNS:
                tx.turns.create(_turn(group, part, f"s-{worker}"))
        tell(stored=group)
        single = f"{worker}v{number}"
        memory.remember(text_of(f"{single}-r0"), id=f"{single}-r0", tags=[single])
        tell(remembered=f"{single}-r0")
        memory.turn(session=f"s-{worker}", role="user", text=text_of(f"{single}-t0"), id=f"{single}-t0")
        tell(said=f"{single}-t0")


def said_of(id: str) -> tuple[str, str]:
    """A service of its own for every turn, and its port."""
    return f"{id} service", str(8_000 + sum(map(ord, id)))


def say_and_learn(worker: str, **place: Any) -> None:
    """One fact in each session; what was said is told, then learned."""
    memory = open_place(**place)
    for number in count():
        id = f"{worker}n{number}"
        service, port = said_of(id)
        memory.turn(session=id, role="user", text=f"The {service} listens on port {port}.", id=id)
        tell(said=id)
        if number % 3 == 2:
            memory.settle()


def maintain(days: float, **place: Any) -> None:
    """All stages, over and over, some time from now."""
    memory = open_place(clock=lambda: now() + timedelta(days=days), **place)
    while True:
        memory.maintenance.run()
        tell(maintained=True)


def write_singles(worker: str, writes: int, **place: Any) -> None:
    """As many durable writes as asked for, and how long the slowest took."""
    slowest = 0.0
    with open_place(**place) as memory:
        for number in range(writes):
            begun = time.monotonic()
            if number % 2:
                memory.turn(session=f"shared-{number % 3}", role="user", text=f"turn {worker} {number}")
            else:
                memory.remember(f"fact {worker} {number}", id=f"{worker}-{number}")
            slowest = max(slowest, time.monotonic() - begun)
    tell(wrote=writes, slowest=slowest)


def begin_sessions(worker: str, turns: int, **place: Any) -> None:
    """A new session with every third turn; sessions of the other processes end with it."""
    with open_place(**place) as memory:
        for number in range(turns):
            memory.turn(session=f"{worker}-{number // 3}", role="user", text=f"{worker} says {number}")


def work_off(worker: str, seconds: float, lease: float, later: float = 0, **place: Any) -> None:
    """Do jobs until none is left, by a clock that is `later` seconds fast; each is told before it is finished."""
    with open_place(**place) as memory:
        while True:
            with memory.store.transaction(memory.scope, now() + timedelta(seconds=later)) as tx:
                jobs = tx.jobs.lease(worker, ["count"], limit=2, duration=timedelta(seconds=lease))
            for job in jobs:
                tell(did=job.id, worker=worker, attempt=job.attempts)
                time.sleep(seconds)
                with memory.store.transaction(memory.scope, now()) as tx:
                    assert tx.jobs.finish(job), f"{worker} lost the lease of {job.id}"
            if not jobs:
                return


def hold_lock(path: str) -> None:
    """Another program in the middle of a long transaction."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    tell(locked=path)
    time.sleep(600)


def hold_write_lock(path: str) -> None:
    """Another program that has begun to write and does not end."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    tell(locked=path)
    time.sleep(600)


def hold_transaction(**place: Any) -> None:
    """One of ours in the middle of a long transaction."""
    memory = open_place(**place)
    with memory.store.transaction(memory.scope, now()) as tx:
        tx.knowledge.create_many(_records("unfinished"))
        tell(writing=True)
        time.sleep(600)


def open_and_say(**place: Any) -> None:
    """Only opens; a new file is made meanwhile."""
    with open_place(**place):
        tell(opened=True)


def remember_one(text: str, uid: int | None = None, **place: Any) -> None:
    """One write, as another user where `uid` says so; the error that comes instead is told."""
    if uid is not None:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    try:
        with open_place(**place) as memory:
            memory.remember(text)
    except TreeringError as exc:
        tell(error=type(exc).__name__, message=str(exc))
    else:
        tell(error=None)


def fill_up(limit: int, **place: Any) -> None:
    """Write until no file may grow any more, then once more when it may again."""
    with open_place(**place) as memory:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            for number in count():
                memory.remember(f"fact{number} " + "takes room " * 1_000, id=f"k{number}")
                tell(stored=f"k{number}")
        except TreeringError as exc:
            tell(error=type(exc).__name__, message=str(exc))
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        memory.remember("there is room again", id="after")
        tell(stored="after")


def _records(group: str) -> Iterator[Knowledge]:
    moments = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), now())
    for part in RECORDS:
        id = f"{group}-{part}"
        yield Knowledge.make(id=id, type="fact", content=text_of(id), tags=(group,), **moments)


def _turn(group: str, part: str, session: str) -> Turn:
    id = f"{group}-{part}"
    return Turn.make(id=id, session=session, role="user", text=text_of(id), at=now(), recorded_at=now())
