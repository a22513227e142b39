"""How texts and queries become words."""

import pytest

from treering.adapters.sql.words import terms, words


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The Shop's naïve_check", ("the", "shop", "s", "naive", "check")),
        ("数据库", ("数据", "据库")),
        ("库", ("库",)),
        ("使用PostgreSQL作为存储", ("使用", "postgresql", "作为", "为存", "存储")),
        ("東京タワー", ("東京", "京タ", "タワ", "ワー")),
        ("전화번호", ("전화", "화번", "번호")),
        ("กรุงเทพ", ("กร", "รง", "งเ", "เท", "ทพ")),
        ("v2版本3", ("v2", "版本", "3")),
    ],
)
def test_runs_without_spaces_are_split_into_pairs(text: str, wanted: tuple[str, ...]) -> None:
    assert words(text) == wanted
    assert tuple(dict.fromkeys(terms(text).split())) == wanted


def test_a_long_query_without_spaces_stays_within_the_cap() -> None:
    query = "".join(chr(0x4E00 + number) for number in range(500))
    assert len(words(query)) == 64
