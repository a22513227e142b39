"""Files that hook processes and the library share: spool, pause, target, last events, losses, socket.

The hook process imports this module, so it uses only cheap parts of the standard library. A hook never waits, and every
function that it calls may raise OSError.
"""

import os
import time

from treering.core.light_json import dumps, first_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MAX_LOG_BYTES = 64 * 1024
MAX_SOCKET_PATH_BYTES = 100  # the limit of the operating systems is 104 to 108

SPOOL, TARGET, PAUSE, AGENTS, LOST, LOG = (
    "spool.jsonl", "target.json", "pause.json", "agents.json", "lost.json", "errors.log",
)  # fmt: skip
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # non-blocking: a FIFO has no writer
APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAX_FILE_BYTES = 1024 * 1024  # of a JSON file that is read whole


class NotOurs(OSError):
    """A file or folder that belongs to another user, or is not of the expected kind."""


# Locations


def data_folder(env: "Mapping[str, str]" = os.environ) -> str:
    """The folder of all memories: TREERING_DATA_DIR, else the platform's folder of user data."""
    if chosen := env.get("TREERING_DATA_DIR"):
        return os.path.expanduser(chosen)
    import sys

    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/treering")
    base = env.get("XDG_DATA_HOME", "")
    return os.path.join(base if base.strip() else os.path.expanduser("~/.local/share"), "treering")


def repository_root(folder: str) -> str:
    """The repository around a folder, as `location/repository.py: repository_around`, with links resolved."""
    start = current = os.path.realpath(os.path.expanduser(folder))
    while True:
        if os.path.exists(os.path.join(current, ".git")):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            return start
        current = parent


def hook_folder(data: str, root: str, db: str = "", project: str = "") -> str:
    """The folder of one repository and the arguments of its hook command; it need not exist."""
    named = "\n".join(dumps(each) for each in (os.fspath(root), db, project))
    return os.path.join(os.fspath(data), "hooks", _sha256(named)[:16])


def _sha256(text: str) -> str:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]  # hashlib loads OpenSSL, which takes longer than everything else here
    except ImportError:
        try:
            from _sha2 import sha256  # type: ignore[import-not-found]
        except ImportError:
            from hashlib import sha256
    return str(sha256(text.encode()).hexdigest())


def socket_path(folder: str, env: "Mapping[str, str]" = os.environ) -> str:
    """The default path of the listener's socket; `socket` in target.json takes precedence over it.

    In the user's runtime folder, else in the hook folder, else, if that path is too long, in a private folder in /tmp.
    """
    name = f"{os.path.basename(folder)}.sock"
    runtime = env.get("XDG_RUNTIME_DIR", "")
    paths = [os.path.join(folder, "hook.sock"), os.path.join(f"/tmp/treering-{os.getuid()}", name)]
    if runtime and is_private_folder(runtime):
        paths.insert(0, os.path.join(runtime, "treering", name))
    return next((each for each in paths if _fits(each)), paths[-1])


def _fits(path: str) -> bool:
    return len(os.fsencode(path)) <= MAX_SOCKET_PATH_BYTES


def is_private_folder(folder: str) -> bool:
    """Whether a folder belongs to this user and no other user can write into it. A link is not a folder."""
    try:
        found = os.lstat(folder)
    except (OSError, ValueError):
        return False
    return found.st_mode & 0o170022 == 0o040000 and found.st_uid == os.getuid()


def ensure_private_folder(folder: str) -> None:
    """Create a folder and its missing parents with mode 0700; NotOurs if another user owns it or may write into it."""
    missing, folder = [], os.path.abspath(folder)
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for each in reversed(missing):
        try:
            os.mkdir(each, 0o700)
        except FileExistsError:  # another hook created it meanwhile
            continue
    innermost = missing[0] if missing else folder
    if not is_private_folder(innermost):
        raise NotOurs(f"{innermost} is not a private folder of this user")


# Files


