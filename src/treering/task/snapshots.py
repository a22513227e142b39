"""Snapshots of a task, saved in the metadata of the task's session."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from treering.core.errors import Conflict, InvalidInput, NotFound
from treering.core.turns import TASK
from treering.core.values import Count, FrozenMap, Instant, Key, Text, Value, thaw
from treering.ports.store import Transaction
from treering.task.references import TaskStore
from treering.task.sections import Section
from treering.task.sizes import Address
from treering.task.state import Frame, TaskEntry, TaskState, TaskSubtask

LATEST = "latest"
_TRIES = 5


class Snapshot(Value):
    """The complete state of a task at one moment; it survives a round trip through JSON."""

    task: Key
    title: Text
    at: Instant
    order: Count
    entries: tuple[TaskEntry, ...]
    subtasks: tuple[TaskSubtask, ...]
    frames: tuple[Frame, ...]
    variables: FrozenMap
    accumulators: tuple[Text, ...]
    short: tuple[Address, ...]
    hidden: tuple[Address, ...]
    folded: FrozenMap


def snapshot_of(state: TaskState, task: str, title: str, now: datetime) -> Snapshot:
    """Variables are nested by scope, owner and name, so that redaction can recognise a password by its name."""
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


def state_of(snapshot: Snapshot, empty: TaskState) -> TaskState:
    """Fill `empty` with the state of a snapshot."""
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


def save(task_store: TaskStore, snapshot: Snapshot, name: str, keep: int, *, replacing: Snapshot | None) -> Snapshot:
    """Store a snapshot under a name and return it as stored; only the newest `keep` names remain. Durable on return.

    `Conflict` if another one than `replacing` has that name now.
    """
    if not name.strip() or not name.isprintable():
        raise InvalidInput(f"{name!r} is not a valid name of a save; use printable text")
    clean = _writable(snapshot, task_store)
    for last in (False,) * (_TRIES - 1) + (True,):
        try:
            _store(task_store, clean.model_dump(mode="json"), name, keep, replacing)
        except Conflict:
            if last:
                raise
        else:
            break
    return clean


def saved(task_store: TaskStore, name: str = LATEST) -> Snapshot:
    """The snapshot saved under a name. Raises `NotFound`."""
    with task_store.store.reading(task_store.scope, task_store.clock()) as tx:
        session = tx.sessions.get(task_store.task)
    saves = _saves(session.metadata) if session is not None else {}
    if name not in saves:
        hint = f"existing saves: {', '.join(saves)}" if saves else "`save` it first, or start it with a description"
        raise NotFound(f"no save {name!r} of task {task_store.task!r}; {hint}")
    return Snapshot.make(**saves[name])


def is_saved(task_store: TaskStore, name: str = LATEST) -> bool:
    with task_store.store.reading(task_store.scope, task_store.clock()) as tx:
        session = tx.sessions.get(task_store.task)
    return session is not None and name in _saves(session.metadata)


def _store(
    task_store: TaskStore, snapshot: Mapping[str, Any], name: str, keep: int, replacing: Snapshot | None
) -> None:
    def save(tx: Transaction) -> None:
        tx.claim(f"task {task_store.task}")
        session = task_store.session(tx)
        before = _saves(session.metadata)
        if replacing is not None and name in before and Snapshot.make(**before[name]) != replacing:
            raise Conflict(f"task {task_store.task!r} was saved by another process meanwhile; resume it and try again")
        saves = {**before, name: snapshot}
        newest = sorted(saves, key=lambda each: (each == name, saves[each]["at"]))[-keep:]
        personal = {**session.metadata.get(TASK, {}), "saves": {each: saves[each] for each in newest}}
        tx.sessions.update(session.replace(metadata={**session.metadata, TASK: personal}))

    task_store.store.write(task_store.scope, task_store.clock(), save)


def _saves(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return dict(thaw(metadata.get(TASK, {})).get("saves", {}))


def _writable(snapshot: Snapshot, task_store: TaskStore) -> Snapshot:
    """Redact base64 content, and leave out personal records: others can read the session's metadata."""
    personal = task_store.personal(entry.reference for entry in snapshot.entries if entry.kind == "retrieved")
    entries = (
        entry if entry.content is None else entry.replace(content=task_store.without_hidden_secrets(entry.content))
        for entry in snapshot.entries
        if entry.reference not in personal
    )
    return snapshot.replace(entries=tuple(entries))
