"""Blobs in a bucket of S3 or of a compatible server."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from treering.core.errors import InvalidInput, MissingDependency, StoreError, StoreFull, StoreUnavailable
from treering.ports.blobs import (
    DIGEST,
    StoredBlob,
    blob_path,
    checked_namespace,
    digest_of,
    missing_blob,
    project_path,
    verified,
)

if TYPE_CHECKING:
    from obstore.store import S3Config, S3Credential, S3Store

    from treering.core.scope import Scope

# The smallest part size that S3 accepts. Two at a time stay within the timeouts below on a link of 3 Mbit/s.
_PART_BYTES = 5 * 1024 * 1024
_PARTS_AT_ONCE = 2

_URL = re.compile(
    r"(?i:s3)://(?P<bucket>[A-Za-z0-9][A-Za-z0-9._-]{1,254})"
    r"(?P<prefix>(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9!_.*'()=-]+)*)/?"
)
_ENDPOINT = re.compile(r"https?://(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~/-]*)?")
_SENDABLE = re.compile(r"[!-~](?:[ -~]*[!-~])?")

# The later of two names for one option wins. Unlisted names are ignored, so that an environment can be passed.
_OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "AWS_DEFAULT_REGION": "region",
        "AWS_REGION": "region",
        "AWS_ENDPOINT_URL": "aws_endpoint_url_s3",
        "AWS_ENDPOINT_URL_S3": "aws_endpoint_url_s3",
        "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "virtual_hosted_style_request",
        "AWS_SERVER_SIDE_ENCRYPTION": "server_side_encryption",
        "AWS_SSE_KMS_KEY_ID": "sse_kms_key_id",
        "AWS_WEB_IDENTITY_TOKEN_FILE": "web_identity_token_file",
        "AWS_ROLE_ARN": "role_arn",
        "AWS_ROLE_SESSION_NAME": "role_session_name",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "container_credentials_relative_uri",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": "container_credentials_full_uri",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "container_authorization_token_file",
        "AWS_METADATA_ENDPOINT": "metadata_endpoint",
    }
)
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_TOKEN = "AWS_SESSION_TOKEN"
_WAYS_TO_SIGN = (
    _KEYS,
    ("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"),
    ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",),
    ("AWS_CONTAINER_CREDENTIALS_FULL_URI",),
    ("AWS_METADATA_ENDPOINT",),
)


@dataclass(frozen=True, slots=True)
class S3Timeouts:
    """Timeouts and retries of requests to the server."""

    connect: timedelta = timedelta(seconds=2)
    silence: timedelta = timedelta(seconds=30)
    retries: int = 2
    # With `connect`, an address that drops packets is given up within ten seconds.
    retry_for: timedelta = timedelta(seconds=5)
    # Enough for a blob of 64 MiB on a link of 1 Mbit/s.
    whole_request: timedelta = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class _Symptom:
    sign: str
    advice: str
    error: type[StoreError] = StoreUnavailable


_CHECK_REGION = "the bucket is in another region; set AWS_REGION to it"
_NO_ROOM = "the server has no space left; free some space or raise the quota"
# The first sign found decides: S3's own codes before the bare status they arrive with.
_SYMPTOMS = (
    _Symptom("NoSuchBucket", "the bucket does not exist; create it or correct the URL"),
    _Symptom("InvalidAccessKeyId", "the server does not know this key; check AWS_ACCESS_KEY_ID"),
    _Symptom("SignatureDoesNotMatch", "the secret does not belong to the key; check AWS_SECRET_ACCESS_KEY"),
    _Symptom("ExpiredToken", "the session has expired; get a new AWS_SESSION_TOKEN"),
    _Symptom("RequestTimeTooSkewed", "this machine's clock is wrong; correct it"),
    _Symptom("AuthorizationHeaderMalformed", _CHECK_REGION),
    _Symptom("PermanentRedirect", _CHECK_REGION),
    _Symptom("XMinioStorageFull", _NO_ROOM, StoreFull),
    _Symptom("QuotaExceeded", _NO_ROOM, StoreFull),
    _Symptom("507 Insufficient Storage", _NO_ROOM, StoreFull),
    _Symptom("401 Unauthorized", "the server requires valid keys; check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
    _Symptom(
        "403 Forbidden",
        "these keys lack a permission; grant s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket",
    ),
    _Symptom("404 Not Found", "the bucket does not exist, or the endpoint is not S3; check both"),
    _Symptom("HTTP error", "the server did not answer; check AWS_ENDPOINT_URL and that it is running"),
)
_UNKNOWN = _Symptom("", "the server rejected the request or failed; its answer is the cause of this error")


class S3Blobs:
    """One object per blob: `s3://bucket/prefix/<namespace>/<tenant>/<project>/ab/abcdef…`.

    `config` holds the standard AWS variables by name and must determine how requests are signed: the metadata service
    of the machine is used only if `AWS_METADATA_ENDPOINT` is set. Large blobs are uploaded in parts; a lifecycle rule
    of the bucket should abort incomplete uploads, which killed processes leave behind.
    """

    def __init__(self, url: str, config: Mapping[str, str], timeouts: S3Timeouts | None = None) -> None:
        bucket, prefix = _parsed(url)
        self._url = f"s3://{bucket}/{prefix}".rstrip("/")
        given = _given(config)
        self._endpoint = _endpoint(given)
        self._store = _client(bucket, prefix, given, timeouts or S3Timeouts())
        self._namespace = PurePosixPath()

    @property
    def location(self) -> str:
        url = f"{self._url}/{self._namespace}" if self._namespace.name else self._url
        return f"{url} at {self._endpoint}" if self._endpoint else url

    def within(self, namespace: str) -> S3Blobs:
        inner = copy(self)
        inner._namespace = self._namespace / checked_namespace(namespace)
        return inner

    def put(self, scope: Scope, data: bytes) -> str:
        digest = digest_of(data)
        with self._translated():
            # Not create-only: overwriting repairs a damaged object and renews the timestamp of an old one.
            self._store.put(
                str(self._path(scope, digest)), data, chunk_size=_PART_BYTES, max_concurrency=_PARTS_AT_ONCE
            )
        return digest

    def get(self, scope: Scope, digest: str) -> bytes:
        path = self._path(scope, digest)
        with self._translated():
            try:
                data = self._store.get(str(path)).bytes().to_bytes()
            except FileNotFoundError as exc:
                self._require_bucket(path)
                raise missing_blob(digest, self.location) from exc
        return verified(data, digest, self.location)

    def has(self, scope: Scope, digest: str) -> bool:
        path = self._path(scope, digest)
        with self._translated():
            try:
                self._store.head(str(path))
            except FileNotFoundError:
                self._require_bucket(path)
                return False
        return True

    def delete(self, scope: Scope, digest: str) -> None:
        path = self._path(scope, digest)
        with self._translated():
            try:
                self._store.delete(str(path))
            except FileNotFoundError:
                self._require_bucket(path)

    def stream(self, scope: Scope) -> Iterator[StoredBlob]:
        with self._translated():
            for page in self._store.list(str(self._namespace / project_path(scope))):
                for found in page:
                    name = PurePosixPath(found["path"]).name
                    if DIGEST.fullmatch(name):
                        yield StoredBlob(name, found["size"], found["last_modified"])

    def sweep_unfinished(self, now: datetime) -> int:
        return 0

    def _path(self, scope: Scope, digest: str) -> PurePosixPath:
        return self._namespace / blob_path(scope, digest)

    def _require_bucket(self, missing: PurePosixPath) -> None:
        """Distinguish a missing blob from a missing bucket: both are 404, but a missing bucket cannot be listed."""
        next(iter(self._store.list(str(missing.parent), chunk_size=1)), None)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, OSError) as exc:
            # After the first paragraph follows the client's internal state.
            answer = str(exc).partition("\n\n")[0]
            symptom = next((each for each in _SYMPTOMS if each.sign in answer), _UNKNOWN)
            raise symptom.error(f"blob store {self.location}: {symptom.advice}") from exc


def _parsed(url: str) -> tuple[str, str]:
    parts = _URL.fullmatch(url)
    if parts is None:
        raise InvalidInput(
            "not the URL of a bucket; write it as s3://bucket/prefix in plain letters and digits, and set keys and "
            "server with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL"
        )
    return parts["bucket"], parts["prefix"].strip("/")


def _given(config: Mapping[str, str]) -> dict[str, str]:
    """The S3 variables of `config`, validated: the client panics on a value that is not a valid HTTP header."""
    given = {name: config[name] for name in (*_KEYS, _TOKEN, *_OPTIONS) if config.get(name)}
    for name, value in given.items():
        if not _SENDABLE.fullmatch(value):
            raise InvalidInput(f"{name} contains characters that cannot be sent; remove stray spaces and line breaks")
    if not any(given.keys() >= set(way) for way in _WAYS_TO_SIGN):
        raise InvalidInput(
            "no keys for S3; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or, on an Amazon machine with a role, "
            "AWS_METADATA_ENDPOINT=http://169.254.169.254"
        )
    return given


def _endpoint(given: Mapping[str, str]) -> str:
    """The server's address; empty for Amazon, which the client derives from the region."""
    endpoint = given.get("AWS_ENDPOINT_URL_S3", given.get("AWS_ENDPOINT_URL", ""))
    if endpoint and not _ENDPOINT.fullmatch(endpoint):
        raise InvalidInput("AWS_ENDPOINT_URL is not the address of a server; write it as https://host:port")
    return endpoint


