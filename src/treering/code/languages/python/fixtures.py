"""The fixture that pytest uses for a parameter: of the same class or file, or of a `conftest.py` above."""

from treering.code.facts import Edge, Facts
from treering.code.languages.edges import EVIDENT, EdgeSet
from treering.code.languages.python import surface
from treering.code.languages.python.modules import directory_of, join
from treering.code.languages.python.project import PythonProject
from treering.code.languages.python.values import FunctionValue, identity
from treering.core.graph import EdgeKind


def fixture_functions(project: PythonProject, path: str, asking: str, name: str) -> list[FunctionValue]:
    """Return the fixture `name` as seen by the function `asking`.

    A fixture that requests its own name gets the one it overrides.
    """
    own = asking.rpartition(".")[2] == name
    for file in _files(path):
        given = project.asked(surface.FIXTURE, file, name)
        if given and not (own and file == path and asking in given[0][1]):
            qualnames = given[0][1]
            inside = [qualname for qualname in qualnames if "." in qualname and _same_class(qualname, asking)]
            free = [qualname for qualname in qualnames if "." not in qualname]
            chosen = inside or free if file == path else free
            if chosen:
                return [FunctionValue(file, qualname) for qualname in chosen[-1:]]
    taken = project.own_name(path, name)
    for value in taken or ():
        if isinstance(value, FunctionValue):
            made = project.function(value.path, value.qualname)
            if made is not None and made.fixture:
                return [value]
    return []


def add_fixtures(project: PythonProject, edges: EdgeSet, facts: Facts) -> None:
    """Add edges from tests to their fixtures, autouse ones included, and from fixtures to those they request."""
    path, requests = facts.path, facts.body.requests
    tests = {definition.qualname: definition.line for definition in facts.definitions if definition.test}
    asked = [(asking, name) for asking, names in requests.of for name in names]
    asked += [(test, name) for test in tests for name in requests.by_all]
    found = [(asking, made) for asking, name in asked for made in fixture_functions(project, path, asking, name)]
    unasked = _unasked(project, path) if tests else []
    found += [(test, made) for test in tests for made in unasked if _reaches(made, path, test)]
    lines = {definition.qualname: definition.line for definition in facts.definitions}
    for asking, made in found:
        ends = (identity(path, asking), identity(made.path, made.qualname))
        if ends[0] != ends[1]:
            edges.add(Edge(*ends, EdgeKind.DEPENDS_LOGICALLY, EVIDENT, lines.get(asking, 1)))


def _unasked(project: PythonProject, path: str) -> list[FunctionValue]:
    return [
        FunctionValue(file, qualname)
        for file in _files(path)
        for _, qualnames in project.asked(surface.UNASKED, file)
        for qualname in qualnames
    ]


def _reaches(fixture: FunctionValue, path: str, test: str) -> bool:
    """Whether an autouse fixture applies to a test: one defined in a class applies to the tests of that class only."""
    owner = fixture.qualname.rpartition(".")[0]
    return not owner or (fixture.path == path and test.startswith(owner + "."))


def _same_class(fixture: str, asking: str) -> bool:
    return fixture.rpartition(".")[0] == asking.rpartition(".")[0]


def _files(path: str) -> list[str]:
    files = [path]
    directory = directory_of(path)
    while True:
        conftest = join(directory, "conftest.py")
        if conftest != path:
            files.append(conftest)
        if not directory:
            return files
        directory = directory_of(directory)
