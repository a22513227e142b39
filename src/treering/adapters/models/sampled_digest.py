"""Digest of a large file by its size and samples: it recognises another version of the file."""

from hashlib import sha256
from typing import BinaryIO

_PAGE, _SAMPLED_PAGES = 4_096, 64


def sampled_digest(file: BinaryIO) -> str:
    """Digest of the size of a file and of pages from its beginning to its end.

    A digest of all of it would take most of the time of loading.
    """
    size = file.seek(0, 2)
    digest = sha256(size.to_bytes(8))
    for page in range(_SAMPLED_PAGES):
        file.seek(max(0, size - _PAGE) * page // (_SAMPLED_PAGES - 1))
        digest.update(file.read(_PAGE))
    return digest.hexdigest()
