"""What every blob store promises. A backend joins by one fixture that returns a `Backend`."""

import re
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import uuid4

import boto3
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from moto.server import ThreadedMotoServer

from tests.examples import examples
from treering.adapters.blobs import open_blobs
from treering.adapters.blobs.local import LocalBlobs
from treering.adapters.blobs.s3 import S3Blobs
from treering.core.errors import BlobMissing, InvalidInput
from treering.core.scope import Scope
from treering.ports.blobs import Blobs, blob_path, project_path

BUCKET = "treering-test"
HERE = Scope(tenant="acme", project="shop")
KEYS = {"AWS_ACCESS_KEY_ID": "key-of-the-test", "AWS_SECRET_ACCESS_KEY": "secret-of-the-test"}


@dataclass(frozen=True)
class Backend:
    location: str
    config: Mapping[str, str]
    overwrite: Callable[[PurePosixPath, bytes], None]
    """Put bytes at a path below the store's root, behind its back."""

    def open(self) -> Blobs:
        return open_blobs(self.location, self.config)


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    _other_client(endpoint).create_bucket(Bucket=BUCKET)
    yield endpoint
    server.stop()


@pytest.fixture
def s3(s3_endpoint: str) -> Backend:
    prefix = f"run-{uuid4().hex}/blobs"
    client = _other_client(s3_endpoint)

    def overwrite(path: PurePosixPath, data: bytes) -> None:
        client.put_object(Bucket=BUCKET, Key=f"{prefix}/{path}", Body=data)

    return Backend(f"s3://{BUCKET}/{prefix}", {**KEYS, "AWS_ENDPOINT_URL": s3_endpoint}, overwrite)


@pytest.fixture
def local(tmp_path: Path) -> Backend:
    root = tmp_path / "blobs"

    def overwrite(path: PurePosixPath, data: bytes) -> None:
        (root / path).write_bytes(data)

    return Backend(str(root), {}, overwrite)


@pytest.fixture(params=["local", "s3"])
def backend(request: pytest.FixtureRequest) -> Backend:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Backend)
    return found


@pytest.fixture
def blobs(backend: Backend) -> Blobs:
    return backend.open()


def _other_client(endpoint: str) -> Any:
    """Amazon's own, so that what one client wrote is what another finds."""
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
    )


CONTENTS = {
    "empty": b"",
    "a_zero_byte": b"\0",
    "text": "Jahresring 🌲\r\n".encode(),
    "larger_than_one_part": bytes(range(256)) * 4 * 1024 * 13,
}


@pytest.mark.parametrize("data", CONTENTS.values(), ids=CONTENTS.keys())
def test_what_was_put_comes_back_under_its_sha256(backend: Backend, data: bytes) -> None:
    digest = backend.open().put(HERE, data)
    assert digest == sha256(data).hexdigest()
    assert backend.open().get(HERE, digest) == data


@examples(20)
@given(data=st.binary(max_size=4096))
def test_any_bytes_come_back(blobs: Blobs, data: bytes) -> None:
    assert blobs.get(HERE, blobs.put(HERE, data)) == data


def test_the_same_data_twice_is_one_object(backend: Backend) -> None:
    assert backend.open().put(HERE, b"twice") == backend.open().put(HERE, b"twice")
    assert len(list(backend.open().stream(HERE))) == 1


def test_putting_again_makes_a_blob_recent(blobs: Blobs) -> None:
    blobs.put(HERE, b"old orphan")
    (before,) = blobs.stream(HERE)
    time.sleep(1.1)  # S3 tells times in whole seconds
    blobs.put(HERE, b"old orphan")
    (after,) = blobs.stream(HERE)
    assert after.modified > before.modified


def test_threads_may_put_the_same_and_different_blobs_at_once(blobs: Blobs) -> None:
    contents = [f"blob {number % 10}".encode() for number in range(60)]
    with ThreadPoolExecutor(8) as pool:
        digests = list(pool.map(lambda data: blobs.put(HERE, data), contents))
    assert [blobs.get(HERE, digest) for digest in digests] == contents
    assert {blob.digest for blob in blobs.stream(HERE)} == set(digests)


def test_an_absent_blob_is_missing_by_name(blobs: Blobs) -> None:
    digest = sha256(b"never put").hexdigest()
    with pytest.raises(BlobMissing, match=f"{digest} is not in .*restore"):
        blobs.get(HERE, digest)
    assert not blobs.has(HERE, digest)


