"""Times, days, dates, amounts and numbers in a text, as written."""

import re
from collections.abc import Iterator, Mapping

from treering.core.language.dates import MONTHS
from treering.core.language.folding import fold

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = (
    "(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?"
    "|(?:lun|mar|mercre|jeu|vendre|same)dis?|dimanches?|(?:lune|marte|mercole|giove|vener)di|sabato|domenica"
    "|lunes|martes|miercoles|jueves|viernes|sabados?|domingos?"
)
_HOUR = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|eins|zwei|drei|vier|funf|sechs|sieben|acht|neun"
    "|zehn|elf|zwolf|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|undici|dos|tres|cuatro|cinco|seis|siete|ocho|nueve"
    "|diez|once|doce"
)
_UNIT = (
    "€|euros?|dollars?|pounds?|quid|bucks|%|percent|prozent|micrograms?|mg|ml|gb|mb|km|k|sec(?:ond)?s?|sekunden"
    "|secondes?|secondi|segundos?|minutes?|minuten|minuti|minutos|hours?|stunden|heures?|ore|horas?|days|tage|jours"
    "|giorni|dias|weeks|wochen|people|guests|personen|gaste|personnes|persone|personas"
)
_KINDS = {
    "time": rf"(?<![\d.])\d{{1,2}}(?:[:h]\d\d|\.\d\d(?= ?uhr))(?!\d)|(?<![\d.,:])\d{{1,2}} ?(?:am|pm|uhr|h|o'clock)\b"
    rf"|half past \w+|quarter (?:past|to) \w+|noon|midday|midnight|halb \w+|midi|mezzogiorno|mediodia"
    rf"|\b(?:at|um|alle|a las) (?:{_HOUR}|\d{{1,2}})\b(?![.:]?\d)",
    "date": rf"\b\d{{1,2}}(?:st|nd|rd|th|\.|er)? (?:of |de |di )?(?:{_MONTH})\b|\b(?:{_MONTH}) \d{{1,2}}\b"
    r"|\bthe \d{1,2}(?:st|nd|rd|th)\b|\b\d{1,2}\.\d{1,2}\.|\b\d{1,2}/\d{1,2}\b",
    "day": rf"\b(?:{_DAY})\b",
    "amount": rf"[€$£] ?\d[\d.,]*|\b\d[\d.,]* ?(?:{_UNIT})(?!\w)",
    "number": r"(?<![\w.,:-])v?\d+(?:[.,]\d+)*(?![\w:])",
}
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _KINDS.items()}
# Cheap tests: a value has a digit, or is a day or time that contains one of these.
_DIGIT = re.compile("[0-9]")  # folding leaves no others
_IN_DAYS = (
    *("day", "tag", "mittwoch", "ndi", "rdi", "redi", "eudi", "medi", "nedi", "tedi", "ledi", "vedi", "dimanche"),
    *("sabato", "domenica", "unes", "martes", "coles", "jueves", "rnes", "sabado", "domingo"),
)
_IN_TIMES = ("half", "quarter", "noon", "mid", "halb", "mezzo", "mediodia")
_AT_HOUR = re.compile(rf"(?:at|um|alle|a las) (?:{_HOUR})")


def values_in(text: str) -> Mapping[str, frozenset[str]]:
    """Values by kind (`time`, `date`, `day`, `amount`, `number`), without kinds that do not occur."""
    folded = fold(text)
    found = {kind: frozenset(_PATTERNS[kind].findall(folded)) for kind in _possible_kinds(folded)}
    return {kind: values for kind, values in found.items() if values}


def _possible_kinds(folded: str) -> Iterator[str]:
    has_digit = _DIGIT.search(folded) is not None
    if has_digit or any(part in folded for part in _IN_TIMES) or _AT_HOUR.search(folded):
        yield "time"
    if any(part in folded for part in _IN_DAYS):
        yield "day"
    if has_digit:
        yield from ("date", "amount", "number")


def differ(one: Mapping[str, frozenset[str]], other: Mapping[str, frozenset[str]]) -> bool:
    """Whether the values of the first kind that both have differ."""
    for kind in _PATTERNS:
        if kind in one and kind in other:
            return bool(one[kind] - other[kind]) and bool(other[kind] - one[kind])
    return False


_ASKING_FOR_VALUE = re.compile(
    r"\b(?:when|what (?:time|date|day)|which (?:day|date|month|week|evening|version|port)"
    r"|how (?:much|many|long|often|high)"
    r"|wann|wie (?:viele?|oft|lange|hoch|teuer)|um wie viel|welche[rnms]? (?:tag|datum|port|version)"
    r"|quand|quelle (?:heure|date|version)|quel (?:jour|port|prix)|combien"
    r"|quando|a che ora|quant[oiae]|che (?:giorno|ora)"
    r"|cuando|a que hora|cuant[oa]s?|que (?:dia|hora|fecha|puerto|version|precio))\b"
)


def asks_for_value(folded: str) -> bool:
    """Whether a folded query asks for a time, a date or a number."""
    return _ASKING_FOR_VALUE.search(folded) is not None
