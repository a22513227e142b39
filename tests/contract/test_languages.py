"""Words are found in scripts that put no spaces between them, on both engines alike."""

import pytest

from tests.samples import NOW, by_words
from treering.core.queries import KnowledgeFilter
from treering.memory import Memory

TEXTS = {
    "chinese": "数据库使用PostgreSQL作为存储",
    "japanese": "東京タワーの近くでデプロイする",
    "thai": "ฐานข้อมูลอยู่ในกรุงเทพมหานคร",
    "korean": "데이터베이스를 서울에서 운영한다",
    "rare": "𠮷野家のメモ",
    "english": "the database runs elsewhere",
}


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("数据库", "chinese"),
        ("存储", "chinese"),
        ("postgresql", "chinese"),
        ("POSTGRESQL数据", "chinese"),
        ("タワー", "japanese"),
        ("デプロイ", "japanese"),
        ("กรุงเทพ", "thai"),
        ("ข้อมูล", "thai"),
        ("데이터베이스", "korean"),
        ("서울", "korean"),
        ("𠮷野", "rare"),
        ("database", "english"),
    ],
)
def test_a_word_inside_a_run_is_found(memory: Memory, query: str, wanted: str) -> None:
    for id, text in TEXTS.items():
        memory.remember(text, id=id)
    assert memory.search(query)[0].id == wanted
    with memory.store.reading(memory.scope, NOW) as tx:
        assert by_words(tx, query, knowledge=KnowledgeFilter()) == {wanted}
