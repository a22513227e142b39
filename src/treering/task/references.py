"""Items moved out of a task: each is a turn of the task's session, restored byte for byte."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from treering.core.errors import InvalidInput, NotFound, SecretRefused
from treering.core.messages import Role
from treering.core.queries import TurnFilter
from treering.core.records import Knowledge
from treering.core.scope import Scope, Visibility
from treering.core.turns import TASK, Session, SessionKind, Turn
from treering.core.values import Count, FrozenDict, Instant, Key, Label, Text, Value, thaw
from treering.ports.clock import Clock
from treering.ports.store import Store, Transaction
from treering.task.content import Content, without_encoded_secrets
from treering.task.state import TaskEntry


class Reference(Value):
    """An item that was moved out, with the name that prompts show; `resolve` returns it."""

    id: Key
    entry: Key
    what: Label
    subtask: Key | None = None
    form: Label
    size: Count
    extract: Text
    at: Instant


@dataclass(frozen=True)
class TaskStore:
    """The part of the store that one task uses."""

    scope: Scope
    store: Store
    clock: Clock
    task: str
    title: str
    refuses_secrets: bool = False

    def personal(self, ids: Iterable[str | None]) -> frozenset[str]:
        """Those of the records that are visible to their owner only."""
        named = [id for id in ids if id is not None]
        with self.store.reading(self.scope, self.clock()) as tx:
            found: dict[str, Knowledge | Turn] = {**tx.knowledge.get_many(named), **tx.turns.get_many(named)}
        return frozenset(id for id, record in found.items() if record.visibility is Visibility.PERSONAL)

    def put(self, entries: Sequence[TaskEntry], variables: Mapping[str, Mapping[str, Any]]) -> Mapping[str, str]:
        """Store entries with the variables of their subtasks. Returns the turn id by entry id. Durable on return.

        An entry that is already stored unchanged is not stored twice.
        """
        now = self.clock()
        turns = {entry.id: self._turn(entry, variables.get(entry.id, {}), now) for entry in entries}

        def store(tx: Transaction) -> None:
            tx.claim(f"task {self.task}")
            self.session(tx)
            known = tx.turns.get_many(turn.id for turn in turns.values())
            tx.turns.create_many(turn for turn in turns.values() if turn.id not in known)
            for forgotten in (turn.id for turn in known.values() if turn.deleted_at is not None):
                tx.turns.restore(forgotten)

        if turns:
            self.store.write(self.scope, now, store)
        return {entry: turn.id for entry, turn in turns.items()}

    def get(self, id: str) -> Turn:
        """The turn of an item that a task moved out. Raises `NotFound` or `InvalidInput`."""
        with self.store.reading(self.scope, self.clock()) as tx:
            turn = tx.turns.get(id)
        if turn is None or turn.deleted_at is not None:
            raise NotFound(f"no item {id!r} was moved out of this task; `references()` lists them")
        if TASK not in turn.metadata:
            raise InvalidInput(f"turn {id!r} is not an item of a task; read it with `memory.get`")
        return turn

    def references(self) -> tuple[Reference, ...]:
        """All items that this task moved out, oldest first."""
        with self.store.reading(self.scope, self.clock()) as tx:
            turns = [turn for turn in tx.turns.stream(TurnFilter(sessions=(self.task,))) if TASK in turn.metadata]
        return tuple(reference_to(turn) for turn in sorted(turns, key=lambda turn: turn.seq))

    def session(self, tx: Transaction) -> Session:
        """The task's session, created if it does not exist."""
        fresh = Session.make(
            id=self.task,
            kind=SessionKind.BUILD,
            title=self.title,
            owner=self.scope.principal,
            started_at=tx.now,
            last_at=tx.now,
        )
        return tx.sessions.open(fresh)

    def without_hidden_secrets(self, content: Content) -> Content:
        """Redact content that the store cannot read. Raises `SecretRefused` if the settings refuse secrets."""
        clean = without_encoded_secrets(content)
        if self.refuses_secrets and clean.raw != content.raw:
            raise SecretRefused("the output contains a secret; remove it and try again")
        return clean

    def _turn(self, entry: TaskEntry, variables: Mapping[str, Any], now: datetime) -> Turn:
        assert entry.content is not None
        content = self.without_hidden_secrets(entry.content)
        frozen_variables = FrozenDict(variables)
        identity = json.dumps([self.task, entry.id, content.data, thaw(frozen_variables)])
        about = {
            "id": entry.id,
            "kind": entry.kind,
            "subtask": entry.subtask,
            "label": entry.label,
            "extract": entry.extract,
            "form": content.form,
            "encoding": content.encoding,
            "variables": frozen_variables,
        }
        return Turn.make(
            id=f"{entry.id}-{sha256(identity.encode()).hexdigest()[:24]}",
            session=self.task,
            role=Role.TOOL,
            text=content.data,
            at=now,
            recorded_at=now,
            owner=self.scope.principal,
            metadata={TASK: about},
        )


def content_in(turn: Turn) -> Content:
    about = turn.metadata[TASK]
    return Content.make(form=about["form"], encoding=about["encoding"], data=turn.text)


def reference_to(turn: Turn) -> Reference:
    about = turn.metadata[TASK]
    return Reference.make(
        id=turn.id,
        entry=about["id"],
        what=about["kind"],
        subtask=about["subtask"],
        form=about["form"],
        size=len(content_in(turn).raw),
        extract=about["extract"],
        at=turn.at,
    )


def id_of(reference: Reference | str) -> str:
    return reference if isinstance(reference, str) else reference.id


def latest_output(subtask: str, references: Iterable[Reference]) -> Reference | None:
    """The last output of a subtask among the references."""
    outputs = [reference for reference in references if (reference.what, reference.subtask) == ("result", subtask)]
    return outputs[-1] if outputs else None
