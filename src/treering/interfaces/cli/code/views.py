"""Terminal output of the code graph."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from treering.interfaces.cli.code.trees import tree
from treering.interfaces.cli.code_locations import index_warnings
from treering.interfaces.cli.layout import Hanging, Listing, ListLine, counted, indented, unbroken
from treering.interfaces.cli.views import FAINT, GOOD, HEAD, ID, bar, preview, safe

if TYPE_CHECKING:
    from treering.code.facts import Unresolved
    from treering.code.graph import (
        CodeAnswers,
        CodeEntries,
        CodeModule,
        Cycles,
        DataFlow,
        Dependencies,
        DependencyPath,
        IndexStatus,
        ModuleMap,
        NameCount,
    )
    from treering.code.history.relatives import Relations
    from treering.code.index.report import IndexReport
    from treering.code.linked_memories import CodeImpact
    from treering.code.status import CodeStatus

_BAR = 12
_PROBLEMS = 10
_CENTRAL, _USED = 2, 3
_NAMES = 3
"""Maximum number of unresolved names in a line."""
_MAX_CYCLE_STEPS = 12
"""Maximum number of files shown of a cycle; the middle of a longer one is left out."""


def indexed(done: "IndexReport") -> RenderableType:
    """Result of an indexing run."""
    totals = done.totals
    rows = {
        "read": f"{counted(done.read, 'file')}, {done.unchanged:,} unchanged, {done.removed:,} removed",
        "resolved": f"{counted(done.resolved, 'file')} in {done.seconds:.2f} s",
        "holds": f"{counted(totals.files, 'file')}, {counted(totals.definitions, 'definition')}, "
        f"{counted(totals.edges, 'edge')}, {counted(totals.unresolved, 'use')} not resolved",
        "languages": _languages(done.language_levels),
        "left out": _by_name(done.skipped),
        "not read": _unread(done.unread),
    }
    head = _mark(done.root, whole=done.complete and not done.warnings)
    warned = (Text(safe(warning), "yellow") for warning in done.warnings)
    noted = (Text(safe(note), FAINT) for note in _notes(done))
    return Group(head, _table(rows), *_problems(done), *warned, *noted)


def status(found: "CodeStatus") -> RenderableType:
    """What is indexed, and what is left to do."""
    totals = found.totals
    rows = {
        "holds": f"{counted(totals.files, 'file')}, {counted(totals.definitions, 'definition')}, "
        f"{counted(totals.edges, 'edge')}, {counted(totals.unresolved, 'use')} not resolved",
        "languages": _languages(found.language_levels),
        "left out": _by_name(found.skipped),
        "not read": _unread(found.unread),
        "problems": f"{totals.problems:,}" if totals.problems else "",
        "scip": _scip(found),
        "status": ", ".join(found.notes) or "complete",
    }
    head = _mark(found.root, whole=found.current and not found.notes)
    return Group(head, _table(rows), *([Text(f"→ {found.advice}", "yellow")] if found.advice else []))


def _mark(root: str, *, whole: bool) -> RenderableType:
    """The folder with a check mark, if nothing is left out that could be read."""
    return unbroken(Text("✓ " if whole else "… ", GOOD if whole else "yellow"), safe(root))


def _scip(found: "CodeStatus") -> str:
    """The SCIP indexes, one per line, and the number of their edges stored now."""
    if not found.scip:
        return ""
    lines = [
        f"{safe(each.name)} by {safe(each.tool)}: {counted(each.edges, 'edge')}, {each.added:,} of them new"
        for each in found.scip
    ]
    return "\n".join([*lines, f"{counted(found.scip_edges, 'edge')} stored now"])


def forgotten(gone: "CodeStatus") -> RenderableType:
    contents = f"{counted(gone.totals.files, 'file')}, {counted(gone.totals.edges, 'edge')}"
    return Group(
        unbroken(Text("✓ ", GOOD), Text("removed", HEAD), f" the index of {safe(gone.root)}: {contents}"),
        indented(Text("memories stay; run `treering index` to build it again", FAINT)),
    )


def update(done: "IndexReport") -> RenderableType:
    """One line per update while watching."""
    line = f"read {done.read:,}, removed {done.removed:,}, resolved {done.resolved:,} in {done.seconds * 1000:,.0f} ms"
    return Text(line)


def note(text: str) -> RenderableType:
    """A note while watching."""
    return Text(safe(text), FAINT)


def impact(found: "CodeImpact", limit: int) -> RenderableType:
    """Dependents of a node, nearest first."""
    parts = [*_head(found.node, _reached(found), found.status), tree(found.dependents[:limit])]
    parts += _more(found.total - min(limit, len(found.dependents)))
    parts += _not_resolved(found.unresolved, "could not be resolved and may be of it")
    if found.file_level:
        files = [Text(safe(path), ID) for path in found.importers[:limit]]
        title = f"for the whole file {safe(found.node.partition('::')[0])} instead: files that import it"
        parts += _titled(title, files, len(found.importers) - len(files))
    if found.test_files:
        title = "tests that reach it, by file" if found.tests else "files of tests that may test it"
        parts += [Text(title, HEAD), *_test_files(found, limit)]
    if found.handlers:
        files = [Text(safe(id), ID) for id in found.handlers[:limit]]
        parts += _titled("errors that it raises are caught by", files, len(found.handlers) - len(files))
    for title, records in (("invariants and decisions", found.annotations), ("memories about it", found.memories)):
        if records:
            parts += [Text(title, HEAD)]
            parts += [Text.assemble(f"  {preview(each.content)}  ", (each.id, ID)) for each in records]
    return Group(*parts)


def _reached(found: "CodeImpact") -> str:
    """The number of dependents; "nothing" only if no use is possible."""
    if found.total:
        tests = f", {counted(found.tests_total, 'test')} among them" if found.tests_total else ""
        return f"{counted(found.total, 'dependent')}{tests}, impact {found.score:,.1f}"
    if found.unresolved or found.importers:
        return "no certain dependent"
    return nothing_known(found.status, "nothing depends on it")


def _not_resolved(names: "Sequence[NameCount]", what: str) -> list[RenderableType]:
    """A line that counts the uses without a known target."""
    if not names:
        return []
    shown = ", ".join(safe(each.name) for each in names[:_NAMES])
    more = f" and {len(names) - _NAMES:,} other names" if len(names) > _NAMES else ""
    total = sum(each.uses for each in names)
    return [Text(f"{counted(total, 'use')} of {shown}{more} {what}: --unresolved lists them", "yellow")]


def unresolved(found: "CodeAnswers[Unresolved]", limit: int) -> RenderableType:
    """Uses without a known target, by file and line."""
    if not found:
        summary = nothing_known(found.status, "every use is resolved")
        return Group(Text(summary), *index_warnings(found.status))
    lines = [
        ListLine(
            (Text(safe(f"{use.origin.partition('::')[0]}:{use.line}"), ID),),
            Text(safe(use.text)),
            Text(safe(use.origin.partition("::")[2]), FAINT),
        )
        for use in found[:limit]
    ]
    return Group(
        Text(f"{counted(len(found), 'use')} not resolved", HEAD),
        Listing(lines),
        *_more(len(found) - len(lines)),
        *index_warnings(found.status),
    )


def dependencies(found: "Dependencies", limit: int) -> RenderableType:
    """Dependencies of a node."""
    count = len(found.dependencies)
    summary = f"depends on {count:,}{' or more' if found.capped else ''}" if count else ""
    summary = summary or nothing_known(found.status, "depends on nothing indexed")
    return Group(
        *_head(found.node, summary, found.status),
        tree(found.dependencies[:limit]),
        *_more(count - min(limit, count)),
        *_not_resolved(found.unresolved, "in it could not be resolved"),
    )


def route(origin: str, target: str, found: "DependencyPath") -> RenderableType:
    if not found.steps:
        return Group(Text(f"{safe(origin)} does not depend on {safe(target)}"), *index_warnings(found.status))
    steps = (unbroken(Text(f"{step.kind or '':>10} ", FAINT), safe(step.id)) for step in found.steps)
    return Group(*steps, *index_warnings(found.status))


def data_flow(found: "DataFlow", limit: int) -> RenderableType:
    parts = _head(found.node, "", found.status)
    for title, flowing in (("its data comes from", found.sources), ("its data goes to", found.sinks)):
        if not flowing:
            parts.append(Text(f"{title}: nothing known", HEAD))
            continue
        lines = [
            ListLine((Text(f"  {each.carried.value}", FAINT),), Text(safe(each.id), ID)) for each in flowing[:limit]
        ]
        parts += [Text(title, HEAD), Listing(lines), *_more(len(flowing) - len(lines))]
    return Group(*parts)


def relations(found: "Relations") -> RenderableType:
    """Related files with the reasons and the number of common commits."""
    parts = _head(found.path, "", found.status)
    lines = [
        ListLine((Text(f"{each.score:.2f}", FAINT),), Text(safe(each.path), ID), Text(", ".join(each.reasons), FAINT))
        for each in found.related
    ]
    parts.append(Listing(lines) if lines else Text("no file is related to it"))
    if found.without_history:
        parts.append(Text(f"without history: {preview(found.without_history)}", "yellow"))
    return Group(*parts)


def module_map(found: "ModuleMap", limit: int) -> RenderableType:
    """Modules by size, with their central files and the modules they use most."""
    largest = max((module.size for module in found.modules), default=1)
    used: dict[str, list[str]] = {}
    for edge in found.edges:
        used.setdefault(edge.origin, []).append(edge.target)
    shown = found.modules[:limit]
    files = sum(module.size for module in found.modules)
    head = Text(f"{counted(len(found.modules), 'module')}, {counted(files, 'file')}", HEAD)
    drawn = (line for module in shown for line in _module(module, used.get(module.name, ()), largest))
    return Group(head, *index_warnings(found.status), *drawn, *_more(len(found.modules) - len(shown)))


def cycles(found: "Cycles", limit: int) -> RenderableType:
    """Each with a shortest cycle as an example."""
    if not found:
        return Group(Text("no cycles found"), *index_warnings(found.status))
    lines: list[RenderableType] = [*index_warnings(found.status)]
    for cycle in found[:limit]:
        lines.append(Text(f"{counted(len(cycle.members), 'file')} depend on each other; a shortest cycle", HEAD))
        lines += [unbroken(Text("  → " if place else "    ", FAINT), step) for place, step in _way(cycle.example)]
    return Group(*lines, *_more(len(found) - limit))


def entries(found: "CodeEntries", limit: int, *, tests: bool = False) -> RenderableType:
    """By kind, with the path of a route or the name of a command."""
    shown = [each for each in found if tests or not each.test]
    hidden = len(found) - len(shown)
    aside = [Text(f"{hidden:,} more in tests; --tests lists them", FAINT)] if hidden else []
    if not shown:
        return Group(Text("no entry points found"), *index_warnings(found.status), *aside)
    kinds = Counter(str(each.kind) for each in shown)
    head = Text(f"{counted(len(shown), 'entry point')}: {_by_name(kinds)}", HEAD)
    lines = [
        ListLine(
            (Text(str(each.kind), FAINT),), Text(safe(each.id), ID), Text(safe(each.definition.entry_name or ""), FAINT)
        )
        for each in shown[:limit]
    ]
    return Group(head, *index_warnings(found.status), Listing(lines), *_more(len(shown) - len(lines)), *aside)


def nothing_known(status: "IndexStatus", certain: str) -> str:
    """The summary of an answer without results: certain only if all uses are read, in the language and in all files."""
    return certain if status.up_to_date and not status.definitions_only else "no uses are known"


def _head(node: str, summary: str, status: "IndexStatus") -> list[RenderableType]:
    """The queried node, a summary of the answer, and warnings about the index."""
    lines = [Text(summary, FAINT)] if summary else []
    return [unbroken(Text(safe(node), HEAD)), *lines, *index_warnings(status)]


def _module(module: "CodeModule", used: Sequence[str], largest: int) -> Iterator[RenderableType]:
    size = Text.assemble((f"{bar(module.size, largest, _BAR):<{_BAR}}", GOOD), f" {module.size:>5,}  ")
    yield unbroken(size, Text(safe(module.name), ID))
    central = ", ".join(safe(each.path.rpartition("/")[2]) for each in module.central[:_CENTRAL])
    more = f" and {len(used) - _USED:,} more" if len(used) > _USED else ""
    uses = f"\nuses {', '.join(map(safe, used[:_USED]))}{more}" if used else ""
    yield Hanging(Text(f"{central}{uses}", FAINT), size.cell_len)


def _way(example: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The steps with their positions; of a long cycle the middle is only counted."""
    half = _MAX_CYCLE_STEPS // 2
    for place, step in enumerate(example):
        if len(example) <= _MAX_CYCLE_STEPS or not half <= place < len(example) - half:
            yield place, safe(step)
        elif place == half:
            yield place, f"… {len(example) - 2 * half:,} more"


