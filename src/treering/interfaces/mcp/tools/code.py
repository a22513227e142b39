"""Tools analyze_impact, get_dependencies, related_files and trace_data_flow: queries of the code graph."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import Field

from treering.core.delimiters import one_line
from treering.core.tokens import estimate_tokens
from treering.interfaces.mcp.answers import Cited, cited, item_tokens, within
from treering.interfaces.mcp.tool import READS, Arguments, Name, Reply, Result, Tool, ToolAnswer
from treering.interfaces.mcp.tools.unresolved_code import (
    UnresolvedArgument,
    UnresolvedUse,
    listed_uses,
    unresolved_sentence,
    use_line,
)
from treering.render.listing import lines_within, names_within, render_listing

if TYPE_CHECKING:
    from treering.code.facts import Unresolved as UnresolvedCodeUse
    from treering.code.graph import CodeAnswers, IndexStatus, ReachedNode
    from treering.code.graph.answers import Dependencies, DependencyPath
    from treering.code.graph.flows import DataFlow, FlowNode
    from treering.code.history.relatives import Relations
    from treering.code.linked_memories import CodeImpact
    from treering.interfaces.mcp.host import CallContext

R = TypeVar("R", bound=Result)

Node = Annotated[
    Name,
    Field(
        description="A function, class, method, file, folder, or file:line of this repository, as you would write it.",
        examples=["verify_jwt", "AuthService.login", "auth/tokens.py", "auth/tokens.py:42"],
    ),
]
Limit = Annotated[int, Field(ge=1, le=200, description="Maximum number of results.")]
Depth = Annotated[int | None, Field(ge=1, le=50, description="Maximum number of steps.")]


class ReachedCode(Result):
    """A reached node, its distance, and the confidence of the last edge."""

    name: str
    depth: int
    by: str
    confidence: float
    test: bool = False


class AnalyzeImpact(Arguments):
    node: Node
    unresolved: UnresolvedArgument = False
    depth: Depth = None
    limit: Limit = 30


class ImpactResult(Reply):
    node: str
    score: float
    """Sum of the scores of the dependents that were examined."""
    total: int
    tests_total: int
    dependents: tuple[ReachedCode, ...]
    tests: tuple[str, ...]
    """The nearest tests that are not among the dependents."""
    test_files: tuple[str, ...] = ()
    """Files of tests, those likely to test it first."""
    importers: tuple[str, ...]
    """Files that may use it in other ways and are not among the dependents."""
    file_level: bool = False
    """Whether the importers are the answer, for the whole file: no dependent is certain."""
    handlers: tuple[str, ...] = ()
    """Dependents that catch the errors that it raises."""
    unresolved: int = 0
    """Number of uses of its name that could not be resolved and may be of it."""
    uses: tuple[UnresolvedUse, ...] = ()
    """Those uses, if they were asked for."""
    memories: tuple[Cited, ...]
    left_out: int
    doubts: tuple[str, ...]


def analyze_impact(call: "CallContext", asked: AnalyzeImpact) -> ToolAnswer[ImpactResult]:
    if asked.unresolved:
        listed = call.code.unresolved(asked.node)
        return within(_budget(call), lambda room: _impact_unresolved(listed, asked, room))
    found = call.code.impact(asked.node, depth=asked.depth)
    return within(_budget(call), lambda room: _impact(found, asked, room))


def _impact_unresolved(
    found: "CodeAnswers[UnresolvedCodeUse]", asked: AnalyzeImpact, room: int
) -> ToolAnswer[ImpactResult]:
    text, uses, doubts = _uses(found, asked.limit, room)
    result = ImpactResult(
        node=asked.node,
        score=0.0,
        total=0,
        tests_total=0,
        dependents=(),
        tests=(),
        importers=(),
        unresolved=len(found),
        uses=uses,
        memories=(),
        left_out=len(found) - len(uses),
        doubts=doubts,
    )
    return ToolAnswer(text, result)


def _impact(found: "CodeImpact", asked: AnalyzeImpact, room: int) -> ToolAnswer[ImpactResult]:
    everywhere = asked.depth is None
    total = found.total if everywhere else len(found.dependents)
    tests_total = found.tests_total if everywhere else len(found.tests)
    doubts = _doubts(found.status, room // 8)
    steps = "" if everywhere else f" in {asked.depth} steps"
    reached = f"{_parts(total)}{steps}; tests among them: {tests_total}; impact {found.score:.1f}."
    head = f"A change of {one_line(found.node)} reaches {reached}"
    if found.file_level:
        head += " No dependent of it is certain; for its whole file, the files that import it are listed."
    open_uses = unresolved_sentence(found.unresolved, "could not be resolved and may be of it")
    records = (*found.annotations, *found.memories)
    known = render_listing([cited(record) for record in records], room // 4, cost=item_tokens)
    left = _beside(room, head, open_uses, known.text, *doubts)
    dependents = _fitted(found.dependents[: asked.limit], left * 13 // 21)
    shown = {each.name for each in dependents}
    tests, importers = (
        tuple(lines_within([name for name in names if name not in shown][: asked.limit], left // 7))
        for names in (found.tests, found.importers)
    )
    handlers = tuple(lines_within(found.handlers[: asked.limit], left // 21))
    test_files = tuple(lines_within([file.path for file in found.test_files[:_MAX_TEST_FILES]], left // 21))
    left_out = total - len(dependents)
    lines = (
        head,
        *map(_line, dependents),
        _more(left_out),
        open_uses,
        f"Tests among those: {names_within(tests)}" if tests else "",
        f"Files of tests, those likely to test it first: {names_within(test_files)}" if test_files else "",
        f"Files that import its file: {names_within(importers)}" if importers else "",
        f"Errors that it raises are caught by: {names_within(handlers)}" if handlers else "",
        *doubts,
        known.text,
    )
    result = ImpactResult(
        notes=known.notes,
        node=found.node,
        score=found.score,
        total=total,
        tests_total=tests_total,
        dependents=dependents,
        tests=tests,
        importers=importers,
        file_level=found.file_level,
        test_files=test_files,
        handlers=handlers,
        unresolved=found.unresolved_total,
        memories=known.items,
        left_out=left_out,
        doubts=doubts,
    )
    return ToolAnswer("\n".join(filter(None, lines)), result)


class GetDependencies(Arguments):
    node: Node
    to: Annotated[
        Name | None,
        Field(description="Return the dependency path from node to this one instead.", examples=["db.py"]),
    ] = None
    unresolved: UnresolvedArgument = False
    depth: Depth = None
    limit: Limit = 30


class DependenciesResult(Reply):
    node: str
    dependencies: tuple[ReachedCode, ...] = ()
    route: tuple[str, ...] = ()
    unresolved: int = 0
    """Number of uses in it that could not be resolved."""
    uses: tuple[UnresolvedUse, ...] = ()
    """Those uses, if they were asked for."""
    left_out: int = 0
    doubts: tuple[str, ...] = ()


def get_dependencies(call: "CallContext", asked: GetDependencies) -> ToolAnswer[DependenciesResult]:
    if asked.unresolved:
        listed = call.code.unresolved(asked.node, inside=True)
        return within(_budget(call), lambda room: _dependencies_unresolved(listed, asked, room))
    if asked.to is not None:
        way, names = call.code.path(asked.node, asked.to), (asked.node, asked.to)
        return within(_budget(call), lambda room: _route(way, names, room))
    found = call.code.dependencies(asked.node, depth=asked.depth)
    return within(_budget(call), lambda room: _dependencies(found, asked.limit, room))


def _dependencies_unresolved(
    found: "CodeAnswers[UnresolvedCodeUse]", asked: GetDependencies, room: int
) -> ToolAnswer[DependenciesResult]:
    text, uses, doubts = _uses(found, asked.limit, room)
    left_out = len(found) - len(uses)
    result = DependenciesResult(node=asked.node, unresolved=len(found), uses=uses, left_out=left_out, doubts=doubts)
    return ToolAnswer(text, result)


def _dependencies(found: "Dependencies", limit: int, room: int) -> ToolAnswer[DependenciesResult]:
    doubts = _doubts(found.status, room // 8)
    head = f"{one_line(found.node)} depends on {_parts(len(found.dependencies))}."
    open_uses = unresolved_sentence(found.unresolved, "in it could not be resolved")
    nearest = _fitted(found.dependencies[:limit], _beside(room, head, open_uses, *doubts))
    left_out = len(found.dependencies) - len(nearest)
    lines = (head, *map(_line, nearest), _more(left_out), open_uses, *doubts)
    result = DependenciesResult(
        node=found.node,
        dependencies=nearest,
        unresolved=found.unresolved_total,
        left_out=left_out,
        doubts=doubts,
    )
    return ToolAnswer("\n".join(filter(None, lines)), result)


def _route(found: "DependencyPath", names: tuple[str, str], room: int) -> ToolAnswer[DependenciesResult]:
    origin, target = names
    doubts = _doubts(found.status, room // 8)
    steps = lines_within((f"→ {one_line(step)}" for step in found.ids), _beside(room, *doubts))
    path = " ".join(steps).removeprefix("→ ") or f"{one_line(origin)} does not depend on {one_line(target)}."
    left_out = len(found.ids) - len(steps)
    result = DependenciesResult(
        node=found.ids[0] if found.ids else origin, route=found.ids[: len(steps)], left_out=left_out, doubts=doubts
    )
    return ToolAnswer("\n".join(filter(None, (path, _more(left_out), *doubts))), result)


class RelatedFiles(Arguments):
    path: Annotated[
        Name,
        Field(
            description="A file, relative to the repository root; with a git history it need not exist yet.",
            examples=["shop/db.py"],
        ),
    ]
    limit: Limit = 10


class RelatedFile(Result):
    path: str
    score: float
    together: int
    why: tuple[str, ...]


class RelatedResult(Reply):
    path: str
    related: tuple[RelatedFile, ...]
    without_history: str
    doubts: tuple[str, ...]


def related_files(call: "CallContext", asked: RelatedFiles) -> ToolAnswer[RelatedResult]:
    found = call.code.related(asked.path, limit=asked.limit)
    return within(_budget(call), lambda room: _related(found, room))


def _related(found: "Relations", room: int) -> ToolAnswer[RelatedResult]:
    doubts = _doubts(found.status, room // 8)
    related = tuple(
        RelatedFile(path=each.path, score=round(each.score, 3), together=each.together, why=each.reasons)
        for each in found.related
    )
    head = f"Files related to {one_line(found.path)}:" if related else f"No file is related to {one_line(found.path)}."
    without = f"Without the history: {one_line(found.without_history)}" if found.without_history else ""
    shown = _within(related, _file, _beside(room, head, without, *doubts))
    lines = (head, *map(_file, shown), without, *doubts)
    result = RelatedResult(path=found.path, related=shown, without_history=found.without_history, doubts=doubts)
    return ToolAnswer("\n".join(filter(None, lines)), result)


def _file(each: RelatedFile) -> str:
    why = f" ({', '.join(each.why)})" if each.why else ""
    return f"- {one_line(each.path)}{why}"


class TraceDataFlow(Arguments):
    node: Node
    limit: Limit = 30


class FlowPath(Result):
    name: str
    depth: int
    path: tuple[str, ...]


class DataFlowResult(Reply):
    node: str
    sources: tuple[FlowPath, ...]
    sinks: tuple[FlowPath, ...]
    left_out: int
    doubts: tuple[str, ...]


def trace_data_flow(call: "CallContext", asked: TraceDataFlow) -> ToolAnswer[DataFlowResult]:
    found = call.code.data_flow(asked.node)
    return within(_budget(call), lambda room: _data_flow(found, asked.limit, room))


def _data_flow(found: "DataFlow", limit: int, room: int) -> ToolAnswer[DataFlowResult]:
    doubts, node = _doubts(found.status, room // 8), one_line(found.node)
    into = f"Data of {node} comes from:" if found.sources else f"Nothing is known to flow into {node}."
    out_of = "It goes to:" if found.sinks else "It is not known to flow anywhere."
    left = _beside(room, into, out_of, *doubts)
    sources, sinks = (_flows(ways[:limit], left // 2) for ways in (found.sources, found.sinks))
    left_out = len(found.sources) + len(found.sinks) - len(sources) - len(sinks)
    lines = (into, *map(_way, sources), out_of, *map(_way, sinks), _more(left_out), *doubts)
    result = DataFlowResult(node=found.node, sources=sources, sinks=sinks, left_out=left_out, doubts=doubts)
    return ToolAnswer("\n".join(filter(None, lines)), result)


def _uses(
    found: "CodeAnswers[UnresolvedCodeUse]", limit: int, room: int
) -> tuple[str, tuple[UnresolvedUse, ...], tuple[str, ...]]:
    """Text, listed uses and warnings about uses without a known target."""
    doubts = _doubts(found.status, room // 8)
    head = f"Uses that could not be resolved: {len(found):,}."
    uses = _within(listed_uses(found, limit), use_line, _beside(room, head, *doubts))
    lines = (head, *map(use_line, uses), _more(len(found) - len(uses)), *doubts)
    return "\n".join(filter(None, lines)), uses, doubts


def _reached(tied: "ReachedNode") -> ReachedCode:
    return ReachedCode(name=tied.id, depth=tied.depth, by=tied.kind.value, confidence=tied.confidence, test=tied.test)


def _line(each: ReachedCode) -> str:
    steps = "directly" if each.depth == 1 else f"in {each.depth} steps"
    return f"- {one_line(each.name)} ({each.by} {steps}{', test' if each.test else ''})"


def _budget(call: "CallContext") -> int:
    return call.memory.settings.agents.answer_tokens


def _beside(room: int, *lines: str) -> int:
    """Tokens left for the list after the given lines."""
    return room - estimate_tokens("\n".join((*lines, _more(_MANY))))


_MANY = 1_000_000
_MAX_TEST_FILES = 8


def _more(count: int) -> str:
    return f"{count} more; these are the nearest." if count else ""


def _fitted(found: "Sequence[ReachedNode]", budget: int) -> tuple[ReachedCode, ...]:
    """As many of the nearest nodes as fit into the budget."""
    nearest = tuple(map(_reached, found))
    return _within(nearest, _line, budget)


def _within(nearest: tuple[R, ...], line: Callable[[R], str], budget: int) -> tuple[R, ...]:
    """As many as fit the budget, both as text and as structured result."""
    as_text = len(lines_within(map(line, nearest), budget))
    as_result = len(lines_within((each.sent_json() for each in nearest), budget))
    return nearest[: min(as_text, as_result)]


def _flows(found: "Sequence[FlowNode]", budget: int) -> tuple[FlowPath, ...]:
    nearest = tuple(FlowPath(name=each.id, depth=each.depth, path=each.path) for each in found)
    return _within(nearest, _way, budget)


def _way(flow: FlowPath) -> str:
    return f"- {one_line(' → '.join(flow.path))}"


def _doubts(status: "IndexStatus", room: int) -> tuple[str, ...]:
    """Warnings about the index behind the answer."""
    guessed = (f"{guess.asked} does not exist; this is about {guess.taken_for}." for guess in status.guessed)
    stale = f"Changed and not read again yet: {names_within(status.stale, room)}" if status.stale else ""
    incomplete = "The index is not complete yet: parts may be missing." if status.incomplete else ""
    languages = ", ".join(status.definitions_only)
    partial = f"Definitions only in {languages}: users are known by name only." if languages else ""
    return tuple(filter(None, (*map(one_line, guessed), *map(one_line, status.notes), partial, stale, incomplete)))


def _parts(count: int) -> str:
    return f"{count:,} part{'' if count == 1 else 's'} of the code"


CODE_TOOLS = (
    Tool(
        name="analyze_impact",
        title="Impact of a change",
        about="What a change of this would break: its dependents, nearest first, the tests that reach it, and what "
        "memory knows about it. Ask before you edit shared code.",
        arguments=AnalyzeImpact,
        result=ImpactResult,
        work=analyze_impact,
        hints=READS,
        lengthy=True,
    ),
    Tool(
        name="get_dependencies",
        title="Dependencies",
        about="What a part of the code depends on, or (with `to`) the path by which it depends on another.",
        arguments=GetDependencies,
        result=DependenciesResult,
        work=get_dependencies,
        hints=READS,
        lengthy=True,
    ),
    Tool(
        name="related_files",
        title="Related files",
        about="Files related to a file: changed together in the history, imported, or named alike. Ask what else "
        "to touch before you finish a change.",
        arguments=RelatedFiles,
        result=RelatedResult,
        work=related_files,
        hints=READS,
        lengthy=True,
    ),
    Tool(
        name="trace_data_flow",
        title="Data flow",
        about="Where the data of a function or variable comes from and where it goes.",
        arguments=TraceDataFlow,
        result=DataFlowResult,
        work=trace_data_flow,
        hints=READS,
        lengthy=True,
    ),
)
