"""Runs the short benches, some minutes in all, and prints which recorded figures got worse by more than noise."""

import argparse
import sys
import time
from collections.abc import Iterator
from importlib import import_module

from bench.data import DataMissing
from bench.figures import RESULTS, Comparison, compare, read_recorded, results_page, with_measured, write_recorded
from bench.results import revision, today

# Modules with a function `figures() -> dict[str, float]`, by the name of their bench.
SHORT = {
    "precision": "bench.precision",
    "facts": "bench.facts",
    "query-kinds": "bench.query_kinds",
    "cues": "bench.cues",
    "secrets": "bench.secrets",
    "graph": "bench.graph",
    "search": "bench.search_speed",
    "pattern-replay": "bench.pattern_replay",
    "duplicates": "bench.duplicates",
    "retrieval": "bench.retrieval.measuring",
}
WORSE, INCOMPLETE = 1, 2
"""Exit codes: a figure got worse; no figure got worse, but some were not measured."""


def main(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(prog="make bench NAME=short", description=__doc__)
    options.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(SHORT)}; default: all")
    options.add_argument("--record", action="store_true", help="store the new figures in recorded.json and RESULTS.md")
    chosen = options.parse_args(arguments)
    if unknown := set(chosen.names) - set(SHORT):
        options.error(f"no short bench is called {', '.join(sorted(unknown))}")
    names = chosen.names or list(SHORT)
    measured = dict(_measured(names))
    recorded = read_recorded()
    compared = [figure for figure in recorded if figure.bench in names]
    comparison = compare(compared, measured)
    for line in report(comparison, len(measured)):
        print(line)
    if chosen.record:
        figures = with_measured(recorded, measured, date=today(), commit=revision())
        write_recorded(figures)
        RESULTS.write_text(results_page(figures), "utf-8")
        print(f"recorded {len(measured)} figures")
        return 0
    return exit_code(comparison)


def report(comparison: Comparison, measured: int) -> Iterator[str]:
    """The comparison in lines; what was not measured is always said."""
    yield from (f"WORSE    {change}" for change in comparison.worse)
    yield from (f"better   {change}" for change in comparison.better)
    yield from (f"not run  {figure.what} ({figure.key})" for figure in comparison.missing)
    yield (
        f"{measured} figures measured: {len(comparison.worse)} worse by more than noise, {len(comparison.better)} "
        f"better; {len(comparison.missing)} recorded figures were not run"
    )


def exit_code(comparison: Comparison) -> int:
    if comparison.worse:
        return WORSE
    return INCOMPLETE if comparison.missing else 0


def _measured(names: list[str]) -> Iterator[tuple[str, float]]:
    for name in names:
        begun, spent = time.perf_counter(), time.process_time()
        try:
            figures: dict[str, float] = import_module(SHORT[name]).figures()
        except DataMissing as missing:
            print(f"{name}: not run: data not here: {missing}", flush=True)
            continue
        took, processor = time.perf_counter() - begun, time.process_time() - spent
        values = ", ".join(f"{key} {value:.4g}" for key, value in figures.items())
        print(f"{name}: {values} ({took:.0f} s, {processor:.0f} s of processor time)", flush=True)
        yield from figures.items()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
