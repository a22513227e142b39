"""The files that a calibration writes: `calibration.toml`, and `cuts/` beside it."""

import gzip
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bench.calibration.counting import Cuts

HOME = Path(__file__).parents[2] / "src" / "treering" / "adapters" / "tokenizers"
CALIBRATION = HOME / "calibration.toml"

HEAD = """\
# What a token of o200k_base costs other families of models. `cuts/` holds into how many tokens each cuts every token of
# o200k_base on its own; the first number after a kind of token multiplies that, the others are added by class of length
# (`kinds.py`). Fitted so that every window of 2,000 tokens of the texts comes out at least 1.5 % too high, and the sum
# as little too high as that allows.
#
# Made by `make bench NAME=calibrate ARGS="…"` (bench/README.md): `bench/calibration/vocabularies.py` says where the
# vocabularies come from, `bench/calibration/texts.py` which texts are read where no file is named. `texts` is what a
# family was fitted to. Texts that were kept (`--keep`) give the same numbers again, those of another machine give other
# costs and similar sums. Those of sum e4c7786c8622ba9f are prose, chats and documentation in English, code, JSON, logs,
# sessions of coding agents, some 65 languages, base64 and other noise; they belong to others and are no part of the
# repository.
#
# `over`: the sum over all texts, which are the texts of the fit. `held_out`: the same fit on one half of the sources,
# measured on windows of the other half; `single`: on its texts of 40 to 8,000 characters. Three forms of the estimate
# and about ten settings were tried with the held-out half in view, so new texts may fare somewhat worse than it.
"""

Entries = Mapping[str, Mapping[str, Any]]


def entries() -> Entries:
    """What the calibration file says now, by family."""
    return tomllib.loads(CALIBRATION.read_text("utf-8"))


def cuts_of(family: str) -> bytes:
    """What `cuts/` says now: nothing for a family that is new."""
    file = HOME / "cuts" / f"{family}.gz"
    return gzip.decompress(file.read_bytes()) if file.exists() else b""


def write(changed: Entries, cuts: Mapping[str, Cuts]) -> None:
    """Replace what is said of the families in `changed`, and leave the others as they are."""
    CALIBRATION.write_text(rendered({**entries(), **changed}), "utf-8")
    for family, numbers in cuts.items():
        packed = gzip.compress(numbers.astype(np.uint8).tobytes(), 9, mtime=0)
        (HOME / "cuts" / f"{family}.gz").write_bytes(packed)


def rendered(all_entries: Entries) -> str:
    """The whole calibration file."""
    return HEAD + "\n" + "\n\n".join(_section(name, entry) for name, entry in all_entries.items()) + "\n"


def _section(name: str, entry: Mapping[str, Any]) -> str:
    lines = [f"[{_key(name)}]", f"as_of = {entry['as_of']}"]
    lines += [f'{word} = "{entry[word]}"' for word in ("against", "texts") if word in entry]
    lines += [f"over = {entry['over']:.3f}", *(f"{part} = {_inline(entry[part])}" for part in ("held_out", "single"))]
    lines += ["", f"[{_key(name)}.costs]"]
    return "\n".join((*lines, *(f"{_key(group)} = [{_numbers(costs)}]" for group, costs in entry["costs"].items())))


def _key(name: str) -> str:
    return f'"{name}"' if "." in name else name


def _inline(values: Mapping[str, float]) -> str:
    shown = (f"{name} = {value if isinstance(value, int) else f'{value:.3f}'}" for name, value in values.items())
    return f"{{ {', '.join(shown)} }}"


def _numbers(costs: list[float]) -> str:
    return ", ".join(f"{cost:.3f}".rstrip("0").rstrip(".") if cost else "0" for cost in costs)
