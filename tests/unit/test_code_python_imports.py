"""Targets of Python imports: packages, relative imports, roots, re-exports, stars, namespace packages."""

import pytest

from tests.resolver_projects import edges_of, unresolved_of
from treering.code.languages.python import LANGUAGE


def imports(files: dict[str, str]) -> set[tuple[str, str]]:
    return {(origin, target) for origin, kind, target in edges_of(files, LANGUAGE) if kind == "imports"}


def calls(files: dict[str, str]) -> set[tuple[str, str]]:
    return {(origin, target) for origin, kind, target in edges_of(files, LANGUAGE) if kind == "calls"}


@pytest.mark.parametrize(
    ("statement", "target"),
    [
        ("import pkg.deep.leaf", "pkg/deep/leaf.py"),
        ("import pkg.deep.leaf as other", "pkg/deep/leaf.py"),
        ("from pkg.deep import leaf", "pkg/deep/leaf.py"),
        ("from pkg.deep.leaf import grow", "pkg/deep/leaf.py"),
        ("from pkg.deep import VALUE", "pkg/deep/__init__.py"),
        ("from pkg.deep import *", "pkg/deep/__init__.py"),
        ("import pkg", "pkg/__init__.py"),
        ("def late():\n    from pkg.deep import leaf", "pkg/deep/leaf.py"),
        ("if TYPE_CHECKING:\n    from pkg.deep.leaf import grow", "pkg/deep/leaf.py"),
        ("try:\n    import fast\nexcept ImportError:\n    from pkg.deep import leaf", "pkg/deep/leaf.py"),
        ("import importlib\nimportlib.import_module('pkg.deep.leaf')", "pkg/deep/leaf.py"),
    ],
)
def test_an_import_reaches_the_file_of_the_module(statement: str, target: str) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/deep/__init__.py": "VALUE = 1",
        "pkg/deep/leaf.py": "def grow(): ...",
        "main.py": statement,
    }
    assert imports(files) == {("main.py", target)}


def test_one_import_of_a_value_and_a_submodule_reaches_the_package_and_the_submodule() -> None:
    files = {"pkg/__init__.py": "VALUE = 1", "pkg/leaf.py": "", "main.py": "from pkg import VALUE, leaf"}
    assert imports(files) == {("main.py", "pkg/__init__.py"), ("main.py", "pkg/leaf.py")}


@pytest.mark.parametrize(
    ("statement", "target"),
    [
        ("from . import near", "pkg/deep/near.py"),
        ("from .near import it", "pkg/deep/near.py"),
        ("from .. import far", "pkg/far.py"),
        ("from ..far import it", "pkg/far.py"),
        ("from .. import MARK", "pkg/__init__.py"),
        ("from ... import outside_of_the_project", None),
        ("from ....... import beyond_the_root", None),
    ],
)
def test_a_relative_import_counts_from_the_package(statement: str, target: str | None) -> None:
    files = {
        "pkg/__init__.py": "MARK = 1",
        "pkg/far.py": "it = 1",
        "pkg/deep/__init__.py": "",
        "pkg/deep/near.py": "it = 1",
        "pkg/deep/asks.py": statement,
    }
    assert imports(files) == ({("pkg/deep/asks.py", target)} if target else set())


def test_modules_outside_the_project_are_neither_edges_nor_unresolved() -> None:
    files = {"main.py": "import numpy as np\nfrom os.path import join\nnp.zeros(3)\njoin('a')\nprint(len('x'))"}
    assert edges_of(files, LANGUAGE) == set()
    assert unresolved_of(files, LANGUAGE) == set()


def test_a_module_inside_a_package_does_not_hide_the_standard_library() -> None:
    files = {
        "src/pkg/__init__.py": "",
        "src/pkg/json/__init__.py": "def dumps(x): ...",
        "src/pkg/use.py": "import json\njson.dumps(1)",
        "tools/types.py": "def f(): ...",
        "tools/run.py": "import types\ntypes.f()",
    }
    assert imports(files) == set()


