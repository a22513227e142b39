"""A fixed project whose names are as long as they come, and how the commands about code draw it.

Rewritten on purpose with `.venv/bin/python -m tests.golden.code.drawing`; then read the diff.
"""

from dataclasses import replace
from pathlib import Path

from rich.console import Console, RenderableType

from tests.samples import sample
from treering.code.facts import CallFlow, Definition, DefinitionKind, Edge, EntryPoint
from treering.code.graph import CodeGraph, Impact, IndexStatus, NameGuess
from treering.code.history.ranking import RankedFile, RankTerm
from treering.code.history.relatives import Relations
from treering.code.index.report import FileProblem, IndexReport, ScipIndex
from treering.code.linked_memories import CodeImpact
from treering.code.status import CodeStatus
from treering.core.graph import EdgeKind
from treering.core.records import Knowledge
from treering.interfaces.cli.code import views as pictures
from treering.ports.code import CodeTotals

FOLDER = Path(__file__).parent
WIDTH, NARROW = 80, 40
TOKENS, LOGIN, TESTS = "app/tokens.py", "services/accounts/authentication/login_service.py", "tests/test_login.py"
DECODE, VERIFY = f"{TOKENS}::decode", f"{TOKENS}::TokenVerifier.verify"
SERVICE = f"{LOGIN}::AuthenticationService.login_with_password_and_second_factor"
ROUTE, TEST = f"{LOGIN}::login_route", f"{TESTS}::TestLogin.test_that_a_wrong_second_factor_is_refused"
ODD = "app/\x1b[31modd\u202e[bold].py"
IDS = (DECODE, VERIFY, SERVICE, ROUTE, TEST)
_PASSED = int(CallFlow.ARGUMENTS | CallFlow.RESULT)


def _definition(id: str, line: int, **fields: object) -> Definition:
    return Definition(id.partition("::")[2], DefinitionKind.FUNCTION, line, line + 2, **fields)  # type: ignore[arg-type]


def _calls(origin: str, target: str, line: int, confidence: float = 1.0) -> Edge:
    return Edge(origin, target, EdgeKind.CALLS, confidence, line, _PASSED)


def _graph() -> CodeGraph:
    graph = CodeGraph()
    graph.replace_file(TOKENS, (_definition(DECODE, 1), _definition(VERIFY, 5)), (_calls(VERIFY, DECODE, 6),))
    route = _definition(ROUTE, 9, entry=EntryPoint.ROUTE, entry_name="/accounts/login")
    login = (Edge(LOGIN, TOKENS, EdgeKind.IMPORTS, 1.0, 1), _calls(SERVICE, VERIFY, 4), _calls(ROUTE, SERVICE, 10, 0.9))
    graph.replace_file(LOGIN, (_definition(SERVICE, 3), route), login)
    tests = (Edge(TESTS, LOGIN, EdgeKind.IMPORTS, 1.0, 1), _calls(TEST, SERVICE, 4))
    graph.replace_file(TESTS, (_definition(TEST, 3, test=True),), tests)
    main = Definition("main", DefinitionKind.FUNCTION, 1, 3, entry=EntryPoint.COMMAND, entry_name="app")
    graph.replace_file(
        ODD,
        (main,),
        (Edge(ODD, TOKENS, EdgeKind.IMPORTS, 1.0, 1), Edge(f"{ODD}::main", DECODE, EdgeKind.EXTENDS, 0.9, 2)),
    )
    return graph


def _round() -> CodeGraph:
    """Three files in a circle, and twenty in another."""
    graph = CodeGraph()
    rings = [(TOKENS, LOGIN, TESTS), tuple(f"app/part_{number:02}.py" for number in range(20))]
    for ring in rings:
        for place, path in enumerate(ring):
            graph.replace_file(path, (), (Edge(path, ring[(place + 1) % len(ring)], EdgeKind.IMPORTS, 1.0, 1),))
    return graph


