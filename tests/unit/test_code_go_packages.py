"""Go packages, modules and builds: the files of imports and package names."""

import pytest

from tests.resolver_projects import edges_of, facts_of, resolve_all
from treering.code.languages.go import LANGUAGE

MOD = "module example.com/app\n\ngo 1.25\n"


def calls_of(files: dict[str, str]) -> set[tuple[str, str]]:
    found = edges_of({"go.mod": MOD} | files, LANGUAGE)
    return {(origin, target) for origin, kind, target in found if kind == "calls"}


def imports_of(files: dict[str, str]) -> set[tuple[str, str]]:
    found = edges_of({"go.mod": MOD} | files, LANGUAGE)
    return {(origin, target) for origin, kind, target in found if kind == "imports"}


def test_another_build_counts_only_if_it_declares_the_same_kind_of_thing() -> None:
    files = {
        "a.go": "package p\nfunc A(t T) { open(); t.Do() }",
        "b_linux.go": "package p\nfunc open() {}\ntype T interface { Do() }",
        "b_windows.go": "package p\nvar open = func() {}\ntype T struct{}",
    }
    assert calls_of(files) == {("a.go::A", "b_linux.go::open"), ("a.go::A", "b_linux.go::T.Do")}


def test_imports_reach_the_files_of_a_package_without_its_tests() -> None:
    files = {
        "main.go": 'package main\nimport (\n_ "example.com/app/lib"\n"example.com/app/none"\n"fmt"\n)',
        "lib/a.go": "package lib",
        "lib/b.go": "package lib",
        "lib/a_test.go": "package lib",
        "lib/x_test.go": 'package lib_test\nimport "example.com/app/lib"',
        "lib/gen.go": "//go:build ignore\n\npackage main",
    }
    assert imports_of(files) == {
        ("main.go", "lib/a.go"),
        ("main.go", "lib/b.go"),
        ("lib/x_test.go", "lib/a.go"),
        ("lib/x_test.go", "lib/b.go"),
    }


def test_tests_outside_a_package_see_what_its_inner_tests_export() -> None:
    files = {
        "lib/lib.go": "package lib\nfunc hidden() {}",
        "lib/export_test.go": "package lib\nfunc Shown() { hidden() }",
        "lib/lib_test.go": 'package lib_test\nimport "example.com/app/lib"\nfunc TestX() { lib.Shown(); hidden() }',
        "lib/more_test.go": "package lib_test\nfunc hidden() {}",
    }
    assert calls_of(files) == {
        ("lib/export_test.go::Shown", "lib/lib.go::hidden"),
        ("lib/lib_test.go::TestX", "lib/export_test.go::Shown"),
        ("lib/lib_test.go::TestX", "lib/more_test.go::hidden"),
    }


def test_of_several_builds_linux_amd64_has_the_highest_confidence() -> None:
    files = {
        "main.go": "package main\nfunc main() { open() }",
        "open_linux.go": "package main\nfunc open() {}",
        "open_windows.go": "package main\nfunc open() {}",
        "use_windows.go": "package main\nfunc use() { open() }",
        "go.mod": MOD,
    }
    resolved = resolve_all(facts_of(files, LANGUAGE), LANGUAGE)
    sure = {
        (e.origin, e.target) for r in resolved.values() for e in r.edges if e.kind == "calls" and e.confidence > 0.5
    }
    assert sure == {("main.go::main", "open_linux.go::open"), ("use_windows.go::use", "open_windows.go::open")}
    assert ("main.go::main", "open_windows.go::open") in calls_of(files)


@pytest.mark.parametrize(
    "manifests",
    [
        {"tools/go.mod": "module example.com/tools\n"},
        {"tools/go.mod": "module other.org/x\n", "go.mod": f"{MOD}replace example.com/tools v1.0.0 => ./tools\n"},
        {"tools/go.mod": "module other.org/x\n", "go.work": "go 1.25\nreplace example.com/tools => ./tools\n"},
        {
            "tools/go.mod": "module example.com/tools\n",
            "copy/go.mod": "module example.com/tools\n",
            "copy/gen/gen.go": "package gen\nfunc Gen() {}",
            "go.work": "use (\n\t.\n\t./tools // the one\n)\n",
        },
    ],
)
def test_modules_replacements_and_workspaces_resolve_to_directories(manifests: dict[str, str]) -> None:
    files = {
        "go.mod": MOD,
        "main.go": 'package main\nimport "example.com/tools/gen"\nfunc main() { gen.Gen() }',
        "tools/gen/gen.go": "package gen\nfunc Gen() {}",
    } | manifests
    assert calls_of(files) == {("main.go::main", "tools/gen/gen.go::Gen")}


def test_a_nested_module_is_not_part_of_the_one_around_it() -> None:
    files = {
        "main.go": 'package main\nimport "example.com/app/sub"\nfunc main() { sub.F() }',
        "sub/go.mod": "module example.com/app/sub\n",
        "sub/sub.go": 'package sub\nimport "example.com/app/sub/inner"\nfunc F() { inner.G() }',
        "sub/inner/inner.go": "package inner\nfunc G() {}",
    }
    assert calls_of(files) == {("main.go::main", "sub/sub.go::F"), ("sub/sub.go::F", "sub/inner/inner.go::G")}
