"""The symbols read lazily from the store match an in-memory symbol table."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from tests.symbol_table import SymbolTable
from treering.code.encoding import hash_of, pack_hashes, pack_keys
from treering.code.facts import Key
from treering.code.index.stored_symbols import StoredSymbols
from treering.ports.code import FileKeys

PATHS = st.sampled_from(["a", "b", "c", "d"])
KEYS = st.sampled_from([("x",), ("y",), ("x", "y"), ("xy",), ("z", "")])
SURFACES = st.dictionaries(KEYS, st.integers(0, 2), max_size=4)
CHANGES = st.lists(st.tuples(PATHS, st.none() | SURFACES, st.sets(KEYS)), max_size=12)


@given(st.dictionaries(PATHS, st.tuples(SURFACES, st.sets(KEYS))), CHANGES, st.integers(0, 12))
def test_stored_symbols_equal_the_symbol_table_after_any_changes(
    first: Mapping[str, tuple[Mapping[Key, int], set[Key]]],
    changes: list[tuple[str, Mapping[Key, int] | None, set[Key]]],
    most: int,
) -> None:
    reference = SymbolTable()
    for path, (surface, asked) in first.items():
        reference.put(path, surface)
        reference.record_lookups(path, asked)
    stored = [FileKeys(path, pack_keys(surface), pack_keys(asked)) for path, (surface, asked) in first.items()]
    now = {path: surface for path, (surface, _) in first.items()}
    lazy = StoredSymbols(stored, now.__getitem__, max_entries=most)
    for path, changed, asked in changes:
        if changed is None:
            assert lazy.remove(path) == reference.remove(path)
            reference.remove_lookups(path)
        else:
            assert lazy.put(path, changed) == reference.put(path, changed)
            now[path] = changed
            reference.record_lookups(path, asked)
            lazy.asked(path, map(hash_of, asked))
        for key in [("x",), ("y",), ("x", "y"), ("xy",), ("z", "")]:
            assert lazy.ask(key) == reference.lookup(key)
            assert lazy.askers([key]) == reference.dependents([key])


@given(st.sets(KEYS))
def test_keys_are_packed_in_one_order(keys: set[Key]) -> None:
    assert pack_keys(keys) == pack_hashes(sorted(map(hash_of, sorted(keys))))
