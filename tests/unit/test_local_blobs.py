"""What only a directory can do wrong: be killed half-way, be full, be read-only, be shared by processes."""

import errno
import os
import random
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.lengths import at_length
from treering.adapters.blobs.local import LocalBlobs
from treering.core.errors import BlobMissing, StoreError, StoreFull, StoreReadOnly, StoreUnavailable
from treering.core.scope import Scope
from treering.ports.blobs import blob_path, digest_of

HERE = Scope(tenant="acme", project="shop")
NOW = datetime(2026, 7, 1, tzinfo=UTC)

PRELUDE = """
import os, random, resource, sys
from pathlib import Path
from treering.adapters.blobs.local import LocalBlobs
from treering.core.errors import TreeringError
from treering.core.scope import Scope
blobs, here = LocalBlobs(Path(sys.argv[1])), Scope(tenant="acme", project="shop")
"""
PUT_FOREVER = """
print("ready", flush=True)
source = random.Random(int(sys.argv[2]))
while True:
    print(blobs.put(here, source.randbytes(source.randrange(400_000))), flush=True)
"""
PUT_THE_SAME = """
for number in range(25):
    blobs.put(here, b"%d" % number * 1000)
"""
PUT_WITH_A_LIMIT = """
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))
print(blobs.put(here, b"fits"))
try:
    blobs.put(here, bytes(100_000))
except TreeringError as error:
    print(type(error).__name__, error)
"""
USE_AS_NOBODY = """
if os.getuid() == 0:
    os.setuid(65534)
print(blobs.get(here, sys.argv[2]).decode())
for attempt in (lambda: blobs.put(here, b"new"), lambda: blobs.delete(here, sys.argv[2])):
    try:
        attempt()
    except TreeringError as error:
        print(type(error).__name__, error)
"""


