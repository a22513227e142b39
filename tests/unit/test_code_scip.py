"""Edges of a SCIP index, each verified against the text."""

from tests.scip_indexes import Project
from treering.code.facts import DefinitionKind
from treering.code.scip import ScipRejection
from treering.core.graph import EdgeKind

HELPER, BASE, RUN = "scip x d 1 tools/helper().", "scip x d 1 tools/Base#", "scip x d 1 tools/Base#run()."
TOOLS = "def helper(x):\n    return x\n\n\nclass Base:\n    def run(self): ...\n"
USER = (
    "from tools import helper, Base\n\n\n"
    "class User(Base):\n    def go(self):\n        helper(1)\n        return Base()\n"
)


def project(user: str = USER) -> Project:
    """A project in which `tools.py` has definitions; each test adds occurrences to `user.py`."""
    made = Project({"tools.py": TOOLS, "user.py": user})
    made.define("tools.py", "helper", DefinitionKind.FUNCTION, 1, 2)
    made.define("tools.py", "Base", DefinitionKind.CLASS, 5, 6)
    made.define("tools.py", "Base.run", DefinitionKind.METHOD, 6)
    for word, symbol in (("helper", HELPER), ("Base", BASE), ("run", RUN)):
        made.mention("tools.py", word, symbol, defines=True)
    return made


def ends(made: Project) -> set[tuple[str, str, EdgeKind]]:
    return {(edge.origin, edge.target, edge.kind) for each in made.read().edges.values() for edge in each}


def test_calls_are_read_from_the_innermost_definition() -> None:
    made = project()
    made.define("user.py", "User", DefinitionKind.CLASS, 4, 7)
    made.define("user.py", "User.go", DefinitionKind.METHOD, 5, 7)
    made.mention("user.py", "helper", HELPER, nth=1)
    made.mention("user.py", "Base", BASE, nth=2)
    assert ends(made) >= {
        ("user.py::User.go", "tools.py::helper", EdgeKind.CALLS),
        ("user.py::User.go", "tools.py::Base", EdgeKind.CALLS),
    }


TWICE = """from typing import overload
from tools import helper


class User:
    @property
    def size(self): return 1

    @size.setter
    def size(
        self, new
    ):
        helper(new)

    helper(0)


@overload
def go(x: int) -> int: ...
@overload
def go(x: str) -> str: ...
def go(x):
    return helper(x)


helper(3)
"""
SCRIPT = """import { helper } from './tools'
export class User {
  get size() {
    return 1
  }
  set size(v) {
    helper(v)
  }
}
"""


def test_code_of_a_redefinition_belongs_to_the_definition() -> None:
    made = project(TWICE)
    made.define("user.py", "User", DefinitionKind.CLASS, 5, 15)
    made.define("user.py", "User.size", DefinitionKind.METHOD, 7)
    made.define("user.py", "go", DefinitionKind.FUNCTION, 19)
    made.mention("user.py", "size", "scip x d 1 user/User#size().", defines=True)
    made.mention("user.py", "size", "scip x d 1 user/User#size().", nth=2)
    made.mention("user.py", "go", "scip x d 1 user/go().", nth=0, defines=True)
    made.mention("user.py", "go", "scip x d 1 user/go().", nth=2, defines=True)
    for nth in range(1, 5):
        made.mention("user.py", "helper", HELPER, nth=nth)
    calls = {(edge.line, edge.origin) for edge in made.read().edges["user.py"] if edge.kind is EdgeKind.CALLS}
    assert calls == {(13, "user.py::User.size"), (15, "user.py::User"), (23, "user.py::go"), (26, "user.py")}


def test_the_setter_of_a_script_is_the_same_member_as_its_getter() -> None:
    helper, size = "scip x d 1 `tools.ts`/helper().", "scip x d 1 `user.ts`/User#`<{}>size`()."
    made = Project({"tools.ts": "export function helper(x) {}\n", "user.ts": SCRIPT})
    made.define("tools.ts", "helper", DefinitionKind.FUNCTION, 1)
    made.mention("tools.ts", "helper", helper, defines=True)
    made.define("user.ts", "User", DefinitionKind.CLASS, 2, 9)
    made.define("user.ts", "User.size", DefinitionKind.METHOD, 3, 5)
    made.mention("user.ts", "size", size.format("get"), defines=True)
    made.mention("user.ts", "size", size.format("set"), nth=1, defines=True)
    made.mention("user.ts", "helper", helper, nth=1)
    assert ("user.ts::User.size", "tools.ts::helper", EdgeKind.CALLS) in ends(made)


