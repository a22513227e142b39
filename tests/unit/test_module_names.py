"""Modules are called what people would call them, and no two the same."""

from treering.code.graph.module_names import ModuleFiles, beginning_of, names_of


def named(*paths: str, central: str | None = None) -> ModuleFiles:
    ranks = {path: 20.0 if path == central else 1.0 for path in paths}
    return ModuleFiles(central or paths[0], ranks)


def test_a_module_is_called_by_the_folder_of_most_of_it() -> None:
    module = named("shop/cart/a.py", "shop/cart/b.py", "shop/pay/c.py")
    assert names_of([module], "") == ["shop/cart"]
    assert names_of([module], "shop/") == ["cart"]


def test_what_is_tested_names_a_module_and_not_its_tests() -> None:
    module = named("shop/auth/token.py", "tests/auth_tests/test_a.py", "tests/auth_tests/test_b.py")
    assert names_of([module], "shop/") == ["auth"]


def test_what_others_build_on_names_a_module_and_not_its_many_users() -> None:
    module = named("core/app.py", "core/run.py", "docs/a.py", "docs/b.py", "docs/c.py", central="core/app.py")
    assert names_of([module], "") == ["core"]
    assert names_of([named("core/app.py", "docs/a.py")], "") == ["core + docs"]


def test_a_module_of_files_that_stand_in_no_part_is_called_by_what_they_all_stand_in() -> None:
    assert names_of([named("src/app.py", "src/run.py", "src/jobs/a.py")], "src/") == ["src"]
    assert names_of([named("setup.py", "tasks.py")], "") == ["(root)"]


def test_modules_of_one_folder_are_told_apart_by_their_central_files_as_briefly_as_possible() -> None:
    two = [named("a/x.py", "a/y.py"), named("a/z.py", "a/w.py"), named("b/x.py")]
    assert names_of(two, "") == ["a · x", "a · z", "b"]
    same = [named("a/one/models.py", "a/two/x.py"), named("a/three/models.py", "a/four/x.py")]
    assert names_of(same, "") == ["a · one/models.py", "a · three/models.py"]
    deep = [named("a/one/k/models.py", "a/two/x.py"), named("a/three/k/models.py", "a/four/x.py")]
    assert len(set(names_of(deep, ""))) == 2


def test_the_folder_that_most_is_below_is_no_folder_of_tests() -> None:
    sources = {f"shop/part{number}/a.py": 1.0 for number in range(3)}
    tests = {f"tests/test_{number}.py": 1.0 for number in range(6)}
    assert beginning_of({**sources, **tests}) == "shop/"
    assert beginning_of(tests) == "tests/"
    assert beginning_of({"a.py": 1.0}) == ""
