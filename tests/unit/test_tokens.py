"""The estimate stands above what tokenizers count, and not far above."""

import pytest

from treering.core.tokens import estimate_tokens

# The larger count of o200k_base and cl100k_base, taken with tiktoken.
COUNTED = (
    ("Call Cart.invalidate() after changing a line, or the cached sum lies.", 15),
    ("We agreed on Monday that the release waits until the migration has run on every server.", 17),
    ("La migration doit être terminée avant la mise en production, sinon les prix seront faux.", 18),
    ("Die Umsatzsteuervoranmeldung wird vierteljährlich an das Finanzamt übermittelt.", 25),
    ("Tietokannan varmuuskopiointi epäonnistui viime yönä levytilan loppumisen vuoksi.", 32),
    ("结账页面的文案由市场部维护。改动前先通知他们，并在文档里写明日期。", 33),
    ("データベースの移行は毎週火曜日の夜に行われます。", 27),
    ("데이터베이스 이전은 매주 화요일 밤에 진행됩니다.", 26),
    ("ฐานข้อมูลจะถูกย้ายทุกคืนวันอังคารก่อนเที่ยงคืน", 40),
    ("يتم نقل قاعدة البيانات كل ليلة ثلاثاء قبل منتصف الليل.", 38),
    ("Перенос базы данных происходит каждый вторник ночью.", 19),
    ("हर मंगलवार की रात डेटाबेस को स्थानांतरित किया जाता है।", 52),
    ("def total(self) -> Money:\n    return sum((line.price * line.count for line in self.lines), Money.of(0))\n", 27),
    ('{"id": 4711, "tags": ["vat", "cart"], "rate": 0.255, "valid_from": "2026-07-01T00:00:00Z"}', 43),
    ("VHJlZXJpbmcga2VlcHMgd2hhdCBhZ2VudHMgbGVhcm4sIHdpdGggaXRzIGV2aWRlbmNl", 47),
    ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", 43),
    ("🌳🧠🔥🚀🎉🥳💡🧪", 23),
    ("1234567890 3.14159 2026-05-08 13:56 192.168.0.17", 28),
    ("| a | b |\n| --- | --- |\n| 1 | 2 |\n", 17),
)


@pytest.mark.parametrize(("text", "counted"), COUNTED)
def test_the_estimate_is_not_below_the_tokenizers(text: str, counted: int) -> None:
    assert estimate_tokens(text) >= counted


def test_the_estimate_is_near_on_the_whole() -> None:
    assert sum(estimate_tokens(text) for text, _ in COUNTED) <= 1.3 * sum(counted for _, counted in COUNTED)


def test_nothing_costs_nothing() -> None:
    assert estimate_tokens("") == 0


@pytest.mark.parametrize("text", ["a", " ", "\n", "\x00", "\ud800", "𠮷", "\u202e", "ⴰ", "\U0010ffff"])
def test_anything_costs_something(text: str) -> None:
    assert estimate_tokens(text) >= 1


def test_two_texts_together_cost_no_more_than_apart() -> None:
    texts = [text for text, _ in COUNTED]
    for first in texts:
        for second in texts:
            assert estimate_tokens(f"{first}\n{second}") <= estimate_tokens(f"{first}\n") + estimate_tokens(second) + 1
