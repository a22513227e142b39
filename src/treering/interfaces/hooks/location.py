"""The hook folder that belongs to a memory, and the sessions in it. Importing this module must stay cheap."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.location.hook_files import (
    TARGET,
    data_folder,
    hook_folder,
    is_private_folder,
    read_json,
    socket_path,
    write_json,
)
from treering.location.hook_files import repository_root as root_around
from treering.location.hook_spool import LISTEN, FolderLock, spool_bytes

if TYPE_CHECKING:
    from treering.interfaces.hooks.live_sessions import LiveSessions
    from treering.memory import Memory


@dataclass(frozen=True, slots=True)
class HookLocation:
    """The root, database and project that hooks were given, by which they find their folder."""

    root: str
    db: str
    project: str

    @classmethod
    def here(cls, db: str | None, project: str | None) -> HookLocation:
        """The location of the hooks of the working directory's repository."""
        return cls(root_around(os.getcwd()), db or "", project or "")

    @property
    def folder(self) -> str:
        return hook_folder(os.path.abspath(data_folder()), self.root, self.db, self.project)

    @property
    def exists(self) -> bool:
        return is_private_folder(self.folder)

    @property
    def has_spool(self) -> bool:
        return spool_bytes(self.folder) > 0

    def remove_dead_socket(self) -> None:
        """Remove the socket of a server that was killed; one that listens holds the lock."""
        path = socket_path(self.folder)
        with suppress(OSError):
            if stat.S_ISSOCK(os.lstat(path).st_mode):
                with FolderLock(self.folder, LISTEN) as held:
                    if held:
                        os.unlink(path)

    def sessions(self, memory: Memory, socket: str | None = None) -> LiveSessions:
        """The live sessions of the folder, in the memory that its arguments name. Writes target.json."""
        from treering.compose import now
        from treering.interfaces.hooks.live_sessions import LiveSessions

        self._write_target(memory, socket)
        return LiveSessions(memory, memory.injections, self.folder, self.root, now)

    def _write_target(self, memory: Memory, socket: str | None) -> None:
        """Note where hook processes may look up records, as the library resolves it now.

        The URL of a server is left out: it may contain a password.
        """
        from treering.compose import embedded_path

        file = embedded_path(self.db or None, self.root)
        scope = memory.scope
        target = {
            "root": self.root,
            "file": None if file is None else str(file),
            "tenant": scope.tenant,
            "project": scope.project,
            "principal": scope.principal,
            "groups": memory.settings.context.control_groups,
        }
        with suppress(OSError):
            try:
                known = read_json(self.folder, TARGET)
            except ValueError:
                known = {}
            if socket is not None or isinstance(known.get("socket"), str):
                target["socket"] = socket or known["socket"]
            if target != known:
                write_json(self.folder, TARGET, target)


def drain_spool(memory: Memory, location: HookLocation, *, seconds: float | None = None) -> bool:
    """Store what hooks have written, if anything; False if some of it is left."""
    location.remove_dead_socket()
    return not location.has_spool or location.sessions(memory).drain(seconds=seconds)
