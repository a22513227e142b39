"""Symbols loaded lazily from the store give the same answers as symbols held in memory."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from treering.code.encoding import hash_of, pack_hashes, pack_keys
from treering.code.facts import Key
from treering.code.index.stored_symbols import StoredSymbols
from treering.code.symbols import World
from treering.ports.code import FileKeys

PATHS = st.sampled_from(["a", "b", "c", "d"])
KEYS = st.sampled_from([("x",), ("y",), ("x", "y"), ("xy",), ("z", "")])
SURFACES = st.dictionaries(KEYS, st.integers(0, 2), max_size=4)
CHANGES = st.lists(st.tuples(PATHS, st.none() | SURFACES, st.sets(KEYS)), max_size=12)


@given(st.dictionaries(PATHS, st.tuples(SURFACES, st.sets(KEYS))), CHANGES, st.integers(0, 12))
def test_stored_and_held_symbols_agree_after_any_changes(
    first: Mapping[str, tuple[Mapping[Key, int], set[Key]]],
    changes: list[tuple[str, Mapping[Key, int] | None, set[Key]]],
    limit: int,
) -> None:
    held = World()
    for path, (surface, asked) in first.items():
        held.put(path, surface)
        held.asked(path, asked)
    stored = [FileKeys(path, pack_keys(surface), pack_keys(asked)) for path, (surface, asked) in first.items()]
    now = {path: surface for path, (surface, _) in first.items()}
    lazy = StoredSymbols(stored, now.__getitem__, max_entries=limit)
    for path, changed, asked in changes:
        if changed is None:
            assert lazy.remove(path) == held.remove(path)
            held.forget_asker(path)
        else:
            assert lazy.put(path, changed) == held.put(path, changed)
            now[path] = changed
            held.asked(path, asked)
            lazy.asked(path, map(hash_of, asked))
        for key in [("x",), ("y",), ("x", "y"), ("xy",), ("z", "")]:
            assert lazy.ask(key) == held.ask(key)
            assert lazy.askers([key]) == held.askers([key])


@given(st.sets(KEYS))
def test_keys_are_packed_in_one_order(keys: set[Key]) -> None:
    assert pack_keys(keys) == pack_hashes(sorted(map(hash_of, sorted(keys))))
