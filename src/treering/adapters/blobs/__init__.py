"""Blob stores, chosen by the scheme of their location."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from treering.adapters.blobs.local import LocalBlobs
from treering.core.errors import InvalidInput

if TYPE_CHECKING:
    from treering.ports.blobs import Blobs

# At least two letters: a single letter is a Windows drive.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_FILE_URL = re.compile(r"(?i:file):(?://(?:localhost)?)?(?P<path>/(?!/)[^?#]*)")


def open_blobs(location: str | Path, config: Mapping[str, str]) -> Blobs:
    """The blob store at a path, a `file:` URL or an `s3:` URL; `config` holds the variables of the S3 client."""
    text = str(location)
    if not text.strip() or "\0" in text:
        raise InvalidInput("the blob store needs a location: a directory, or a URL such as s3://bucket/prefix")
    named = _SCHEME.match(text) if isinstance(location, str) else None
    scheme = named.group(1).lower() if named else ""
    opener = _OPENERS.get(scheme)
    if opener is None:
        raise InvalidInput(f"{scheme}: URLs are not supported for blobs; use a directory or one of {_supported()}")
    return opener(text, config)


def _open_path(path: str, config: Mapping[str, str]) -> Blobs:
    return LocalBlobs(Path(path))


def _open_file_url(url: str, config: Mapping[str, str]) -> Blobs:
    parts = _FILE_URL.fullmatch(url)
    if parts is None:
        raise InvalidInput(f"{url!r} is not a directory of this machine; write it as file:///absolute/path")
    from urllib.request import url2pathname

    return LocalBlobs(Path(url2pathname(parts["path"])))


def _open_s3(url: str, config: Mapping[str, str]) -> Blobs:
    from treering.adapters.blobs.s3 import S3Blobs

    return S3Blobs(url, config)


def _supported() -> str:
    return ", ".join(f"{scheme}:" for scheme in _OPENERS if scheme)


_OPENERS: Mapping[str, Callable[[str, Mapping[str, str]], Blobs]] = MappingProxyType(
    {"": _open_path, "file": _open_file_url, "s3": _open_s3}
)