def test_a_file_beside_is_a_module_by_itself_for_scripts_only() -> None:
    files = {
        "tools/run.py": "import helper",
        "tools/helper.py": "",
        "pkg/__init__.py": "",
        "pkg/part.py": "import helper\nfrom conftest import x",
        "pkg/helper.py": "",
        "pkg/conftest.py": "x = 1",
    }
    assert imports(files) == {("tools/run.py", "tools/helper.py")}


def test_src_is_a_root() -> None:
    files = {
        "src/pkg/__init__.py": "",
        "src/pkg/core.py": "def f(): ...",
        "tests/test_it.py": "from pkg.core import f\nf()",
    }
    assert imports(files) == {("tests/test_it.py", "src/pkg/core.py")}


def test_of_two_packages_with_one_name_the_nearest_around_the_importer_is_meant() -> None:
    files = {
        "app/__init__.py": "",
        "app/core.py": "",
        "examples/one/app/__init__.py": "",
        "examples/one/app/core.py": "",
        "examples/one/tests/test_app.py": "import app.core",
        "examples/two/src/app/__init__.py": "",
        "examples/two/src/app/core.py": "",
        "examples/two/run.py": "import app.core",
        "tests/test_app.py": "import app.core",
    }
    assert imports(files) == {
        ("examples/one/tests/test_app.py", "examples/one/app/core.py"),
        ("examples/two/run.py", "examples/two/src/app/core.py"),
        ("tests/test_app.py", "app/core.py"),
    }


def test_a_package_of_another_project_is_found_and_a_mere_directory_is_not() -> None:
    files = {
        "packages/a/setup.py": "",
        "packages/a/alpha/__init__.py": "",
        "packages/b/beta/use.py": "import alpha\nimport redis",
        "samples/redis/__init__.py": "",
    }
    assert imports(files) == {("packages/b/beta/use.py", "packages/a/alpha/__init__.py")}


def test_a_namespace_package_needs_no_init() -> None:
    files = {
        "space/part/mod.py": "def f(): ...",
        "main.py": "import space.part.mod\nfrom space.part import mod\nspace.part.mod.f()\n\ndef g():\n    mod.f()",
    }
    assert imports(files) == {("main.py", "space/part/mod.py")}
    assert calls(files) == {("main.py", "space/part/mod.py::f"), ("main.py::g", "space/part/mod.py::f")}


def test_a_stub_is_used_only_without_a_source() -> None:
    files = {"a.py": "def f(): ...", "a.pyi": "def f() -> None: ...", "c.pyi": "", "main.py": "import a\nimport c"}
    assert imports(files) == {("main.py", "a.py"), ("main.py", "c.pyi")}


def test_a_stub_declares_names_created_at_run_time() -> None:
    files = {
        "context.py": "globals().update(made())",
        "context.pyi": "from lib import Config\nconfig: Config",
        "lib.py": "class Config:\n    def get(self): ...",
        "main.py": "import context\ncontext.config.get()",
    }
    assert ("main.py", "lib.py::Config.get") in calls(files)


@pytest.mark.parametrize(
    "use",
    [
        "from pkg import make\nmake()",
        "from pkg import make as build\nbuild()",
        "import pkg\npkg.make()",
        "import pkg as p\np.make()",
        "import pkg.inner.work as w\nw.make()",
        "import pkg.inner.work\npkg.inner.work.make()",
        "from pkg.inner import work\nwork.make()",
        "from pkg import *\nmake()",
        "from chain import make\nmake()",
        "from chain import again\nagain()",
    ],
)
def test_a_call_reaches_the_definition_through_every_kind_of_import(use: str) -> None:
    files = {
        "pkg/__init__.py": "from .inner.work import make as make",
        "pkg/inner/__init__.py": "",
        "pkg/inner/work.py": "def make(): ...",
        "chain.py": "from pkg import *\nfrom pkg.inner.work import make as again",
        "main.py": use,
    }
    assert calls(files) == {("main.py", "pkg/inner/work.py::make")}


