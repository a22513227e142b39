"""Which function pytest calls for a parameter of a test: of the same class or file, or of a `conftest.py` above."""

from treering.index.languages.python import surface
from treering.index.languages.python.modules import directory_of, join
from treering.index.languages.python.project import Project
from treering.index.languages.python.values import FunctionValue


def fixture_functions(project: Project, path: str, asking: str, name: str) -> list[FunctionValue]:
    """The fixture `name` as the function `asking` of a file sees it; a fixture that asks for its own name gets the
    one that it replaces."""
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
