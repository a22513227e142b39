"""Dependencies of Go code on constants and variables of packages."""

from tests.resolver_projects import edges_of
from treering.code.languages.go import LANGUAGE

STORE = """package store

const Max = 3

var Shared, hidden = 1, 2

type Box struct{ Max int }

func Own() int { return Max + hidden }

func Local() int {
	Max := 4
	return Max
}

func Field(b Box) Box { b.Max = 1; return Box{Max: 2} }

func Parameter(Max int) int { return Max }

func Run() {}
"""
MAIN = """package main

import (
	"math"

	kept "example.com/app/store"
)

var Twice = 2 * kept.Max

func main() {
	kept.Run()
	print(kept.Shared, kept.Max, math.MaxInt8, Twice)
}

func shadowed(kept Other) int { return kept.Max }
"""
FILES = {"go.mod": "module example.com/app\n", "store/store.go": STORE, "main.go": MAIN}


def dependences(files: dict[str, str]) -> set[tuple[str, str]]:
    return {(origin, target) for origin, kind, target in edges_of(files, LANGUAGE) if kind == "depends_logically"}


def test_reading_an_exported_constant_or_variable_depends_on_it() -> None:
    assert dependences(FILES) == {
        ("store/store.go::Own", "store/store.go::Max"),
        ("store/store.go::Own", "store/store.go::hidden"),
        ("main.go::Twice", "store/store.go::Max"),
        ("main.go::main", "store/store.go::Max"),
        ("main.go::main", "store/store.go::Shared"),
        ("main.go::main", "main.go::Twice"),
    }


def test_a_constant_may_be_in_another_file_of_the_package() -> None:
    beside = "package store\n\nfunc Beside() int { return Shared }\n"
    assert ("store/beside.go::Beside", "store/store.go::Shared") in dependences(FILES | {"store/beside.go": beside})
