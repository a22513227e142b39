"""Which rules of git hold in a project: those of the repository around it, of this clone, and of whoever uses git."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from tests.code_projects import written
from treering.code.files.discovery import discover
from treering.code.files.ignore_rule import rule
from treering.code.files.ignore_rules import rules_of
from treering.code.files.outer_ignore_rules import GitHome, git_home, rules_around
from treering.core.settings import IndexSettings


def found(root: Path, home: GitHome | None = None) -> list[str]:
    return [file.path for file in discover(root.resolve(), IndexSettings(), home=home).found]


def at_home(folder: Path, files: dict[str, str]) -> GitHome:
    home = git_home({"HOME": str(written(folder, files))})
    assert home is not None
    return home


def test_a_folder_of_a_repository_obeys_the_rules_above_it(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            ".git/info/exclude": "private.py\n/apps/shop/here.py\n",
            ".gitignore": "gen/\n/apps/shop/top.py\n",
            "apps/.gitignore": "/shop/middle.py\n!kept.py\n",
            "apps/shop/.gitignore": "!own.py\n",
        },
    )
    names = ("private", "here", "top", "middle", "kept", "own", "gen/g", "sub/top", "sub/gen/g", "a")
    root = written(tmp_path / "apps" / "shop", {f"{name}.py": "" for name in names})
    assert found(root) == ["a.py", "kept.py", "own.py", "sub/top.py"]


def test_the_rules_of_a_folder_are_the_same_from_above_and_from_inside(tmp_path: Path) -> None:
    written(tmp_path, {".git/HEAD": "", ".gitignore": "*.gen.py\n/app/x.py\n!app/y.gen.py\nlogs/\n"})
    written(tmp_path / "app", {f"{name}.py": "" for name in ("x", "y.gen", "z.gen", "logs/a", "sub/x", "b")})
    assert [f"app/{path}" for path in found(tmp_path / "app")] == found(tmp_path)


@pytest.mark.parametrize("rule", ["*\n", "project/\n", "*.py\n!/keep\n"])
def test_a_folder_that_is_named_is_read_though_a_repository_around_it_ignores_it(tmp_path: Path, rule: str) -> None:
    written(tmp_path, {".git/HEAD": "", ".gitignore": rule, "project/a.py": ""})
    assert found(tmp_path / "project") == ([] if rule.startswith("*.py") else ["a.py"])


def test_rules_outside_of_a_repository_hold_nowhere_else(tmp_path: Path) -> None:
    written(tmp_path, {".gitignore": "*.py\n", "project/a.py": ""})
    assert found(tmp_path / "project") == ["a.py"]


def test_a_worktree_obeys_what_the_clone_ignores(tmp_path: Path) -> None:
    written(
        tmp_path / "clone",
        {".git/info/exclude": "private.py\n", ".git/worktrees/one/commondir": "../..\n", ".git/worktrees/one/HEAD": ""},
    )
    tree = written(tmp_path / "tree", {"private.py": "", "a.py": ""})
    (tree / ".git").write_text(f"gitdir: {tmp_path / 'clone' / '.git' / 'worktrees' / 'one'}\n")
    assert found(tree) == ["a.py"]


def test_a_submodule_has_rules_of_its_own(tmp_path: Path) -> None:
    written(tmp_path, {".gitignore": "a.py\n", ".git/modules/sub/info/exclude": "b.py\n"})
    root = written(tmp_path / "sub", {".git": "gitdir: ../.git/modules/sub\n", "a.py": "", "b.py": ""})
    assert found(root) == ["a.py"]


@pytest.mark.parametrize("said", ["", "gitdir:", "gitdir: /nowhere/at/all\n", "nonsense", "gitdir: \0\n"])
def test_a_file_that_leads_to_no_repository_costs_nothing(tmp_path: Path, said: str) -> None:
    assert found(written(tmp_path, {".git": said, "a.py": ""})) == ["a.py"]


@pytest.mark.parametrize(
    "files",
    [
        {".config/git/ignore": "mine.py\n"},
        {".gitconfig": "[core]\n\texcludesFile = ~/own\n", "own": "mine.py\n"},
        {".gitconfig": '[core] excludesfile = "~/own" # here\n', "own": "mine.py\n"},
        {".config/git/config": "[CORE]\neditor = vi\nexcludesfile=~/own\n[user]\nname = x\n", "own": "mine.py\n"},
        {
            ".config/git/config": "[core]\nexcludesfile = ~/none\n",
            ".gitconfig": "[core]\nexcludesfile = ~/own\n",
            "own": "mine.py\n",
        },
    ],
)
def test_what_a_user_of_git_ignores_everywhere_is_ignored(tmp_path: Path, files: dict[str, str]) -> None:
    home = at_home(tmp_path / "home", files)
    root = written(tmp_path / "project", {".git/HEAD": "", "mine.py": "", "a.py": ""})
    assert found(root, home) == ["a.py"]
    assert found(root) == ["a.py", "mine.py"]


@pytest.mark.parametrize(
    "configuration", ["[core]\nexcludesfile =\n", '[core "x"]\nexcludesfile = ~/own\n', "excludesfile = ~/own\n", "[co"]
)
def test_a_configuration_that_names_no_file_of_rules_changes_nothing(tmp_path: Path, configuration: str) -> None:
    home = at_home(tmp_path / "home", {".gitconfig": configuration, "own": "a.py\n", ".config/git/ignore": "mine.py\n"})
    assert found(written(tmp_path / "project", {".git/HEAD": "", "mine.py": "", "a.py": ""}), home) == ["a.py"]


def test_the_repository_decides_before_its_user(tmp_path: Path) -> None:
    home = at_home(tmp_path / "home", {".config/git/ignore": "*.gen.py\n", "other": "a.py\n"})
    root = written(
        tmp_path / "project", {".git/HEAD": "", ".gitignore": "!x.gen.py\n", "x.gen.py": "", "y.gen.py": "", "a.py": ""}
    )
    assert found(root, home) == ["a.py", "x.gen.py"]
    written(root, {".git/config": f"[core]\nexcludesfile = {tmp_path / 'home' / 'other'}\n"})
    assert found(root, home) == ["x.gen.py", "y.gen.py"]


def test_a_user_may_keep_the_rules_elsewhere_a_project_may_not(tmp_path: Path) -> None:
    home = at_home(tmp_path / "home", {"dotfiles/ignore": "mine.py\n"})
    (tmp_path / "home" / ".config" / "git").mkdir(parents=True)
    (tmp_path / "home" / ".config" / "git" / "ignore").symlink_to(tmp_path / "home" / "dotfiles" / "ignore")
    root = written(tmp_path / "project", {".git/HEAD": "", "mine.py": "", "a.py": ""})
    assert found(root, home) == ["a.py"]
    written(tmp_path, {"outside": "a.py\n"})
    (root / ".gitignore").symlink_to(tmp_path / "outside")
    assert found(root, home) == ["a.py"]


def test_nothing_but_files_of_git_is_read_outside_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = at_home(tmp_path / "home", {".config/git/ignore": "x\n", ".gitconfig": "[core]\nexcludesfile = ~/own\n"})
    root = written(tmp_path / "repository" / "app", {"a.py": ""}).resolve()
    written(tmp_path / "repository", {".git/config": "", ".gitignore": "b.py\n", "secret.py": "", "secret": ""})
    opened: list[str] = []
    read = Path.read_text

    def noted(self: Path, *arguments: object, **named: object) -> str:
        opened.append(str(self))
        return read(self, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "read_text", noted)
    listed = os.scandir

    def noted_listing(path: Path) -> object:
        opened.append(f"{path}/")
        return listed(path)

    monkeypatch.setattr(os, "scandir", noted_listing)
    assert found(root, home) == ["a.py"]
    outside = {place for place in opened if not Path(place).is_relative_to(root)}
    assert outside == {
        str(tmp_path / each) for each in ("home/.gitconfig", "repository/.git/config", "repository/.gitignore")
    }


def test_rules_are_equal_as_long_as_they_say_the_same(tmp_path: Path) -> None:
    root = written(tmp_path / "app", {"a.py": ""})
    written(tmp_path, {".git/info/exclude": "x\n", ".gitignore": "y\n"})
    before = rules_around(root, None)
    assert before is not None
    assert rules_around(root, None) == before
    written(tmp_path, {".gitignore": "z\n"})
    assert rules_around(root, None) != before


_PARTS = st.sampled_from(("a", "b", "*", "**", "?", "[ab]", ".py", "(?P<x>", "a b", "\\\\#", "ä"))
_LINES = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(("", "!", "/", "#", "!/")),
    st.lists(_PARTS, max_size=3).map("".join),
    st.sampled_from(("", "/", "/**", "/b", "/*/b")),
    st.sampled_from(("", " ")),
)
_PATHS = st.lists(st.sampled_from(("a", "b", "ab", "a.py", "(?P<x>", "ä", "#")), min_size=1, max_size=4).map("/".join)


@given(st.lists(_LINES, max_size=6), st.lists(_PATHS, min_size=1, max_size=10), st.booleans())
def test_asking_whether_any_rule_is_about_a_path_changes_no_answer(
    lines: list[str], paths: list[str], folder: bool
) -> None:
    with tempfile.TemporaryDirectory() as place:
        rules = rules_of(written(Path(place), {".gitignore": "\n".join([*lines, "never"])}) / ".gitignore")
    assert rules is not None
    for path in (f"{path}/" if folder else path for path in paths):
        assert rules.decide(path) == rules.spec.check_file(path).include


_FREELY = st.lists(
    st.sampled_from(("a", "b", "*", "**", "?", "[ab]", "[!ab/]", "/", "/**/", "\\*", "\\[", "]", ".", "|", "$")),
    min_size=1,
    max_size=9,
).map("".join)
_NAMES = st.text("ab*[.|$", min_size=1, max_size=6)


@given(
    st.lists(st.builds("{}{}".format, st.sampled_from(("", "!", "/")), _FREELY), min_size=1, max_size=3),
    st.lists(st.lists(_NAMES, min_size=1, max_size=6).map("/".join), min_size=1, max_size=10),
    st.booleans(),
)
def test_a_rule_says_what_it_says_to_those_who_try_every_way(lines: list[str], paths: list[str], folder: bool) -> None:
    slowly = GitIgnoreSpec.from_lines(line for line in lines if _is_understood(line))
    quickly = GitIgnoreSpec.from_lines((line for line in lines if _is_understood(line)), rule)
    for path in (f"{path}/" if folder else path for path in paths):
        assert quickly.check_file(path).include == slowly.check_file(path).include


def _is_understood(line: str) -> bool:
    try:
        rule(line)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("*a" * 60 + "*b", "a" * 200),
        ("*?" * 60 + "*b", "a" * 200),
        ("*[!b]" * 60 + "*b", "a" * 200),
        ("**a" * 60 + "b", "a" * 200),
        ("**/a/" * 40 + "b", "a/" * 300 + "c"),
        ("/a/**/" + "*a*a*/**/" * 30 + "b", "a/" + "aaaaaa/" * 100 + "c"),
    ],
)
def test_no_rule_takes_for_ever(tmp_path: Path, line: str, path: str) -> None:
    rules = rules_of(written(tmp_path, {".gitignore": f"{line}\n"}) / ".gitignore")
    assert rules is not None
    assert rules.decide(f"{path}.py") is None
    assert rules.decide(f"{path}b" if "/" not in path else f"{path[:-1]}b") is True


def test_rules_without_sense_are_passed_over(tmp_path: Path) -> None:
    lines = ("[z-a].py", "[", "a\\", "!", "x" * 5_000, "[[&&||~~].py", "good.py")
    root = written(tmp_path, {".git/HEAD": "", ".gitignore": "\n".join(lines), "good.py": "", "a.py": "", "&.py": ""})
    assert found(root) == ["a.py"]


def test_no_class_of_a_rule_is_a_slash(tmp_path: Path) -> None:
    root = written(tmp_path, {".git/HEAD": "", ".gitignore": "a[!b]c.py\nx[+-9]y.py\n"})
    written(root, {f"{name}.py": "" for name in ("a/c", "aac", "abc", "x/y", "x5y")})
    assert found(root) == ["a/c.py", "abc.py", "x/y.py"]


def test_nobody_at_home_has_no_rules() -> None:
    assert git_home({}) is None


def test_a_configuration_may_be_named(tmp_path: Path) -> None:
    named = written(tmp_path, {"config": f"[core]\nexcludesfile = {tmp_path}/own\n", "own": "mine.py\n"}) / "config"
    home = git_home({"HOME": str(tmp_path / "home"), "GIT_CONFIG_GLOBAL": str(named)})
    assert found(written(tmp_path / "project", {".git/HEAD": "", "mine.py": ""}), home) == []
