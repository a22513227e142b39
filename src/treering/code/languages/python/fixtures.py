"""The fixture that pytest uses for a parameter: of the same class or file, or of a `conftest.py` above."""

from treering.code.facts import Edge, Facts
from treering.code.languages.edges import EVIDENT, EdgeSet
from treering.code.languages.python import surface
from treering.code.languages.python.modules import directory_of, join
from treering.code.languages.python.project import PythonProject
from treering.code.languages.python.values import FunctionValue, identity
from treering.core.graph import EdgeKind


def fixture_functions(project: PythonProject, path: str, requester: str, name: str) -> list[FunctionValue]:
    """Return the fixture `name` as seen by the function `requester`.

    A fixture that requests its own name gets the one it overrides.
    """
    own = requester.rpartition(".")[2] == name
    for file in _files(path):
        given = project.lookup(surface.FIXTURE, file, name)
        if given and not (own and file == path and requester in given[0][1]):
            qualnames = given[0][1]
            inside = [qualname for qualname in qualnames if "." in qualname and _same_class(qualname, requester)]
            free = [qualname for qualname in qualnames if "." not in qualname]
            chosen = inside or free if file == path else free
            if chosen:
                return [FunctionValue(file, qualname) for qualname in chosen[-1:]]
    imported = project.own_name(path, name)
    for value in imported or ():
        if isinstance(value, FunctionValue):
            made = project.function(value.path, value.qualname)
            if made is not None and made.fixture:
                return [value]
    return []


def add_fixtures(project: PythonProject, edges: EdgeSet, facts: Facts) -> None:
    """Add edges from tests to their fixtures, autouse ones included, and from fixtures to those they request."""
    path, requests = facts.path, facts.body.requests
    tests = {definition.qualname: definition.line for definition in facts.definitions if definition.test}
    requested = [(requester, name) for requester, names in requests.of for name in names]
    requested += [(test, name) for test in tests for name in requests.file_wide]
    found = [
        (requester, made) for requester, name in requested for made in fixture_functions(project, path, requester, name)
    ]
    autouse = _autouse_fixtures(project, path) if tests else []
    found += [(test, made) for test in tests for made in autouse if _reaches(made, path, test)]
    lines = {definition.qualname: definition.line for definition in facts.definitions}
    for requester, made in found:
        ends = (identity(path, requester), identity(made.path, made.qualname))
        if ends[0] != ends[1]:
            edges.add(Edge(*ends, EdgeKind.DEPENDS_LOGICALLY, EVIDENT, lines.get(requester, 1)))


def _autouse_fixtures(project: PythonProject, path: str) -> list[FunctionValue]:
    return [
        FunctionValue(file, qualname)
        for file in _files(path)
        for _, qualnames in project.lookup(surface.AUTOUSE, file)
        for qualname in qualnames
    ]


def _reaches(fixture: FunctionValue, path: str, test: str) -> bool:
    """Whether an autouse fixture applies to a test: one defined in a class applies to the tests of that class only."""
    owner = fixture.qualname.rpartition(".")[0]
    return not owner or (fixture.path == path and test.startswith(owner + "."))


def _same_class(fixture: str, requester: str) -> bool:
    return fixture.rpartition(".")[0] == requester.rpartition(".")[0]


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