@pytest.mark.parametrize("damage", [b"", b"whol", b"wholf", b"whole and more"])
def test_damaged_content_is_never_returned(backend: Backend, damage: bytes) -> None:
    blobs = backend.open()
    digest = blobs.put(HERE, b"whole")
    backend.overwrite(blob_path(HERE, digest), damage)
    with pytest.raises(BlobMissing, match=f"{digest} in .* is damaged"):
        blobs.get(HERE, digest)


def test_putting_again_heals_a_damaged_blob(backend: Backend) -> None:
    blobs = backend.open()
    digest = blobs.put(HERE, b"whole")
    backend.overwrite(blob_path(HERE, digest), b"hole")
    blobs.put(HERE, b"whole")
    assert blobs.get(HERE, digest) == b"whole"


def test_a_deleted_blob_is_gone_and_deleting_it_again_is_fine(blobs: Blobs) -> None:
    digest = blobs.put(HERE, b"short-lived")
    assert blobs.has(HERE, digest)
    for _ in range(2):
        blobs.delete(HERE, digest)
        assert not blobs.has(HERE, digest)
    assert list(blobs.stream(HERE)) == []
    assert blobs.put(HERE, b"short-lived") == digest
    assert blobs.has(HERE, digest)


NEIGHBOURS = [
    (HERE, Scope(tenant="acme", project="shop2")),
    (HERE, Scope(tenant="acme2", project="shop")),
    (Scope(tenant="shop", project="acme"), HERE),
    (Scope(tenant="a", project="b/c"), Scope(tenant="a/b", project="c")),
    (Scope(project="Shop"), Scope(project="shop")),
    (Scope(project="caf\u00e9"), Scope(project="cafe\u0301")),
    (Scope(project="straße"), Scope(project="strasse")),
    (Scope(project="🌲"), Scope(project="🌳")),
    (Scope(project="x/../y"), Scope(project="y")),
    (Scope(tenant="..", project=".."), Scope(tenant=".", project=".")),
    (Scope(project="x" * 199 + "1"), Scope(project="x" * 199 + "2")),
]


@pytest.mark.parametrize(("mine", "theirs"), NEIGHBOURS)
def test_a_digest_from_one_project_finds_nothing_in_another(blobs: Blobs, mine: Scope, theirs: Scope) -> None:
    digest = blobs.put(mine, b"confidential")
    assert not blobs.has(theirs, digest)
    assert list(blobs.stream(theirs)) == []
    with pytest.raises(BlobMissing):
        blobs.get(theirs, digest)
    blobs.delete(theirs, digest)
    assert blobs.get(mine, digest) == b"confidential"


def test_a_namespace_keeps_its_blobs_to_itself(blobs: Blobs) -> None:
    one, other = blobs.within("one"), blobs.within("other")
    digest = one.put(HERE, b"mine")
    assert one.get(HERE, digest) == b"mine"
    assert not any(elsewhere.has(HERE, digest) for elsewhere in (other, blobs))
    other.delete(HERE, digest)
    assert [blob.digest for blob in one.stream(HERE)] == [digest]
    assert list(other.stream(HERE)) == []
    assert "one" in one.location


@pytest.mark.parametrize("name", ["", "..", "a/b", "A", "x" * 64])
def test_a_namespace_is_one_plain_segment(blobs: Blobs, name: str) -> None:
    with pytest.raises(InvalidInput, match="not a namespace"):
        blobs.within(name)


def test_principals_of_one_project_share_its_blobs(blobs: Blobs) -> None:
    digest = blobs.put(HERE.replace(principal="ann"), b"shared")
    assert blobs.get(HERE.replace(principal="bob"), digest) == b"shared"


A_DIGEST = sha256(b"x").hexdigest()


@pytest.mark.parametrize(
    "digest", ["", "..", "../../../etc/passwd", A_DIGEST.upper(), A_DIGEST[:-1], A_DIGEST + "0", A_DIGEST + "\n"]
)
@pytest.mark.parametrize("verb", ["get", "has", "delete"])
def test_what_is_no_digest_is_refused(blobs: Blobs, verb: str, digest: str) -> None:
    with pytest.raises(InvalidInput, match="not a blob's digest"):
        getattr(blobs, verb)(HERE, digest)


