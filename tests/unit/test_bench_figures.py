"""Recorded figures, the comparison of a short run with them, and the page that is written from them."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from bench import __main__ as command
from bench import data, short
from bench.figures import (
    RESULTS,
    Comparison,
    Figure,
    compare,
    read_recorded,
    results_page,
    shown,
    with_measured,
    write_recorded,
)
from bench.registry import BENCHES
from bench.results import PAGES

EXACT = Figure("facts.f1", "facts", "F1", 0.8, "", "higher", 0.0, "2026-01-01", "abc", short=True, goal=0.9)
SLOW = Figure("search.p50", "search", "Search", 10, "ms", "lower", 0.5, "2026-01-01", "abc", short=True, goal=20)
LONG = Figure("year.minutes", "year", "A year", 57.2, "min", "lower", 0.5, "2026-01-01", "abc")


@pytest.mark.parametrize(
    ("figure", "value", "worse", "better"),
    [
        (EXACT, 0.8, False, False),
        (EXACT, 0.79996, False, False),
        (EXACT, 0.799, True, False),
        (EXACT, 0.801, False, True),
        (SLOW, 14.9, False, False),
        (SLOW, 15.1, True, False),
        (SLOW, 4.9, False, True),
    ],
)
def test_a_change_beyond_noise_is_worse_or_better(figure: Figure, value: float, worse: bool, better: bool) -> None:
    comparison = compare([figure], {figure.key: value})
    assert (bool(comparison.worse), bool(comparison.better)) == (worse, better)
    assert comparison.missing == ()


def test_short_figures_that_were_not_measured_are_missing() -> None:
    assert compare([EXACT, SLOW, LONG], {EXACT.key: 0.8}).missing == (SLOW,)


def test_a_measured_figure_that_is_not_recorded_is_an_error() -> None:
    with pytest.raises(KeyError, match=r"facts\.f1"):
        compare([SLOW], {"facts.f1": 1.0})


@pytest.mark.parametrize(
    ("measured", "code", "line"),
    [
        ({"facts.f1": 0.8, "search.p50": 10}, 0, "2 figures measured: 0 worse by more than noise, 0 better"),
        ({"facts.f1": 0.7, "search.p50": 10}, short.WORSE, "WORSE    F1: 0.8 -> 0.7 (facts.f1)"),
        ({"facts.f1": 0.9, "search.p50": 10}, 0, "better   F1: 0.8 -> 0.9 (facts.f1)"),
        ({"facts.f1": 0.8}, short.INCOMPLETE, "not run  Search (search.p50)"),
        ({"facts.f1": 0.7}, short.WORSE, "not run  Search (search.p50)"),
    ],
)
def test_the_report_names_each_change_and_each_gap(measured: dict[str, float], code: int, line: str) -> None:
    comparison = compare([EXACT, SLOW, LONG], measured)
    assert short.exit_code(comparison) == code
    assert line in "\n".join(short.report(comparison, len(measured)))


def test_a_bench_without_its_data_is_reported_and_not_fine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(data, "DATA", tmp_path)
    assert short.main(["precision"]) == short.INCOMPLETE
    printed = capsys.readouterr().out
    assert "precision: not run: data not here" in printed
    assert "(precision.exact)" in printed


def test_recording_changes_only_what_was_measured(tmp_path: Path) -> None:
    figures = with_measured([EXACT, LONG], {EXACT.key: 0.812345}, date="2026-02-02", commit="def")
    assert (figures[0].value, figures[0].date, figures[0].commit) == (0.8123, "2026-02-02", "def")
    assert figures[1] == LONG
    write_recorded(figures, tmp_path / "recorded.json")
    assert read_recorded(tmp_path / "recorded.json") == figures


def test_the_page_has_a_line_for_each_listed_figure() -> None:
    hidden = Figure("facts.x", "facts", "Hidden", 1, "", "higher", 0.0, "2026-01-01", "abc", listed=False)
    *_, first, second = results_page([EXACT, SLOW, hidden]).splitlines()
    assert first == "| [F1](results/learning.md) | **0.8** | ≥ 0.9 |  | `make bench NAME=facts` | 2026-01-01 | abc |"
    assert second == "| [Search](results/search.md) | 10 ms | ≤ 20 |  | `make bench NAME=search` | 2026-01-01 | abc |"


@pytest.mark.parametrize(
    ("value", "unit", "text"), [(1416, "ms", "1,416 ms"), (0.787, "", "0.787"), (70, "of 87", "70 of 87")]
)
def test_values_are_shown_with_their_unit(value: float, unit: str, text: str) -> None:
    assert shown(value, unit) == text


# The recorded figures themselves


def test_results_page_is_written_from_the_recorded_figures() -> None:
    assert RESULTS.read_text("utf-8") == results_page(read_recorded()), "run `make bench NAME=results`"


def test_recorded_figures_belong_to_benches_that_exist() -> None:
    figures = read_recorded()
    assert len({figure.key for figure in figures}) == len(figures)
    assert {figure.bench for figure in figures} <= BENCHES.keys()
    assert {figure.bench for figure in figures if figure.short} == short.SHORT.keys()


def test_every_bench_has_modules_and_a_page() -> None:
    modules = {run.split()[0] for bench in BENCHES.values() for run in bench.runs} | set(short.SHORT.values())
    assert [module for module in sorted(modules) if find_spec(module) is None] == []
    assert {bench.page for bench in BENCHES.values()} == {page.stem for page in PAGES.glob("*.md")}


def test_benches_are_listed_without_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert listed == [*BENCHES, "short", "results", "all"]


def test_an_unknown_bench_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["nothing"]) == 2
    assert "no bench is called 'nothing'" in capsys.readouterr().err


def test_nothing_worse_and_nothing_missing_is_fine() -> None:
    assert short.exit_code(Comparison((), (), ())) == 0