def test_a_star_import_takes_all_else_public_names() -> None:
    files = {
        "listed.py": "__all__ = ['_hidden']\ndef _hidden(): ...\ndef shown(): ...",
        "unlisted.py": "def open_(): ...\ndef _closed(): ...",
        "main.py": "from listed import *\nfrom unlisted import *\n_hidden()\nshown()\nopen_()\n_closed()",
    }
    assert calls(files) == {("main.py", "listed.py::_hidden"), ("main.py", "unlisted.py::open_")}
    assert unresolved_of(files, LANGUAGE) == {("main.py", "shown"), ("main.py", "_closed")}


@pytest.mark.parametrize(
    ("written", "reached"),
    [
        ("__all__ = ['f']\n__all__ += ['_g']", {"f", "_g"}),
        ("__all__ = ('f',)\n__all__.extend(['_g'])", {"f", "_g"}),
        ("__all__ = ['f'] + other.__all__", {"f", "h"}),
        ("__all__ = ['f']\n__all__ += other.__all__", {"f", "h"}),
    ],
)
def test_all_may_be_extended(written: str, reached: set[str]) -> None:
    files = {
        "lib.py": f"import other\n{written}\ndef f(): ...\ndef _g(): ...\ndef h(): ...",
        "main.py": "from lib import *\nf()\n_g()\nh()",
    }
    assert calls(files) == {("main.py", f"lib.py::{name}") for name in reached}


def test_both_sides_of_a_conditional_import_are_reached() -> None:
    files = {
        "fast.py": "def work(): ...",
        "slow.py": "def work(): ...",
        "main.py": "try:\n    from fast import work\nexcept ImportError:\n    from slow import work\n\n"
        "def run():\n    work()",
    }
    assert calls(files) == {("main.py::run", "fast.py::work"), ("main.py::run", "slow.py::work")}


def test_cyclic_imports_terminate() -> None:
    files = {
        "a.py": "from b import x\nfrom b import *\nx()",
        "b.py": "from a import x\nfrom a import *\nx()",
        "c/__init__.py": "from . import d\nfrom .d import d as d",
        "c/d.py": "from c import d",
    }
    assert calls(files) == set()


def test_a_package_exports_its_imports() -> None:
    files = {
        "pkg/__init__.py": "from .inner import Shown\nfrom .inner import _hidden\ndef own(): ...",
        "pkg/inner.py": "class Shown: ...\ndef _hidden(): ...",
        "listed.py": "from pkg import Shown\n__all__ = ['Shown', 'LIMIT']\nLIMIT = 3\ndef f(): ...",
    }
    assert {(origin, target) for origin, kind, target in edges_of(files, LANGUAGE) if kind == "exports"} == {
        ("pkg/__init__.py", "pkg/inner.py::Shown"),
        ("pkg/__init__.py", "pkg/__init__.py::own"),
        ("pkg/inner.py", "pkg/inner.py::Shown"),
        ("listed.py", "pkg/inner.py::Shown"),
        ("listed.py", "listed.py::LIMIT"),
    }


def test_a_console_script_is_an_entry_point() -> None:
    files = {
        "pyproject.toml": "[project.scripts]\ntool = 'pkg.cli:main'\nlost = 'pkg.cli:gone'",
        "src/pkg/__init__.py": "",
        "src/pkg/cli.py": "def main(): ...",
    }
    assert ("pyproject.toml", "is_entrypoint_for", "src/pkg/cli.py::main") in edges_of(files, LANGUAGE)
    assert unresolved_of(files, LANGUAGE) == {("pyproject.toml", "pkg.cli:gone")}


@pytest.mark.parametrize("broken", [b"[project", b"\xff\xfe", b"project = 3", b"[project]\nscripts = 4"])
def test_a_broken_manifest_affects_nothing_else(broken: bytes) -> None:
    files: dict[str, str | bytes] = {"pyproject.toml": broken, "main.py": "def f(): ...\nf()"}
    assert ("main.py", "calls", "main.py::f") in edges_of(files, LANGUAGE)
