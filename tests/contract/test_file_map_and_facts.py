"""The map of files, and the facts of an entity over time."""

from pathlib import Path

from tests.conftest import OpenMemory
from tests.repositories import Work
from treering.core.records import Source


def test_the_map_has_every_file_with_its_module_memories_and_changes(open_memory: OpenMemory, tmp_path: Path) -> None:
    work = Work(tmp_path / "code")
    (work.root / "shop").mkdir()
    (work.root / "shop/price.py").write_text("def price():\n    return 1\n")
    (work.root / "shop/cart.py").write_text("from shop.price import price\n\n\ndef total():\n    return price()\n")
    work.commit()
    (work.root / "shop/cart.py").write_text("from shop.price import price\n\n\ndef total():\n    return 2 * price()\n")
    work.commit()
    memory = open_memory()
    memory.code.index(work.root)
    stored = memory.remember("Prices are integers.", files=["shop/price.py"])
    memory.flag(memory.remember("Prices are floats.", files=["shop/price.py"]).id)

    found = memory.code.file_map()
    cart, price = found.files
    assert (cart.path, price.path) == ("shop/cart.py", "shop/price.py")
    assert (cart.records, price.records) == ((), (stored.id,))
    assert {cart.module, price.module} <= {each.name for each in memory.code.module_map().modules}
    assert [(each.origin, each.target) for each in found.uses] == [(0, 1)]
    if not found.without_history:
        assert (cart.commits, price.commits) == (2, 1)
        assert cart.change_rate > price.change_rate


def test_facts_over_time_include_the_replaced_ones_in_order(open_memory: OpenMemory) -> None:
    memory = open_memory()
    payload = {"subject": "Ada Lovelace", "attribute": "lives_in"}
    taught = Source.USER_TAUGHT
    old = memory.remember("Ada Lovelace lives in London.", payload=payload | {"value": "London"}, source=taught)
    new = memory.remember("Ada Lovelace lives in Turin.", payload=payload | {"value": "Turin"}, source=taught)
    memory.remember("The port is 8080.")
    memory.entities.link(new.id, "Ada Lovelace", kind="person")

    facts = memory.entities.facts("ada lovelace")
    assert [each.id for each in facts] == [old.id, new.id]
    assert facts[0].superseded_by == new.id
    assert [each.id for each in memory.entities.about("Ada Lovelace").facts] == [new.id]
    memory.forget(old.id)
    assert [each.id for each in memory.entities.facts("Ada Lovelace")] == [new.id]
