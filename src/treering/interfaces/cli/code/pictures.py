"""What people see of the code graph."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from treering.interfaces.cli.show import FAINT, GOOD, HEAD, ID, bar, preview, safe

if TYPE_CHECKING:
    from treering.index.graph import Cycle, DataFlow, Dependencies, Entry, Module, ModuleMap, Route, Standing, Tied
    from treering.index.linked import CodeImpact
    from treering.index.relatives import Relations
    from treering.index.summary import Indexed

_BAR = 20
_PROBLEMS = 10
_STALE = 5


def indexed(done: "Indexed") -> RenderableType:
    """What came of a run."""
    totals = done.totals
    rows = {
        "read": f"{_count(done.read, 'file')}, {done.unchanged:,} unchanged, {done.removed:,} removed",
        "resolved": f"{_count(done.resolved, 'file')} in {done.seconds:.2f} s",
        "holds": f"{_count(totals.files, 'file')}, {_count(totals.definitions, 'definition')}, "
        f"{_count(totals.edges, 'edge')}, {totals.unresolved:,} uses not resolved",
        "languages": _counted(totals.languages),
        "left out": _counted(done.skipped),
    }
    grid = _grid(2)
    for name, told in rows.items():
        if told:
            grid.add_row(Text(name, FAINT), told)
    head = Text.assemble(("✓ " if done.complete else "… ", GOOD if done.complete else "yellow"), safe(done.root))
    return Group(head, grid, *_problems(done), *(Text(safe(note), FAINT) for note in _notes(done)))


def update(done: "Indexed") -> RenderableType:
    """One line while watching."""
    told = f"read {done.read:,}, removed {done.removed:,}, resolved {done.resolved:,} in {done.seconds * 1000:,.0f} ms"
    return Text(told)


def impact(found: "CodeImpact", limit: int) -> RenderableType:
    """What a change reaches, nearest first."""
    told = f"{_count(found.total, 'dependent')}, {_count(found.tests_total, 'test')} among them"
    head = Text.assemble((safe(found.node), HEAD), ("  " + told, FAINT))
    parts: list[RenderableType] = [head, *_standing(found.standing), _ties(found.dependents[:limit])]
    if found.total > limit:
        parts.append(Text(f"{found.total - limit:,} more; --limit lists more", FAINT))
    parts += _listed("tests that reach it", found.tests[:limit])
    if not found.total:
        parts += _listed("nothing depends on it; files that import where it stands", found.importers[:limit])
    if found.memories:
        parts += [Text("what is remembered about it", HEAD)]
        parts += [Text.assemble(f"  {preview(each.content)}  ", (each.id, ID)) for each in found.memories]
    parts += _listed("must stay true", [node.label for node in found.invariants])
    return Group(*parts)


def dependencies(found: "Dependencies", limit: int) -> RenderableType:
    """What something rests on."""
    count = len(found.dependencies)
    more = "or more" if found.capped else ""
    head = Text.assemble((safe(found.node), HEAD), (f"  rests on {count:,} {more}".rstrip(), FAINT))
    parts = [head, *_standing(found.standing), _ties(found.dependencies[:limit])]
    if count > limit:
        parts.append(Text(f"{count - limit:,} more; --limit lists more", FAINT))
    return Group(*parts)


def route(origin: str, target: str, found: "Route | None") -> RenderableType:
    if found is None:
        return Text(f"{safe(origin)} does not depend on {safe(target)}")
    lines = [Text.assemble((f"{step.kind or '':>10} ", FAINT), safe(step.id)) for step in found.steps]
    return Group(*lines, *_standing(found.standing))


def data_flow(found: "DataFlow", limit: int) -> RenderableType:
    parts: list[RenderableType] = [Text(safe(found.node), HEAD), *_standing(found.standing)]
    for title, flowing in (("its data comes from", found.sources), ("its data goes to", found.sinks)):
        parts += _listed(title, [f"{each.id}  ({each.carried})" for each in flowing[:limit]])
    return Group(*parts)


def relations(found: "Relations") -> RenderableType:
    grid = _grid(3)
    for each in found.related:
        strongest = sorted(each.why, key=lambda term: -term.gain)[:3]
        why = ", ".join(term.name.replace("_", " ") for term in strongest)
        together = f"{_count(each.together, 'commit')} together; " if each.together else ""
        grid.add_row(f"{each.score:.2f}", safe(each.path), Text(together + why, FAINT))
    parts: list[RenderableType] = [grid if found.related else Text(f"nothing is tied to {safe(found.path)}")]
    if found.without_history:
        parts.append(Text(f"without history: {preview(found.without_history)}", "yellow"))
    return Group(*parts)


def module_map(found: "ModuleMap", limit: int) -> RenderableType:
    """Modules by size, with what they are built on."""
    most = max((module.size for module in found.modules), default=1)
    used: dict[str, list[str]] = {}
    for edge in found.edges:
        used.setdefault(edge.origin, []).append(edge.target)
    grid = _grid(4)
    for module in found.modules[:limit]:
        grid.add_row(*_module(module, used.get(module.name, ()), most))
    head = Text(f"{_count(len(found.modules), 'module')}, {sum(m.size for m in found.modules):,} files", HEAD)
    more = len(found.modules) - limit
    foot = [Text(f"{more:,} more; --limit lists more", FAINT)] if more > 0 else []
    return Group(head, *_standing(found.standing), grid, *foot)


def cycles(found: "Sequence[Cycle]") -> RenderableType:
    if not found:
        return Text("nothing depends on itself")
    lines: list[RenderableType] = []
    for cycle in found:
        lines.append(Text(f"{_count(len(cycle.members), 'member')}", HEAD))
        lines.append(Text("  " + " → ".join(map(safe, cycle.example))))
    return Group(*lines)


def entries(found: "Sequence[Entry]") -> RenderableType:
    if not found:
        return Text("no entry point was found")
    grid = _grid(3)
    for each in found:
        grid.add_row(Text(str(each.kind), FAINT), safe(each.definition.entry_name or ""), Text(safe(each.id), ID))
    return grid


def _module(module: "Module", used: Sequence[str], most: int) -> Iterator[RenderableType]:
    yield safe(module.name)
    yield Text.assemble((bar(module.size, most, _BAR), GOOD), f" {module.size:,}")
    yield Text(", ".join(safe(each.path.rpartition("/")[2]) for each in module.central[:2]), FAINT)
    yield Text(f"→ {', '.join(map(safe, used[:3]))}" if used else "", FAINT)


def _ties(found: "Iterable[Tied]") -> RenderableType:
    grid = _grid(5)
    for each in found:
        through = f"via {each.path[-2]}" if len(each.path) > 2 else ""
        test = Text("test", GOOD) if each.test else Text("")
        grid.add_row(Text(str(each.depth), FAINT), f"{each.score:.2f}", safe(each.id), Text(safe(through), FAINT), test)
    return grid


def _listed(title: str, lines: Sequence[str]) -> list[RenderableType]:
    return [Text(title, HEAD), *(Text(f"  {safe(line)}") for line in lines)] if lines else []


def _standing(standing: "Standing") -> Iterator[RenderableType]:
    """Why something may be missing."""
    if standing.incomplete:
        yield Text("the index is not complete yet: something may be missing", "yellow")
    if standing.stale:
        named = ", ".join(map(safe, standing.stale[:_STALE]))
        more = f" and {len(standing.stale) - _STALE:,} more" if len(standing.stale) > _STALE else ""
        yield Text(f"changed and not read again yet, so left out: {named}{more}", "yellow")


def _problems(done: "Indexed") -> Iterator[RenderableType]:
    for each in done.problems[:_PROBLEMS]:
        yield Text(f"  {safe(each.path)}:{each.line} {preview(each.what)}", "yellow")
    if done.problems_total > _PROBLEMS:
        yield Text(f"  {done.problems_total - _PROBLEMS:,} more problems; --json lists them", FAINT)


def _notes(done: "Indexed") -> Iterator[str]:
    yield from done.notes
    if not done.complete:
        yield "files went on changing while they were read; run it again, or with --watch"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {safe(name)}" for name, count in counts.items() if count)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _grid(columns: int) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(columns):
        grid.add_column(overflow="fold")
    return grid
