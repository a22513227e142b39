"""Commands that run another command with a folder that is read-only or full, in a mount namespace of its own."""

import os
import subprocess
from pathlib import Path

import pytest

_READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
_FULL = """
copy=$(mktemp -d) && cp -a "$0/." "$copy" && mount -t tmpfs -o size=16m,mode=700 tmpfs "$0" || exit 99
cp -a "$copy/." "$0" && rm -rf "$copy" || exit 99
dd if=/dev/zero of="$0/filler" bs=1k 2>/dev/null
exec "$@"
"""


def read_only(folder: Path) -> list[str | Path]:
    """A command that runs its arguments with a read-only folder."""
    return [*_namespace(), "sh", "-c", _READ_ONLY, folder]


def full_disk(folder: Path) -> list[str | Path]:
    """A command that runs its arguments with the folder on a full disk."""
    return [*_namespace(), "sh", "-c", _FULL, folder]


def _namespace() -> list[str | Path]:
    """`unshare` as this user may call it; the test is skipped where the system has or allows no mount namespaces."""
    command = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    try:
        subprocess.run([*command, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as exc:
        pytest.skip(f"this system allows no mount namespaces: {exc}")
    return [*command]
