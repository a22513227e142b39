"""Files of tests that a change reaches: the likely ones first, those far behind left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treering.code.graph.ranked_tests import namesake_test_files, ranked_test_files

NODE = "shop/tokens.py::decode"
STEPS = st.tuples(
    st.sampled_from(("a_test.py::test_a", "a_test.py::test_b", "a_test.py", "b_test.py::test_c", "c_test.py")),
    st.integers(1, 9),
    st.floats(0.001, 1.0),
)


def ranked(*tests: tuple[str, int, float], node: str = NODE) -> list[str]:
    return [file.path for file in ranked_test_files(node, tests)]


def test_the_best_score_comes_first() -> None:
    assert ranked(("b_test.py::test_x", 2, 0.3), ("a_test.py::test_x", 1, 0.8)) == ["a_test.py", "b_test.py"]


def test_a_file_whose_name_shares_a_word_with_the_node_comes_before_a_nearer_one() -> None:
    assert ranked(("a_test.py::test_x", 1, 0.6), ("test_tokens.py::test_x", 2, 0.4)) == ["test_tokens.py", "a_test.py"]
    assert ranked(("a_test.py::test_x", 1, 0.6), ("test_shop.py::test_x", 2, 0.4)) == ["a_test.py", "test_shop.py"]


def test_files_far_behind_the_best_are_left_out_but_namesakes_are_kept() -> None:
    tests = [("a_test.py::test_x", 1, 0.8), ("decode_test.py::test_x", 9, 0.01)]
    assert ranked(*tests) == ["a_test.py"]
    assert [file.path for file in ranked_test_files(NODE, tests, (), ["decode_test.py"])] == [
        "a_test.py",
        "decode_test.py",
    ]


def test_tests_inside_files_of_code_do_not_exclude_files_of_tests() -> None:
    near, far = ("src/tokens.rs::tests.works", 1, 0.8), ("src/far.rs::tests.works", 9, 0.02)
    assert ranked(near, far, ("tests/all.rs::all", 9, 0.02), node="src/tokens.rs::decode") == [
        "src/tokens.rs",
        "tests/all.rs",
    ]


def test_files_that_changed_together_with_the_file_come_first_and_exclude_no_other() -> None:
    tests = [(f"{name}_test.py::test_x", 2, 0.3) for name in "abc"]
    tests.append(("far_test.py::test_x", 9, 0.06))
    assert ranked(*tests) == ["a_test.py", "b_test.py", "c_test.py"]
    together = {"c_test.py": 0.5, "far_test.py": 0.1, "other_test.py": 1.0}
    found = [file.path for file in ranked_test_files(NODE, tests, together=together)]
    assert found == ["c_test.py", "a_test.py", "b_test.py", "far_test.py"]


def test_files_of_tests_that_import_the_file_are_added_if_they_are_named_alike() -> None:
    importers = ["tests/test_tokens.py", "tests/test_other.py", "shop/token_decode.py"]
    (file,) = ranked_test_files(NODE, [], importers)
    assert (file.path, file.tests, file.depth) == ("tests/test_tokens.py", 0, 0)
    reaching = ("tests/test_tokens.py::test_x", 1, 0.8)
    assert ranked_test_files(NODE, [reaching], importers) == ranked_test_files(NODE, [reaching])


def test_tests_and_the_nearest_step_are_counted_for_each_file() -> None:
    (file,) = ranked_test_files(
        NODE, [("a_test.py", 3, 0.2), ("a_test.py::test_x", 2, 0.4), ("a_test.py::test_y", 4, 0.1)]
    )
    assert (file.tests, file.depth) == (2, 2)


@given(st.lists(STEPS))
def test_the_order_of_the_tests_does_not_matter_and_the_best_file_is_kept(tests: list[tuple[str, int, float]]) -> None:
    files = ranked_test_files(NODE, tests)
    assert files == ranked_test_files(NODE, tests[::-1])
    assert bool(files) is bool(tests)
    assert [file.score for file in files] == sorted((file.score for file in files), reverse=True)


@pytest.mark.parametrize(
    ("node", "test"),
    [
        ("pkg/fastcgi/fastcgi.go::Transport.buildEnv", "pkg/fastcgi/fastcgi_test.go"),
        ("complete/src/shells.rs::Zsh.write", "complete/tests/suite/zsh.rs"),
        ("web/src/proxy/index.ts::create", "web/src/proxy.test.ts"),
    ],
)
def test_the_nearest_test_file_that_is_named_like_a_node_is_its_namesake(node: str, test: str) -> None:
    far = f"other/{test.rpartition('/')[2]}"
    assert namesake_test_files(node, [far, test, "pkg/fastcgi/client_test.go", "web/src/proxy.ts"]) == (test,)
    assert namesake_test_files(node, [far]) == ()


def test_a_namesake_that_does_not_reach_the_node_is_listed_first() -> None:
    found = ranked_test_files("a/log.go::parse", [("b/run_test.go::TestRun", 3, 0.5)], (), ["a/log_test.go"])
    assert [(file.path, file.tests, file.depth) for file in found] == [("a/log_test.go", 0, 0), ("b/run_test.go", 1, 3)]