def iso_time(now: float) -> str:
    """The time in UTC as ISO 8601, with milliseconds."""
    millis = int(now * 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(millis // 1000))}.{millis % 1000:03}Z"


def open_own(path: str, flags: int) -> int:
    """Open a regular file of this user; a link, FIFO or file of another user raises an OSError."""
    handle = os.open(path, flags, 0o600)
    found = os.fstat(handle)
    if found.st_mode & 0o170000 != 0o100000 or found.st_uid != os.getuid():
        os.close(handle)
        raise NotOurs(f"{path} is not a regular file of this user")
    return handle


def try_lock(handle: int, *, shared: bool = False) -> bool | None:
    """Lock an open file without waiting; False if another process has it, None on a file system without locks."""
    import fcntl

    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def read_json(folder: str, name: str) -> "dict[str, Any]":
    """The object in a file of the folder; empty if there is none. ValueError if it is damaged."""
    try:
        handle = open_own(os.path.join(folder, name), READ)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    try:
        found = first_value(os.read(handle, _MAX_FILE_BYTES))[0]
    except RecursionError:
        found = None
    finally:
        os.close(handle)
    if not isinstance(found, dict):
        raise ValueError(f"{name} does not contain a JSON object")
    return found


def write_json(folder: str, name: str, fields: "Mapping[str, Any]") -> None:
    """Replace a file of the folder atomically, with mode 0600. For the library, not for hooks."""
    ensure_private_folder(folder)
    aside = os.path.join(folder, f"{name}.{os.urandom(4).hex()}.new")
    try:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(handle, "w", encoding="ascii") as writing:
            writing.write(dumps(dict(fields)) + "\n")
        os.replace(aside, os.path.join(folder, name))
    finally:
        if os.path.lexists(aside):
            os.unlink(aside)


def note_lost(folder: str, what: str, count: int = 1) -> None:
    """Add to a counter of lost.json. Does not wait: a count is skipped while another process holds the file."""
    handle = open_own(os.path.join(folder, LOST), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if try_lock(handle) is False:
            return
        try:
            counts = first_value(os.read(handle, _MAX_FILE_BYTES))[0]
        except (ValueError, RecursionError):
            counts = {}
        counts = counts if isinstance(counts, dict) else {}
        before = counts.get(what)
        counts[what] = (before if isinstance(before, int) else 0) + count
        counts["last"] = iso_time(time.time())
        # One write in place: a reader takes the first value in the file, so a longer rest does no harm.
        written = os.pwrite(handle, dumps(counts).encode("ascii") + b"\n", 0)
        os.ftruncate(handle, written)
    finally:
        os.close(handle)


def note_error(folder: str, message: str, now: float) -> None:
    """Append one line to the log, which is renamed to errors.log.old when it is full."""
    path = os.path.join(folder, LOG)
    handle = open_own(path, APPEND)
    try:
        line = f"{iso_time(now)} {' '.join(message.split())}"[:500] + "\n"
        os.write(handle, line.encode("utf-8", "replace"))
        if os.fstat(handle).st_size > MAX_LOG_BYTES:
            os.replace(path, f"{path}.old")
    finally:
        os.close(handle)


# Pauses


def is_paused(
    pause: "Mapping[str, Any]", what: str, now: float, session: str | None = None, point: str | None = None
) -> bool:
    """Whether `what` ("observe" or "inject") is paused. A pause of "observe" pauses "inject" as well.

    An entry that cannot be understood counts as a pause: the user wanted one.
    """
    if _lasts(pause.get("observe"), now) or (what == "inject" and _lasts(pause.get("inject"), now)):
        return True
    sessions, points = pause.get("sessions") or {}, pause.get("points") or ()
    if not isinstance(sessions, dict) or not isinstance(points, list | tuple):
        return True
    paused = sessions.get(session) if session else None
    if paused is not None and (what == "inject" or paused != "inject"):
        return True
    return what == "inject" and point is not None and point in points


def _lasts(until: object, now: float) -> bool:
    if until is None or until is False:
        return False
    if not isinstance(until, str) or until == "forever":
        return True
    from datetime import UTC, datetime

    try:
        end = datetime.fromisoformat(until)
    except ValueError:
        return True
    return now < (end if end.tzinfo else end.replace(tzinfo=UTC)).timestamp()
