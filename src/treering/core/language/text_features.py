"""Surface features of a text: its speaker, whether it is a question, whether it names a time."""

import re
from pathlib import Path

from treering.core.language.dates import MONTHS
from treering.core.language.folding import bare, fold
from treering.core.language.memo import Memo

_HERE = Path(__file__).parent
_LABELS = frozenset((_HERE / "labels.txt").read_text("utf-8").split())
_TIME_WORDS = frozenset((_HERE / "time_words.txt").read_text("utf-8").split())

_SPEAKER = re.compile(r"([^\W\d_][\w .'’()-]{0,39}):(?=\s|$)|([^\W\d_][\w .'’()-]{0,39})：")
_MAX_WORDS = 4
_QUESTION_MARKS = "?？؟⁇⁈‽"
_SENTENCE_ENDS = ".。,，:：;；"
_TAIL = 64

_WORD = re.compile(r"[^\W\d_]+")
_MONTH = "|".join(MONTHS)
# A month name that is also another word ("may", "march", "mars") counts only next to a number or a time word.
_NUMBERS = re.compile(
    rf"(?<!\d)(?:19|20)\d\d(?!\d)|\d{{1,2}}:\d{{2}}|\b\d{{1,2}} ?(?:am|pm|uhr|h)\b"
    rf"|\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}"
    rf"|\d(?:st|nd|rd|th|er|\.)?[ -](?:of |de )?(?:{_MONTH})\b|\b(?:{_MONTH})\.?[ -]\d"
    rf"|\b(?:in|last|next|this|since|until|by|early|late|mid|during|en|im|seit|a) (?:may|march|mars|marz|mai|maggio)\b"
)
_DIGIT = re.compile(r"\d")
_UNSURE_MONTHS = frozenset(("may", "march", "mars", "marz", "mai", "maggio"))
_CHINESE = re.compile(
    "[昨今明前后後]天|[今明去前]年|[上下本这這][个個]?(?:周|週|星期|礼拜|禮拜|月)|星期|礼拜|周[一二三四五六日末]"
    "|[早晚]上|上午|中午|下午|傍晚|凌晨|半夜|[刚剛]才|最近|以前|[年月日号號天周点點時时]前"
    "|[\\d一二三四五六七八九十两兩几幾]+个?(?:年|月|日|号|號|天|周|週|点|點|小时|小時|分钟|星期)|昨日|今日|明日|来週|先週|来月|先月"
)


def speaker_of(text: str) -> str:
    """Folded name before the first colon of a transcript line (`Mel: hi` gives `mel`); empty if there is none.

    At most 4 words and 40 characters at the start of the text. Several words are a name if each begins with a capital;
    labels (`Note:`, `TODO:`) are not names.
    """
    found = _SPEAKER.match(text)
    if not found:
        return ""
    name = (found[1] or found[2]).strip()
    words = name.split()
    if len(words) > _MAX_WORDS or (len(words) > 1 and any(word[0].islower() for word in words)):
        return ""
    speaker = fold(name)
    return "" if speaker in _LABELS else speaker


def without_speaker(text: str) -> str:
    """The text without the speaker's name before it."""
    found = _SPEAKER.match(text)
    return text[found.end() :].lstrip(":： ") if found and speaker_of(text) else text


def asks(text: str) -> bool:
    """Whether the text ends with a question mark, possibly followed by quotes, brackets, emoji or `!`."""
    for char in reversed(text.rstrip()[-_TAIL:]):
        if char in _QUESTION_MARKS:
            return True
        if char.isalnum() or char in _SENTENCE_ENDS:
            return False
    return False


def names_time(text: str) -> bool:
    """Whether the text has a date, a time of day, a month, a weekday or a word like `yesterday` (en fr it de es zh)."""
    hint = max(map(_HINTS.__getitem__, text.split()), default=_NO_HINT)
    if hint == _SURE:
        return True
    if (hint == _UNSURE or _DIGIT.search(text)) and _NUMBERS.search(fold(text)):
        return True
    return not text.isascii() and _CHINESE.search(bare(text)) is not None


# Plain numbers: an enumeration takes longer to compare than a word to look up.
_NO_HINT, _UNSURE, _SURE = range(3)


def _hint_of(piece: str) -> int:
    words = _WORD.findall(fold(piece))
    if not _TIME_WORDS.isdisjoint(words):
        return _SURE
    return _NO_HINT if _UNSURE_MONTHS.isdisjoint(words) else _UNSURE


_HINTS = Memo(_hint_of)
