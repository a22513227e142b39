"""Runs benches: `python -m bench NAME [options]`. Without a name, lists them."""

import shlex
import subprocess
import sys

from bench.registry import BENCHES

_MORE = {
    "short": "all short benches, compared with recorded.json (--record stores the new figures)",
    "results": "write RESULTS.md from recorded.json",
    "all": "every bench but calibrate, one after the other: hours",
}


def main(arguments: list[str]) -> int:
    if not arguments:
        listed = {name: bench.summary for name, bench in BENCHES.items()} | _MORE
        print("make bench NAME=… ARGS='…', where NAME is one of:")
        for name, summary in listed.items():
            print(f"  {name:<17} {summary}")
        return 0
    name, *options = arguments
    if name == "short":
        return _module("bench.short", options)
    if name == "results":
        from bench.figures import RESULTS, read_recorded, results_page

        RESULTS.write_text(results_page(read_recorded()), "utf-8")
        return 0
    if name == "all":
        return max(_run(each, options) for each in BENCHES if each != "calibrate")
    if name not in BENCHES:
        print(f"no bench is called {name!r}; `make bench` lists them", file=sys.stderr)
        return 2
    return _run(name, options)


def _run(name: str, options: list[str]) -> int:
    """Run every module of a bench, also after one that fails; return the highest exit code."""
    return max(_module(module, [*own, *options]) for module, *own in map(shlex.split, BENCHES[name].runs))


def _module(module: str, options: list[str]) -> int:
    """Run a module in a process of its own, so that memory and start-up are its own."""
    return abs(subprocess.run([sys.executable, "-m", module, *options], check=False).returncode)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