def test_a_reference_with_another_name_is_rejected() -> None:
    made = project()
    made.mention("user.py", "helper", RUN, nth=1)
    assert not [end for end in ends(made) if end[1] == "tools.py::Base.run"]
    assert sum(made.read().rejected.values()) == 1


def test_an_alias_is_accepted_as_a_name() -> None:
    made = project("from tools import helper as aid\n\naid(2)\n")
    made.mention("user.py", "helper", HELPER)
    made.mention("user.py", "aid", HELPER, nth=1)
    assert ("user.py", "tools.py::helper", EdgeKind.CALLS) in ends(made)


def test_a_reference_without_a_call_is_not_an_edge() -> None:
    made = project("from tools import helper\nx = [helper]\n")
    made.mention("user.py", "helper", HELPER, nth=1)
    assert not [end for end in ends(made) if end[2] is EdgeKind.CALLS]


def test_implementation_relations_become_edges() -> None:
    go = "scip x d 1 user/User#run()."
    made = project("from tools import Base\n\n\nclass User(Base):\n    def run(self): ...\n")
    made.define("user.py", "User", DefinitionKind.CLASS, 4, 5)
    made.define("user.py", "User.run", DefinitionKind.METHOD, 5)
    made.mention("user.py", "run", go, defines=True)
    made.relate("user.py", go, RUN)
    assert ("user.py::User.run", "tools.py::Base.run", EdgeKind.IMPLEMENTS) in ends(made)


STARRED = {
    "pkg/__init__.py": "from ._api import *\nfrom ._client import *\nfrom ._api import get as fetch\n",
    "pkg/_api.py": "def get(url):\n    return url\n",
    "pkg/_client.py": "class Client:\n    def close(self): ...\n",
    "use.py": "import pkg\n\nclient = pkg.Client()\npkg.get(1)\npkg.fetch(2)\n",
}
GET, CLIENT = "scip-python python p 1 `pkg._api`/get().", "scip-python python p 1 `pkg._client`/Client#"


def starred() -> Project:
    """A package whose `__init__` re-exports everything by stars, and one name under an alias."""
    made = Project(STARRED)
    made.define("pkg/_api.py", "get", DefinitionKind.FUNCTION, 1, 2)
    made.define("pkg/_client.py", "Client", DefinitionKind.CLASS, 1, 2)
    made.mention("pkg/_api.py", "get", GET, defines=True)
    made.mention("pkg/_client.py", "Client", CLIENT, defines=True)
    return made


def test_a_misresolved_star_re_export_is_rejected() -> None:
    """scip-python 0.6.6 resolves a name imported through a star to the first star import."""
    made = starred()
    made.mention("use.py", "Client", GET)
    made.mention("use.py", "get", GET)
    assert ends(made) == {("use.py", "pkg/_api.py::get", EdgeKind.CALLS)}
    assert made.read().rejected == {ScipRejection.OTHER_NAME: 1}
    (edge,) = made.read().edges["use.py"]
    assert edge.line == 4


def test_a_renamed_re_export_is_accepted() -> None:
    made = starred()
    made.mention("pkg/__init__.py", "get", GET)
    made.mention("use.py", "fetch", GET)
    made.mention("use.py", "Client", CLIENT)
    assert ends(made) == {
        ("use.py", "pkg/_api.py::get", EdgeKind.CALLS),
        ("use.py", "pkg/_client.py::Client", EdgeKind.CALLS),
    }
    assert made.read().rejected == {}


def test_another_name_without_an_alias_is_rejected() -> None:
    made = starred()
    made.mention("use.py", "fetch", GET)
    assert ends(made) == set()
    assert made.read().rejected == {ScipRejection.OTHER_NAME: 1}
