"""One import of a rule file at a time: the next one waits until the records of the first are stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from treering.core.errors import Conflict
from treering.core.project_settings import ProjectSetting
from treering.core.queries import ProjectSettingFilter
from treering.core.values import thaw

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.ports.clock import Clock
    from treering.ports.store import Store, Transaction

HELD = timedelta(seconds=60)  # without a sign of life, after which the process that imports is taken for dead
WAIT_SECONDS = 90.0  # longer than a dead process is waited for
_STEP_SECONDS = 0.05
_OWNER, _UNTIL = "owner", "until"


class ImportTurn:
    """The right to import one rule file, stored with the project, so that it holds between machines.

    An import consists of many transactions, each of which lets other writers in; a claim would end with the first.
    """

    def __init__(self, scope: Scope, store: Store, clock: Clock, name: str, state_id: str) -> None:
        self._scope, self._store, self._clock = scope, store, clock
        self._name, self._id = name, f"{state_id} import"
        self._owner = uuid4().hex
        self._renew_at: datetime | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for other imports of the file, then hold the turn; `Conflict` if they do not end."""
        give_up = time.monotonic() + WAIT_SECONDS
        while not self._take():
            if time.monotonic() > give_up:
                raise Conflict(
                    f"another process has been importing {self._name} for {WAIT_SECONDS:.0f} seconds; nothing was "
                    "imported; run the import again when that process has ended"
                )
            time.sleep(_STEP_SECONDS)
        try:
            yield
        finally:
            self._write(self._release)

    def renew(self) -> None:
        """Give a sign of life; `Conflict` if another process has taken over."""
        if self._renew_at is not None and self._clock() >= self._renew_at and not self._take(renews=True):
            raise Conflict(
                f"another process has imported {self._name}, because this one paused for {HELD.seconds} seconds; "
                "run the import again: what is stored already is not stored twice"
            )

    def _take(self, *, renews: bool = False) -> bool:
        now = self._clock()
        self._renew_at = now + HELD / 3

        def take(tx: Transaction) -> bool:
            known = self._known(tx)
            is_free = not renews and _moment(known.get(_UNTIL), now) <= now
            if known.get(_OWNER) != self._owner and not is_free:
                return False
            values = {_OWNER: self._owner, _UNTIL: (now + HELD).isoformat()}
            tx.project_settings.put_many([ProjectSetting.make(id=self._id, changed_at=now, values=values)])
            return True

        return self._write(take)

    def _release(self, tx: Transaction) -> bool:
        if self._known(tx).get(_OWNER) == self._owner:
            tx.project_settings.remove(ProjectSettingFilter(ids=(self._id,)))
        return True

    def _known(self, tx: Transaction) -> dict[str, Any]:
        setting = tx.project_settings.get(self._id)
        return {} if setting is None else thaw(setting.values)

    def _write(self, work: Callable[[Transaction], bool]) -> bool:
        return self._store.write(self._scope, self._clock(), work, claims=(self._id,))


def _moment(text: object, now: datetime) -> datetime:
    """The end of a turn; an end that no process of ours has written is past."""
    try:
        until = datetime.fromisoformat(str(text))
    except ValueError:
        return now
    return until if until.tzinfo is not None and until <= now + 2 * HELD else now
