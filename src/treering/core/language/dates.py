"""Dates and numbers that span several words of a text, each as one word."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from treering.core.language.folding import fold

MONTHS: dict[str, int] = {
    name: number
    for number, line in enumerate((Path(__file__).parent / "months.txt").read_text("utf-8").splitlines(), 1)
    for name in line.split()
}
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR = r"(?P<year>[12]\d{3})(?!\d)"
_DAY = r"(?<!\d)(?P<day>\d{1,2})"
_ORDINAL = r"(?:st|nd|rd|th|er|o|\.)?"


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Patterns of written dates, compiled on first use."""
    shapes = (
        r"(?<!\d)(?P<year>[12]\d{3}) ?[-/.年] ?(?P<month>\d{1,2}) ?[-/.月] ?(?P<day>\d{1,2})(?!\d)",
        rf"{_DAY}{_ORDINAL}[ -]?(?:of |de )?(?P<month>{_MONTH})[.,]{{0,2}}[ -](?:del? )?{_YEAR}",
        rf"(?<![^\W_])(?P<month>{_MONTH})\.?[ -](?P<day>\d{{1,2}}){_ORDINAL},?[ -]{_YEAR}",
        rf"{_DAY}\.(?P<month>\d{{1,2}})\.{_YEAR}",
        rf"{_DAY}(?P<sign>[/-])(?P<month>\d{{1,2}})(?P=sign){_YEAR}",
        rf"(?<!\d)(?P<month>\d{{1,2}})(?P<sign>[/-])(?P<day>\d{{1,2}})(?P=sign){_YEAR}",
    )
    return tuple(map(re.compile, shapes))


_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?![\d,]|\.\d)")
# Cheap tests: every pattern above contains the first, every date the second.
_MAY_MATCH = re.compile(r"\d(?:\d|\s\d)\d\d")
_MAY_BE_DATE = re.compile(r"(?<=[ ./-])[12]\d{3}(?!\d)|(?<!\d)[12]\d{3} ?[-/.年] ?\d")


def spanning_words(text: str) -> list[str]:
    """Each date as `2023-05-08`, each number written with spaces as `1000`.

    5/8/2023 is read both ways, because the order of day and month depends on the country.
    """
    if not _MAY_MATCH.search(text):
        return []
    folded = fold(text)
    dates = _dates(folded) if _MAY_BE_DATE.search(folded) else ()
    return [*dates, *(number[0].replace(" ", "") for number in _GROUPED.finditer(folded))]


def _dates(folded: str) -> Iterator[str]:
    found = (
        (int(MONTHS.get(date["month"], 0) or date["month"]), int(date["day"]), date["year"])
        for shape in _patterns()
        for date in shape.finditer(folded)
    )
    yield from dict.fromkeys(
        f"{year}-{month:02}-{day:02}" for month, day, year in found if 1 <= month <= 12 and 1 <= day <= 31
    )