def _client(bucket: str, prefix: str, given: Mapping[str, str], timeouts: S3Timeouts) -> S3Store:
    try:
        from obstore.exceptions import BaseError
        from obstore.store import S3Store
    except ImportError as exc:
        raise MissingDependency("the S3 client is not installed; run pip install 'treering[s3]'") from exc
    options = {option: given[name] for name, option in _OPTIONS.items() if name in given}
    keys = [given[name] for name in (*_KEYS, _TOKEN) if name in given]
    try:
        return S3Store(
            bucket,
            prefix=prefix or None,
            # Every S3-compatible server supports single deletes.
            config=cast("S3Config", {**options, "disable_bulk_delete": True}),
            client_options={
                "allow_http": _endpoint(given).startswith("http:"),
                "connect_timeout": timeouts.connect,
                "read_timeout": timeouts.silence,
                "timeout": timeouts.whole_request,
            },
            retry_config={"max_retries": timeouts.retries, "retry_timeout": timeouts.retry_for},
            credential_provider=_Keys(*keys) if given.keys() >= set(_KEYS) else None,
        )
    except BaseError as exc:
        answer = str(exc).partition("\n\n")[0]
        raise InvalidInput(f"the S3 client rejects its configuration: {answer}") from exc


@dataclass(frozen=True, slots=True)
class _Keys:
    """Passed as a provider: with plain keys, the client would add a session token from the environment."""

    access_key_id: str
    secret_access_key: str
    token: str | None = None

    def __call__(self) -> S3Credential:
        return {
            "access_key_id": self.access_key_id,
            "secret_access_key": self.secret_access_key,
            "token": self.token,
            "expires_at": None,
        }
