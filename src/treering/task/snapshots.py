"""A task as one value, and the places where such values are kept: with the task's session, in the store."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from treering.core.errors import Conflict, InvalidInput, NotFound
from treering.core.turns import TASK
from treering.core.values import Count, FrozenMap, Instant, Key, Text, Value, thaw
from treering.ports.store import Transaction
from treering.task.references import Shelf
from treering.task.sections import Section
from treering.task.sizes import Address
from treering.task.state import Entry, Frame, State, Subtask

LATEST = "latest"
_TRIES = 5


class Snapshot(Value):
    """Everything that a task holds at one moment; the same after a trip through JSON."""

    task: Key
    title: Text
    at: Instant
    order: Count
    entries: tuple[Entry, ...]
    subtasks: tuple[Subtask, ...]
    frames: tuple[Frame, ...]
    variables: FrozenMap
    accumulators: tuple[Text, ...]
    short: tuple[Address, ...]
    hidden: tuple[Address, ...]
    folded: FrozenMap


def snapshot_of(state: State, task: str, title: str, now: datetime) -> Snapshot:
    """Variables stand by scope, owner and name: so the store knows a password by its name."""
    variables: dict[str, dict[str, dict[str, Any]]] = {}
    for (scope, owner, key), value in state.variables.values.items():
        variables.setdefault(scope, {}).setdefault(owner, {})[key] = value
    return Snapshot.make(
        task=task,
        title=title,
        at=now,
        order=state.order,
        entries=tuple(state.entries.values()),
        subtasks=tuple(state.subtasks.values()),
        frames=tuple(state.frames),
        variables=variables,
        accumulators=tuple(sorted(state.variables.accumulators)),
        short=tuple(sorted(state.variables.short)),
        hidden=tuple(sorted(state.variables.hidden)),
        folded={section.value: number for section, number in state.folded.items()},
    )


def state_of(snapshot: Snapshot, empty: State) -> State:
    """The state that a snapshot was taken of."""
    state = empty
    state.order = snapshot.order
    state.variables.accumulators = set(snapshot.accumulators)
    for scope, owners in snapshot.variables.items():
        for owner, values in owners.items():
            for key, value in values.items():
                state.set_variable((scope, owner, key), value)
    for subtask in snapshot.subtasks:
        state.set_subtask(subtask)
    for frame in snapshot.frames:
        state.push(frame)
    for entry in snapshot.entries:
        state.put(entry)
    for address in snapshot.short:
        state.show_less(address, hidden=False)
    for address in snapshot.hidden:
        state.show_less(address, hidden=True)
    state.folded = {section: snapshot.folded.get(section.value, 0) for section in Section}
    for section in Section:
        state.measure_fold(section)
    return state


def save(shelf: Shelf, snapshot: Snapshot, name: str, keep: int) -> None:
    """Keep a snapshot under a name; the last save wins, and only the newest names are kept. Durable on return."""
    if not name.strip() or not name.isprintable():
        raise InvalidInput(f"{name!r} cannot name a save; use printable text")
    clean = _writable(snapshot, shelf).model_dump(mode="json")
    for last in (False,) * (_TRIES - 1) + (True,):
        try:
            _store(shelf, clean, name, keep)
        except Conflict:
            if last:
                raise
        else:
            return


def saved(shelf: Shelf, name: str = LATEST) -> Snapshot:
    """The snapshot that was saved under a name."""
    with shelf.store.reading(shelf.scope, shelf.clock()) as tx:
        session = tx.sessions.get(shelf.task)
    saves = _saves(session.metadata) if session is not None else {}
    if name not in saves:
        there = f"there are: {', '.join(saves)}" if saves else "`save` it first, or begin anew with a description"
        raise NotFound(f"no save {name!r} of task {shelf.task!r}; {there}")
    return Snapshot.make(**saves[name])


def is_saved(shelf: Shelf, name: str = LATEST) -> bool:
    with shelf.store.reading(shelf.scope, shelf.clock()) as tx:
        session = tx.sessions.get(shelf.task)
    return session is not None and name in _saves(session.metadata)


def _store(shelf: Shelf, snapshot: Mapping[str, Any], name: str, keep: int) -> None:
    def save(tx: Transaction) -> None:
        tx.claim(f"task {shelf.task}")
        session = shelf.session(tx)
        saves = {**_saves(session.metadata), name: snapshot}
        newest = sorted(saves, key=lambda each: (each == name, saves[each]["at"]))[-keep:]
        own = {**session.metadata.get(TASK, {}), "saves": {each: saves[each] for each in newest}}
        tx.sessions.update(session.replace(metadata={**session.metadata, TASK: own}))

    shelf.store.write(shelf.scope, shelf.clock(), save)


def _saves(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return dict(thaw(metadata.get(TASK, {})).get("saves", {}))


def _writable(snapshot: Snapshot, shelf: Shelf) -> Snapshot:
    """What base64 hides from the store is cleaned here; what only one person sees is not saved for all."""
    own = shelf.personal(entry.reference for entry in snapshot.entries if entry.kind == "retrieved")
    entries = (
        entry if entry.content is None else entry.replace(content=shelf.safe(entry.content))
        for entry in snapshot.entries
        if entry.reference not in own
    )
    return snapshot.replace(entries=tuple(entries))
