"""Makes `calibration.toml` and `cuts/` again: what tokens of o200k_base cost models without a public tokenizer.

The vocabularies are read from a directory (`vocabularies.py` says how to fill it) and counted over the texts of this
machine (`texts.py` says which), or over texts that were kept. Nothing is changed without `--write`.
"""

import argparse
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.calibration import comparison, files, texts
from bench.calibration.counting import Cuts, Found, base_tokens, count, largest
from bench.calibration.families import FAMILIES
from bench.calibration.fit import Kinds, half_of
from bench.calibration.measuring import Calibration, calibrate
from bench.calibration.vocabularies import missing
from bench.results import table

HEADS = (
    "family",
    "sum",
    "lowest window",
    "left out: sum",
    "windows under",
    "lowest window",
    "single texts under",
    "against the file",
)


def main() -> None:
    options = _options()
    found = _texts(options.texts)
    if options.keep:
        texts.keep(found, options.keep)
    described = texts.described(found)
    print(f"{described}\n")
    families = options.family or list(FAMILIES)
    if options.compare:
        print(table(comparison.HEADS, _compared(families, found, options.vocabularies)))
        return
    results, cuts = _calibrations(families, found, options.vocabularies)
    today = datetime.now(UTC).date()
    entries = {
        family: result.entry(as_of=today, against=FAMILIES[family].against, texts=described)
        for family, result in results.items()
    }
    print(table(HEADS, [_line(family, results[family], cuts[family]) for family in families]))
    if options.write:
        files.write(entries, cuts)


def _calibrations(
    families: Sequence[str], found: list[texts.Text], directory: Path
) -> tuple[dict[str, Calibration], dict[str, Cuts]]:
    counted, tokens, kinds = _counted(families, found, directory), base_tokens(found), Kinds()
    first, second = (half_of(found, tokens, half) for half in texts.HALVES)
    results, cuts = {}, {}
    for family in families:
        most = largest([counted[name] for name in FAMILIES[family].vocabularies])
        results[family], cuts[family] = calibrate(kinds, tokens, most, first, second), most.cuts
    return results, cuts


def _compared(families: Sequence[str], found: list[texts.Text], directory: Path) -> list[tuple[object, ...]]:
    counted, tokens, kinds = _counted(families, found, directory), base_tokens(found), Kinds()
    first, second = (half_of(found, tokens, half) for half in texts.HALVES)
    lines: list[tuple[object, ...]] = []
    for family in families:
        most = largest([counted[name] for name in FAMILIES[family].vocabularies])
        for name, error in comparison.compare(kinds, tokens, most, first, second):
            shown = (f"{error.over:+.1%}", f"{error.under:.1%}", f"{error.worst:+.1%}", f"{error.over_95:+.1%}")
            lines.append((family, name, *shown))
    return lines


def _counted(families: Sequence[str], found: list[texts.Text], directory: Path) -> Mapping[str, Found]:
    names = {name for family in families for name in FAMILIES[family].vocabularies}
    if lacking := missing(names, directory):
        raise SystemExit(f"not below {directory}: {', '.join(lacking)}; vocabularies.py says how to get them")
    return count(found, names, directory)


def _texts(places: Sequence[Path]) -> list[texts.Text]:
    if absent := [str(place) for place in places if not place.exists()]:
        raise SystemExit(f"not here: {', '.join(absent)}")
    kept = [place for place in places if place.is_file()]
    if kept and len(kept) < len(places):
        raise SystemExit("kept texts are used alone; name them or folders, not both")
    return [text for place in kept for text in texts.read(place)] or texts.gather(places)


def _line(family: str, result: Calibration, cuts: Cuts) -> tuple[object, ...]:
    sample, held, single = result.sample, result.held_out, result.single
    shown = (f"{sample.over:+.1%}", f"{sample.worst:+.1%}", f"{held.over:+.1%}", f"{held.under:.1%}")
    known = _difference(result.costs, files.entries().get(family, {}), cuts.tobytes() == files.cuts_of(family))
    return family, *shown, f"{held.worst:+.1%}", f"{single.under:.1%}", known


def _difference(costs: Mapping[str, list[float]], entry: Mapping[str, Any], same_cuts: bool) -> str:
    old: Mapping[str, list[float]] = entry.get("costs", {})
    if {group: len(prices) for group, prices in costs.items()} != {group: len(old[group]) for group in old}:
        return "other kinds of tokens"
    pairs = [pair for group, prices in costs.items() for pair in zip(prices, old[group], strict=True)]
    changed = [abs(one - other) for one, other in pairs if abs(one - other) > 1e-9]
    fit = f"{len(changed)} of {len(pairs)} costs differ, by {max(changed):.3f} at most" if changed else "same costs"
    return f"{fit}, {'same' if same_cuts else 'other'} cuts"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.calibration", description=__doc__)
    parser.add_argument("vocabularies", type=Path, help="directory that the packages were installed into")
    parser.add_argument("--family", action="append", choices=FAMILIES, help="only this one; may be repeated")
    parser.add_argument(
        "--texts", type=Path, action="append", default=[], help="a folder of texts to add, or kept texts to use alone"
    )
    parser.add_argument("--keep", type=Path, help="write the texts to this file (.jsonl.gz)")
    parser.add_argument(
        "--compare", action="store_true", help="compare the forms of the estimate on sources left out of the fit"
    )
    parser.add_argument("--write", action="store_true", help="rewrite calibration.toml and cuts/")
    return parser.parse_args()


if __name__ == "__main__":
    main()