def _start(script: str, root: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PRELUDE + script, str(root), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _output(script: str, root: Path, *arguments: str) -> list[str]:
    with _start(script, root, *arguments) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return output.splitlines()


def _files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_killed_writers_leave_every_acknowledged_blob_whole_and_no_partial_one_visible(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path / "blobs")
    acknowledged: set[str] = set()
    for round_number in range(at_length(4, full=20)):
        # Both writers of a round put the same sequence, so they meet at the same names.
        writers = [_start(PUT_FOREVER, tmp_path / "blobs", str(round_number)) for _ in range(2)]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        time.sleep(random.uniform(0.01, 0.15))
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            # Not with `communicate`: it does not see what `readline` has read ahead.
            with writer:
                assert writer.stdout is not None
                acknowledged.update(line.strip() for line in writer.stdout if line.endswith("\n"))
    assert acknowledged
    visible = {blob.digest: blob.size for blob in blobs.stream(HERE)}
    assert acknowledged <= visible.keys()
    assert all(len(blobs.get(HERE, digest)) == size for digest, size in visible.items())


def test_many_processes_put_the_same_blobs_at_once(tmp_path: Path) -> None:
    writers = [_start(PUT_THE_SAME, tmp_path) for _ in range(4)]
    for writer in writers:
        writer.communicate(timeout=60)
    assert [writer.returncode for writer in writers] == [0, 0, 0, 0]
    blobs = LocalBlobs(tmp_path)
    found = [blob.digest for blob in blobs.stream(HERE)]
    assert len(found) == 25
    assert all(blobs.get(HERE, digest) for digest in found)
    assert len(_files(tmp_path)) == 25


def test_content_is_synced_before_it_gets_its_name_and_the_name_before_put_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    sync, rename = os.fsync, os.replace

    def recorded_sync(handle: int) -> None:
        name = Path(f"/proc/self/fd/{handle}").readlink()
        events.append(f"sync {'content' if name.is_file() else name.relative_to(tmp_path)}")
        sync(handle)

    def recorded_rename(source: Path, target: Path) -> None:
        events.append("rename")
        rename(source, target)

    monkeypatch.setattr(os, "fsync", recorded_sync)
    monkeypatch.setattr(os, "replace", recorded_rename)
    digest = LocalBlobs(tmp_path / "blobs").put(HERE, b"durable")
    named = events.index("rename")
    assert "sync content" in events[:named]
    shard, project, tenant, _ = blob_path(HERE, digest).parents
    assert events[named + 1 :] == [
        f"sync {Path('blobs') / shard}",
        f"sync {Path('blobs') / project}",
        f"sync {Path('blobs') / tenant}",
        "sync blobs",
    ]
    assert "sync ." in events[:named]


def test_the_directory_appears_with_the_first_put_and_is_for_this_user_only(tmp_path: Path) -> None:
    root = tmp_path / "deep" / "blobs"
    blobs = LocalBlobs(root)
    assert list(blobs.stream(HERE)) == []
    assert blobs.sweep_unfinished(NOW) == 0
    assert not root.exists()
    blobs.put(HERE, b"private")
    modes = {path.is_dir(): stat.S_IMODE(path.stat().st_mode) for path in (root, *root.rglob("*"))}
    assert modes == {True: 0o700, False: 0o600}


def test_unfinished_files_are_invisible_and_swept_once_they_are_old(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path)
    digest = blobs.put(HERE, b"finished")
    for name, age in {"fresh": timedelta(minutes=59), "old": timedelta(minutes=61)}.items():
        unfinished = tmp_path / ".unfinished" / name
        unfinished.write_bytes(b"half")
        os.utime(unfinished, times=((NOW - age).timestamp(),) * 2)
    assert [blob.digest for blob in blobs.stream(HERE)] == [digest]
    assert blobs.sweep_unfinished(NOW) == 1
    assert blobs.sweep_unfinished(NOW) == 0
    assert [path.name for path in (tmp_path / ".unfinished").iterdir()] == ["fresh"]
    assert blobs.get(HERE, digest) == b"finished"


def test_a_real_size_limit_is_a_full_store_and_leaves_nothing_behind(tmp_path: Path) -> None:
    digest, message = _output(PUT_WITH_A_LIMIT, tmp_path)
    assert message.startswith("StoreFull")
    assert "free some space" in message
    assert [path.name for path in _files(tmp_path)] == [digest]


FAILURES = [
    (errno.ENOSPC, StoreFull, "free some space"),
    (errno.EDQUOT, StoreFull, "free some space"),
    (errno.EACCES, StoreReadOnly, "give this user the right"),
    (errno.EPERM, StoreReadOnly, "give this user the right"),
    (errno.EROFS, StoreReadOnly, "give this user the right"),
    (errno.EIO, StoreUnavailable, "healthy disk"),
]


@pytest.mark.parametrize("step", ["fsync", "replace", "mkdir"])
@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: errno.errorcode[failure[0]])
def test_a_failing_disk_is_told_in_our_words_and_nothing_half_written_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, failure: tuple[int, type[StoreError], str]
) -> None:
    code, error, advice = failure

    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    blobs = LocalBlobs(tmp_path)
    kept = blobs.put(HERE, b"kept")
    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(error, match=f"blob store {tmp_path}: .*{advice}") as raised:
            blobs.put(HERE, b"lost")
    assert isinstance(raised.value.__cause__, OSError)
    assert blobs.get(HERE, kept) == b"kept"
    assert [path.name for path in _files(tmp_path)] == [kept]
    assert blobs.get(HERE, blobs.put(HERE, b"lost")) == b"lost"


@pytest.fixture
def reachable_directory() -> Iterator[Path]:
    """pytest's own temporary directories are closed to other users at the top; this one is not."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name) / "blobs"


def test_a_store_without_the_right_to_write_still_reads(reachable_directory: Path) -> None:
    digest = LocalBlobs(reachable_directory).put(HERE, b"readable")
    for path in (*reachable_directory.rglob("*"), reachable_directory):
        path.chmod(0o555)
    content, put, delete = _output(USE_AS_NOBODY, reachable_directory, digest)
    assert content == "readable"
    for message in (put, delete):
        assert message.startswith("StoreReadOnly")
        assert "give this user the right" in message


def test_a_root_that_is_a_file_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("not a directory")
    with pytest.raises(StoreUnavailable, match="check that the path is a directory"):
        LocalBlobs(tmp_path / "blobs").put(HERE, b"data")


def test_a_bit_that_flipped_is_found_and_named(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path)
    digest = blobs.put(HERE, bytes(1000))
    path = tmp_path / blob_path(HERE, digest)
    flipped = bytes(500) + b"\1" + bytes(499)
    path.write_bytes(flipped)
    with pytest.raises(BlobMissing, match=f"{digest} .* 1,000 bytes hash to {digest_of(flipped)}"):
        blobs.get(HERE, digest)