def _why_unreached(found: "CodeImpact", path: str) -> str:
    return "imports its file" if path in found.importers else "named like it"


def _test_files(found: "CodeImpact", limit: int) -> Iterator[RenderableType]:
    """Files of tests, those likely to test the node first; the number is that of their tests that reach it.

    A file whose tests are not definitions, such as `test("…", () => …)`, reaches it as a whole and has no number.
    """
    near = found.test_files
    listed = near[:limit]
    counts = [f"{file.tests:,}" if file.tests else "" for file in listed]
    yield Listing(
        [
            ListLine(
                (Text(f"  {count:>4}", FAINT),),
                Text(safe(file.path), ID),
                Text("" if file.depth else _why_unreached(found, file.path), FAINT),
            )
            for count, file in zip(counts, listed, strict=True)
        ]
    )
    yield from _more(len(near) - len(listed), what="files")
    farther = len({test.partition("::")[0] for test in found.tests}) - sum(bool(file.depth) for file in near)
    if farther:
        yield Text(f"{counted(farther, 'more file')} of tests reach it from farther away", FAINT)


def _titled(title: str, ids: Iterable[Text], left_out: int) -> list[RenderableType]:
    return [Text(title, HEAD), *(unbroken("  ", id) for id in ids), *_more(left_out)]


