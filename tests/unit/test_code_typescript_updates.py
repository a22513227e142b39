"""After any edits, resolving only the dependents of changed keys equals resolving everything."""

from hypothesis import given
from hypothesis import strategies as st

from tests.resolver_projects import resolve_all
from tests.symbol_table import RecordingLookup, SymbolTable
from treering.code.facts import Facts, Resolved
from treering.code.languages.typescript import LANGUAGE

VERSIONS = {
    "src/deep.ts": (
        "export class K { m(): L { return new L() } }\nexport class L { n() {} }\n",
        "export class K extends L {}\nexport class L { m() { return this } n() {} }\n",
        "export const K = { m: () => 1 }\n",
        "export { }\n",
    ),
    "src/barrel.ts": (
        "export * from './deep'\n",
        "export { K as Other } from './deep'\nexport function K() { return { m() {} } }\n",
        "import { K } from './deep'\nexport const make = () => new K()\nexport { K }\n",
    ),
    "src/main.ts": (
        "import { K } from '@/barrel'\nexport function f(k: K) { k.m().n(); new K().m() }\n",
        "import * as all from './barrel'\nall.make().m(); all.K.m()\n",
        "helper(new Wide())\n",
    ),
    "tsconfig.json": (
        '{ "compilerOptions": { "paths": { "@/*": ["./src/*"] } } }',
        '{ "compilerOptions": { "paths": { "@/*": ["./other/*"] } } }',
        "broken",
    ),
    "other/barrel.ts": ("export class K { m() {} }\n", "export { L as K } from '../src/deep'\n"),
    "globals.d.ts": ("declare function helper(x: Wide): void\ndeclare class Wide {}\n", "export {}\n"),
}

edits = st.lists(
    st.sampled_from(sorted(VERSIONS)).flatmap(
        lambda path: st.tuples(st.just(path), st.sampled_from((None, *VERSIONS[path])))
    ),
    min_size=1,
    max_size=12,
)


def resolve(table: SymbolTable, facts: Facts) -> Resolved:
    lookup = RecordingLookup(table)
    found = LANGUAGE.resolve(facts, lookup)
    table.record_lookups(facts.path, lookup.keys)
    return found


@given(edits)
def test_an_updated_project_equals_a_rebuilt_one(sequence: list[tuple[str, str | None]]) -> None:
    table, facts, resolved = SymbolTable(), dict[str, Facts](), dict[str, Resolved]()
    for path, source in sequence:
        if source is None:
            changed = table.remove(path)
            table.remove_lookups(path)
            facts.pop(path, None)
            resolved.pop(path, None)
        else:
            facts[path] = LANGUAGE.extract(path, source.encode())
            changed = table.put(path, LANGUAGE.surface(facts[path]))
        for again in (table.dependents(changed) | {path}) & facts.keys():
            resolved[again] = resolve(table, facts[again])
    assert resolved == resolve_all(facts, LANGUAGE)
    ids = {f"{path}::{each.qualname}" for path, read in facts.items() for each in read.definitions} | set(facts)
    assert {end for found in resolved.values() for edge in found.edges for end in (edge.origin, edge.target)} <= ids