GRAPH, ROUND = _graph(), _round()
_FOUND = GRAPH.impact(DECODE)
IMPACT = CodeImpact(
    **{name: getattr(_FOUND, name) for name in Impact.__dataclass_fields__},
    memories=(sample(Knowledge, id="k1", content="Tokens are opaque: never parse them"),),
)
GUESSED = replace(IMPACT, status=IndexStatus(guessed=(NameGuess("dcode\x1b[1m", DECODE),)))
RELATED = Relations(
    LOGIN,
    (
        RankedFile(
            TOKENS,
            6.251,
            (RankTerm("together", 2.0, 1.6), RankTerm("imports", 1.0, 0.3), RankTerm("words", 0.5, 0.8)),
            12,
        ),
        RankedFile(
            TESTS, 3.5, (RankTerm("new_name", 1.0, 2.81), RankTerm("name", 1.0, 0.04), RankTerm("fresh", 3.0, 0.6)), 1
        ),
        RankedFile(ODD, 0.2, (RankTerm("same_folder", 1.0, -0.65), RankTerm("busy", 1.0, 0.13))),
    ),
    "this is not a git repository",
    IndexStatus(stale=(TESTS,)),
)
TOTALS = CodeTotals(1_204, 9_001, 1, 1, 2, {"python": 1_203, "go": 1}, 3)
DONE = IndexReport(
    root="/home/somebody/projects/a-project-with-a-long-name-in-a-deep-folder/src",
    read=1,
    unchanged=1_203,
    resolved=7,
    skipped={"generated": 4, "too large": 1},
    problems=tuple(FileProblem(f"app/broken_{number}.py", number, "a syntax error") for number in range(1, 11)),
    problems_total=11,
    totals=TOTALS,
    seconds=0.1234,
    complete=False,
    notes=("index.scip by scip-python 0.6.6: confirms 12 edges known from the source, adds 1",),
)
SCIP = (ScipIndex("index.scip", "scip-python 0.6.6", confirmed=12, added=1, edges=9),)
STATUS = CodeStatus("/nowhere/at/all", False, TOTALS, {"generated": 4}, outdated=True, scip=SCIP, scip_edges=7)
MANY = 20
PICTURES: dict[str, RenderableType] = {
    "impact": pictures.impact(IMPACT, MANY),
    "impact_two": pictures.impact(IMPACT, 2),
    "impact_guessed": pictures.impact(GUESSED, 1),
    "deps": pictures.dependencies(GRAPH.dependencies(TEST), MANY),
    "deps_nothing": pictures.dependencies(GRAPH.dependencies(DECODE), MANY),
    "route": pictures.route("login_route", "decode", GRAPH.path(ROUTE, DECODE)),
    "route_nowhere": pictures.route("decode", "login_route", GRAPH.path(DECODE, ROUTE)),
    "flow": pictures.data_flow(GRAPH.data_flow(SERVICE), 1),
    "related": pictures.relations(RELATED),
    "map": pictures.module_map(GRAPH.module_map(), MANY),
    "cycles": pictures.cycles(ROUND.cycles("file"), MANY),
    "cycles_one": pictures.cycles(ROUND.cycles("file"), 1),
    "cycles_none": pictures.cycles(GRAPH.cycles("file"), MANY),
    "entries": pictures.entries(GRAPH.entry_points(), MANY),
    "entries_one": pictures.entries(GRAPH.entry_points(), 1),
    "index": pictures.indexed(DONE),
    "status": pictures.status(STATUS),
    "forgotten": pictures.forgotten(STATUS),
}
DRAWN = tuple((name, width) for name in PICTURES for width in (WIDTH, NARROW))


def golden(name: str, width: int) -> Path:
    return FOLDER / f"{name}{'' if width == WIDTH else f'_{width}'}.txt"


def drawn(name: str, width: int) -> str:
    console = Console(width=width, highlight=False, markup=False, emoji=False, no_color=True)
    with console.capture() as captured:
        console.print(PICTURES[name], crop=False)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


if __name__ == "__main__":
    for name, width in DRAWN:
        golden(name, width).write_text(drawn(name, width), encoding="utf-8")