def test_stream_tells_digest_size_and_time_in_order(blobs: Blobs) -> None:
    before = datetime.now(UTC) - timedelta(seconds=2)
    sizes = {blobs.put(HERE, b"x" * size): size for size in range(30)}
    found = list(blobs.stream(HERE))
    assert {blob.digest: blob.size for blob in found} == sizes
    assert [blob.digest for blob in found] == sorted(sizes)
    assert all(before <= blob.modified <= datetime.now(UTC) + timedelta(seconds=2) for blob in found)


def test_blobs_may_be_deleted_while_they_stream(blobs: Blobs) -> None:
    for number in range(20):
        blobs.put(HERE, str(number).encode())
    for blob in blobs.stream(HERE):
        blobs.delete(HERE, blob.digest)
    assert list(blobs.stream(HERE)) == []


def test_an_untouched_project_streams_nothing(blobs: Blobs) -> None:
    assert list(blobs.stream(HERE)) == []


def test_what_is_no_blob_is_not_streamed(backend: Backend) -> None:
    blobs = backend.open()
    digest = blobs.put(HERE, b"blob")
    backend.overwrite(blob_path(HERE, digest).with_name("README"), b"left by a person")
    assert [blob.digest for blob in blobs.stream(HERE)] == [digest]


def test_the_location_tells_people_where_but_no_secret(backend: Backend) -> None:
    location = backend.open().location
    assert backend.location in location
    assert not [value for name, value in backend.config.items() if "KEY" in name and value in location]


NAMES = st.text(st.characters(exclude_categories=["Cc"]), min_size=1, max_size=200)
SAFE_SEGMENT = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")


def _folded(path: PurePosixPath) -> str:
    return unicodedata.normalize("NFKC", str(path)).casefold()


@given(one=st.tuples(NAMES, NAMES), other=st.tuples(NAMES, NAMES))
@example(one=("a", "B"), other=("a", "b"))
@example(one=("a/b", "c"), other=("a", "b/c"))
@example(one=("a-b", "c"), other=("a b", "c"))
@example(one=("ı", "K"), other=("i", "K"))
def test_projects_never_share_a_path_even_where_case_is_folded(one: tuple[str, str], other: tuple[str, str]) -> None:
    paths = [
        _folded(project_path(Scope.model_construct(tenant=tenant, project=project))) for tenant, project in (one, other)
    ]
    assert (paths[0] == paths[1]) == (one == other)


@given(tenant=NAMES, project=NAMES)
@example(tenant="..", project="../../../etc")
@example(tenant="con", project="NUL.txt")
@example(tenant=".unfinished", project="/")
def test_no_name_leaves_the_root(tenant: str, project: str) -> None:
    path = blob_path(Scope.model_construct(tenant=tenant, project=project), A_DIGEST)
    assert len(path.parts) == 4
    assert not path.is_absolute()
    assert all(SAFE_SEGMENT.fullmatch(part) for part in path.parts)


@pytest.mark.parametrize(
    ("location", "kind", "where"),
    [
        ("/var/lib/blobs", LocalBlobs, "/var/lib/blobs"),
        (Path("/var/lib/blobs"), LocalBlobs, "/var/lib/blobs"),
        (Path("/var/s3:/blobs"), LocalBlobs, "/var/s3:/blobs"),
        ("file:///var/lib/my%20blobs", LocalBlobs, "/var/lib/my blobs"),
        ("file:/var/lib/blobs", LocalBlobs, "/var/lib/blobs"),
        ("FILE://localhost/var/lib/blobs", LocalBlobs, "/var/lib/blobs"),
        ("s3://bucket/a/b/", S3Blobs, "s3://bucket/a/b"),
        ("S3://bucket", S3Blobs, "s3://bucket"),
    ],
)
def test_the_scheme_chooses_the_store(location: str | Path, kind: type[Blobs], where: str) -> None:
    blobs = open_blobs(location, KEYS)
    assert type(blobs) is kind
    assert blobs.location == where


def test_a_relative_directory_stays_where_it_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert open_blobs("blobs", {}).location == str(tmp_path / "blobs")


def test_an_unknown_scheme_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        InvalidInput, match="gs: URLs are not supported for blobs; use a directory or one of file:, s3:"
    ) as raised:
        open_blobs("gs://user:password@bucket", {})
    assert "password" not in str(raised.value)


@pytest.mark.parametrize(
    "location", ["", "  ", "a\0b", "file://elsewhere/blobs", "file:relative", "file:///a?b", "s3:"]
)
def test_a_location_that_names_no_store_is_refused(location: str) -> None:
    with pytest.raises(InvalidInput):
        open_blobs(location, KEYS)