def _more(count: int, what: str = "") -> list[RenderableType]:
    """A line that says how many entries were left out."""
    return [Text(f"{count:,} more{f' {what}' if what else ''}; --limit lists more", FAINT)] if count > 0 else []


def _problems(done: "IndexReport") -> Iterator[RenderableType]:
    lines = []
    for each in done.problems[:_PROBLEMS]:
        more = f" and {each.count - 1:,} more there" if each.count > 1 else ""
        place = Text(f"  {safe(each.path)}:{each.line}", "yellow")
        lines.append(ListLine((), place, Text(f"{preview(each.what)}{more}", "yellow")))
    yield Listing(lines)
    if done.problems_total > _PROBLEMS:
        yield Text(f"  {counted(done.problems_total - _PROBLEMS, 'more problem')}; --json lists them", FAINT)


def _notes(done: "IndexReport") -> Iterator[str]:
    yield from done.notes
    if not done.complete:
        yield "files kept changing while they were read; run it again, or with --watch"


def _by_name(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {safe(name)}" for name, count in counts.items() if count)


def _languages(levels: Mapping[str, Mapping[str, int]]) -> str:
    """Files by language, one line for each level of reading; the level "in full" is not named."""
    lines = (
        (f"{safe(level)}: " if place else "", _by_name(each)) for place, (level, each) in enumerate(levels.items())
    )
    return "\n".join(f"{level}{files}" for level, files in lines if files)


def _unread(counts: Mapping[str, int]) -> str:
    """The number of files that are in no answer, in total and by language."""
    largest_first = dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))
    return f"{counted(sum(counts.values()), 'file')}: {_by_name(largest_first)}" if counts else ""


def _table(rows: Mapping[str, str]) -> Table:
    """A table of labels and values; rows without a value are left out."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows.items():
        if value:
            grid.add_row(name, value)
    return grid
