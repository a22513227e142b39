"""Files of the folder that sessions work in: which of them may be offered, and what they contain.

Nothing outside the root is read, whatever symbolic links say: a path is resolved first, and the resolved path is
opened without following links. Ignored files and files that look like credentials are neither offered nor read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.code.files.ignore_rules import IgnoreRules
    from treering.code.files.outer_ignore_rules import GitHome

MAX_BYTES = 256_000  # a larger file is mostly data, and takes a tenth of a second to check for secrets
_BINARY_CHECK_BYTES = 8_192

DELETED = "deleted"
OUTSIDE = "outside the project"
IGNORED = "ignored by git"
CREDENTIALS = "may hold credentials"
NOT_A_FILE = "not a regular file"
TOO_LARGE = "too large"
BINARY = "binary"
UNREADABLE = "cannot be read"

_CREDENTIAL_NAMES = re.compile(
    r"(?:^|/)(?:"
    r"\.env(?:rc)?(?:\.(?!example$|sample$|template$|dist$)[^/]*)?|[^/]+\.env"  # .env, .env.local, .envrc, prod.env
    r"|[^/]*\.(?:pem|key|p12|pfx|pkcs12|jks|keystore|kdbx|ppk|asc|gpg|age|tfstate|tfvars|ovpn|mobileprovision|p8)"
    r"|(?:id|ssh_host)_(?:rsa|dsa|ecdsa|ed25519)[^/]*|authorized_keys|known_hosts"
    r"|\.(?:netrc|pgpass|npmrc|pypirc|htpasswd|git-credentials|dockercfg|boto|s3cfg|my\.cnf)|_netrc"
    r"|[^/]*credentials?(?:\.(?:json|ya?ml|toml|ini|cfg|txt|xml|csv|properties))?"
    r"|(?:[^/]*[-_.])?secrets?(?:[-_.][^/]*)?\.(?:json|ya?ml|toml|ini|cfg|txt|xml|env|properties)"
    r"|(?:service[-_]?account|client_secret)[^/]*\.json|(?:master|credentials\.ya?ml)\.(?:key|enc)"
    r"|(?:[^/]*[-_.])?token\.(?:json|txt)|kubeconfig"
    r"|(?:\.ssh|\.aws|\.gnupg|\.kube|\.docker|\.azure|\.gcloud|\.git)/.*"
    r")$",
    re.IGNORECASE,
)

# A pipe that replaced a file must not block, and a link must not be followed.
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CAN_DESCEND = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW") and hasattr(os, "O_DIRECTORY")


class Refused(Exception):
    """A file must not be offered or read; the message is the reason."""


def may_hold_credentials(path: str) -> bool:
    """Whether the name of a file says that it holds credentials."""
    return _CREDENTIAL_NAMES.search(path) is not None


@dataclass(frozen=True)
class Checkout:
    """The folder that sessions work in."""

    root: Path
    """Resolved."""
    git: Callable[[], GitHome | None]
    """Where git keeps the user's global ignore rules."""

    @classmethod
    def at(cls, root: str | Path, git: Callable[[], GitHome | None]) -> Checkout | None:
        """The checkout in a folder; None if there is no such folder."""
        try:
            resolved = Path(root).expanduser().resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            return None
        return cls(resolved, git) if resolved.is_dir() else None

    def holds(self, path: str) -> bool:
        """Whether the path exists, as a file or a link of any kind."""
        return os.path.lexists(self.root / path)

    def refusal(self, path: str) -> str:
        """Why a file may not be offered; empty if it may."""
        try:
            self._resolved(path)
        except Refused as exc:
            return str(exc)
        return ""

    def read(self, path: str) -> str:
        """The text of a file; raises `Refused` if it may not be read or is not text."""
        inside = self._resolved(path)
        try:
            opened = self._open(inside)
        except OSError as exc:
            raise Refused(DELETED if isinstance(exc, FileNotFoundError) else UNREADABLE) from exc
        with open(opened, "rb") as file:
            status = os.fstat(opened)
            if not stat.S_ISREG(status.st_mode):
                raise Refused(NOT_A_FILE)
            if status.st_size > MAX_BYTES:
                raise Refused(TOO_LARGE)
            try:
                content = file.read(MAX_BYTES + 1)
            except OSError as exc:
                raise Refused(UNREADABLE) from exc
        if len(content) > MAX_BYTES:
            raise Refused(TOO_LARGE)
        if b"\0" in content[:_BINARY_CHECK_BYTES]:
            raise Refused(BINARY)
        return content.decode("utf-8", "replace")

    def _resolved(self, path: str) -> str:
        """The path below the root without symbolic links; raises `Refused` if it may not be offered."""
        try:
            target = os.path.realpath(self.root / path, strict=True)
            status = os.lstat(target)
        except FileNotFoundError:
            raise Refused(DELETED) from None
        except (OSError, ValueError):
            raise Refused(UNREADABLE) from None
        inside = _below(str(self.root), target)
        if not inside:
            raise Refused(OUTSIDE)
        if not stat.S_ISREG(status.st_mode):
            raise Refused(NOT_A_FILE)
        if may_hold_credentials(path) or may_hold_credentials(inside):
            raise Refused(CREDENTIALS)
        if self._is_ignored(path) or (inside != path and self._is_ignored(inside)):
            raise Refused(IGNORED)
        return inside

    def _is_ignored(self, path: str) -> bool:
        """Whether git ignores a file: a rule says so, and it is not tracked."""
        from treering.code.files.tracked_files import load_tracked_files

        return self._is_excluded(path) and not load_tracked_files(self.root).has(path)

    def _is_excluded(self, path: str) -> bool:
        from treering.code.files.ignore_rules import load_folder_rules

        rules = self._outer_rules
        folders = path.split("/")[:-1]
        for depth in range(len(folders) + 1):
            folder = "".join(f"{name}/" for name in folders[:depth])
            if folder and rules is not None and rules.ignores(folder):
                return True
            rules = load_folder_rules(self.root, folder, rules)
        return rules is not None and rules.ignores(path)

    @cached_property
    def _outer_rules(self) -> IgnoreRules | None:
        from treering.code.files.outer_ignore_rules import load_outer_rules

        return load_outer_rules(self.root, self.git())

    def _open(self, inside: str) -> int:
        """Open a resolved path. A link that has replaced a part of it since is not followed."""
        if not _CAN_DESCEND:
            return self._open_at_once(inside)
        *folders, name = inside.split("/")
        at = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for folder in folders:
                deeper = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
                os.close(at)
                at = deeper
            return os.open(name, _FLAGS, dir_fd=at)
        finally:
            os.close(at)

    def _open_at_once(self, inside: str) -> int:
        """For systems that cannot open a file relative to an open folder: check afterwards what was opened."""
        full = os.path.join(self.root, *inside.split("/"))
        opened = os.open(full, _FLAGS)
        if os.path.realpath(full) == full and os.path.samestat(os.fstat(opened), os.lstat(full)):
            return opened
        os.close(opened)
        raise Refused(OUTSIDE)


def _below(root: str, target: str) -> str:
    """The path of the target relative to the root, with forward slashes; empty if it is not below the root."""
    prefix = root if root.endswith(os.sep) else f"{root}{os.sep}"
    return target[len(prefix) :].replace(os.sep, "/") if target.startswith(prefix) else ""
