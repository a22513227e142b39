"""The texts of a calibration.

Every machine has Python's own sources and topics, the files of installed packages, and noise made from a seed. The sets
of the workplace (`../shared/bench`) join where they are, and so does each folder that the user names: its subfolders
are kinds of text (those of `/usr/share/locale` are languages). Without such a folder few languages are fitted.
"""

import gzip
import json
import math
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from random import Random

from bench.calibration.noise import NOISE, noise
from bench.calibration.pieces import PACKAGES, STANDARD, pieces, rows, said
from bench.data import DATA

FIRST, SECOND = "first", "second"
HALVES = (FIRST, SECOND)
FOLDER, SET, NOISY = 90_000, 200_000, 45_000
"""Characters of each source of a folder, of the workplace, and of noise."""
_HEAD = 20_000
"""Characters of one file: a source has many."""


@dataclass(frozen=True)
class Text:
    """A piece of a source. Sources of the first half are fitted when those of the second are left out."""

    source: str
    half: str
    text: str


_FILES = (
    ("standard modules", FIRST, STANDARD, "*.py", 400_000),
    ("standard packages", SECOND, STANDARD, "[a-r]*/*.py", 200_000),
    ("code a-m", SECOND, PACKAGES, "[a-m]*/**/*.py", 300_000),
    ("code n-z", FIRST, PACKAGES, "[n-z]*/**/*.py", 200_000),
    ("headers a-m", FIRST, PACKAGES, "[a-m]*/**/*.h", 100_000),
    ("headers n-z", SECOND, PACKAGES, "[n-z]*/**/*.h", 100_000),
    ("queries", SECOND, PACKAGES, "**/*.sql", 60_000),
    ("metadata a-m", FIRST, PACKAGES, "[a-m]*.dist-info/METADATA", 300_000),
    ("metadata n-z", SECOND, PACKAGES, "[n-z]*.dist-info/METADATA", 300_000),
    ("topics", SECOND, STANDARD, "pydoc_data/topics.py", 200_000),
    ("notes", FIRST, PACKAGES, "**/*.md", 100_000),
    ("json a-b", FIRST, PACKAGES, "[a-b]*/**/*.json", 300_000),
    ("json c-z", SECOND, PACKAGES, "[c-z]*/**/*.json", 300_000),
    ("tables of packages", FIRST, PACKAGES, "**/*.csv", 60_000),
    ("settings", SECOND, PACKAGES, "**/*.toml", 60_000),
    ("pages", FIRST, PACKAGES, "**/*.html", 100_000),
)
"""Source, half, where, which files, and how many characters."""
_SETS = (
    ("longmemeval", FIRST),
    ("realtalk", FIRST),
    ("beam100k", SECOND),
    ("locomo", SECOND),
    ("xquad_en_en", SECOND),
    ("xquad_es_es", SECOND),
    ("xquad_zh_zh", FIRST),
    ("memdaily", SECOND),
)


def gather(folders: Iterable[Path]) -> list[Text]:
    """All texts that are here, each half in order of its sources; the same files give the same texts."""
    found = [*_of_files(), *_of_noise(), *_of_sets(), *_of_sessions()]
    for folder in folders:
        found.extend(_of_folder(folder))
    return found


def read(file: Path) -> list[Text]:
    """Texts that `keep` wrote."""
    return [Text(**row) for row in rows(file)]


def keep(found: Iterable[Text], file: Path) -> None:
    """Write the texts to a packed JSONL file, so that the same calibration can be made again anywhere."""
    with gzip.open(file, "wt", encoding="utf-8") as lines:
        lines.writelines(f"{json.dumps(asdict(text), ensure_ascii=False)}\n" for text in found)


def described(found: list[Text]) -> str:
    """How much text there is, and a sum that tells whether it is the same."""
    digest = sha256("\0".join(part for text in found for part in asdict(text).values()).encode()).hexdigest()
    sources = sum(1 for _ in groupby(found, key=lambda text: (text.source, text.half)))
    return f"{sum(len(text.text) for text in found):,} characters from {sources} sources, sha256 {digest[:16]}"


def _cut(source: str, half: str, found: Iterable[str], size: int) -> Iterator[Text]:
    used = 0
    for piece in pieces(found, Random(f"{source} {half}"), math.inf):
        if piece.strip():
            yield Text(source, half, piece)
            used += len(piece)
        if used >= size:
            return


def _of_files() -> Iterator[Text]:
    for source, half, place, pattern, size in _FILES:
        files = sorted(file for file in place.glob(pattern) if "test" not in str(file.relative_to(place)))
        Random(source).shuffle(files)
        yield from _cut(source, half, (_content(file)[:_HEAD] for file in files), size)


def _of_noise() -> Iterator[Text]:
    for half in HALVES:
        for name in NOISE:
            source = f"{name} {half}"
            yield from _cut(source, half, [noise(name, Random(source))], NOISY)


def _of_sets() -> Iterator[Text]:
    for name, half in _SETS:
        if (file := DATA / name / "corpus.jsonl.gz").exists():
            yield from _cut(name, half, (row["text"] for row in rows(file)), SET)


def _of_sessions() -> Iterator[Text]:
    if not (file := DATA / "agent_sessions" / "events.jsonl.gz").exists():
        return
    events = list(rows(file))
    places = {session: place for place, session in enumerate(sorted({event["session"] for event in events}))}
    Random(7).shuffle(events)
    for part, kinds in (
        ("results", {"tool_result"}),
        ("calls", {"tool_use"}),
        ("texts", {"user_text", "assistant_text"}),
    ):
        for number, half in enumerate(HALVES):
            mine = (said(row) for row in events if row["kind"] in kinds and places[row["session"]] % 2 == number)
            yield from _cut(f"sessions {part} {half}", half, mine, 2 * SET)


def _of_folder(folder: Path) -> Iterator[Text]:
    """A subfolder is two sources: every other file of it belongs to the second half."""
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = sorted(path for path in place.rglob("*") if path.is_file())
        for number, half in enumerate(HALVES):
            found = map(_content, files[number::2])
            yield from _cut(f"{folder.name}/{place.name} {half}", half, found, FOLDER)


def _content(file: Path) -> str:
    """What a file says; nothing where it is no text."""
    reader: Callable[[Path], str] = _translations if file.suffix == ".mo" else _plain
    try:
        return reader(file)
    except (OSError, UnicodeDecodeError, struct.error):
        return ""


def _plain(file: Path) -> str:
    return file.read_text("utf-8")


def _translations(file: Path) -> str:
    """What a catalogue of gettext translates to, without the heading that comes first."""
    content = file.read_bytes()
    order = "<" if content.startswith(b"\xde\x12\x04\x95") else ">"
    count, _, table = struct.unpack_from(f"{order}3I", content, 8)
    spans = (struct.unpack_from(f"{order}2I", content, table + 8 * number) for number in range(1, count))
    return b"\n".join(content[start : start + length] for length, start in spans).replace(b"\0", b"\n").decode()
