"""The gitignore rules that apply to a project: of the repository, of the clone and of the user."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from tests.code_projects import written
from treering.code.files.discovery import discover
from treering.code.files.ignore_rule import compile_rule
from treering.code.files.ignore_rules import load_rule_file
from treering.code.files.outer_ignore_rules import GitHome, git_home, load_outer_rules
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
def test_an_explicit_root_is_read_even_if_the_repository_ignores_it(tmp_path: Path, rule: str) -> None:
    written(tmp_path, {".git/HEAD": "", ".gitignore": rule, "project/a.py": ""})
    assert found(tmp_path / "project") == ([] if rule.startswith("*.py") else ["a.py"])


def test_rules_outside_a_repository_do_not_apply(tmp_path: Path) -> None:
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
def test_a_git_file_without_a_repository_is_ignored(tmp_path: Path, said: str) -> None:
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
def test_the_users_global_ignore_file_applies(tmp_path: Path, files: dict[str, str]) -> None:
    home = at_home(tmp_path / "home", files)
    root = written(tmp_path / "project", {".git/HEAD": "", "mine.py": "", "a.py": ""})
    assert found(root, home) == ["a.py"]
    assert found(root) == ["a.py", "mine.py"]


@pytest.mark.parametrize(
    "configuration", ["[core]\nexcludesfile =\n", '[core "x"]\nexcludesfile = ~/own\n', "excludesfile = ~/own\n", "[co"]
)
def test_a_configuration_without_an_excludes_file_changes_nothing(tmp_path: Path, configuration: str) -> None:
    home = at_home(tmp_path / "home", {".gitconfig": configuration, "own": "a.py\n", ".config/git/ignore": "mine.py\n"})
    assert found(written(tmp_path / "project", {".git/HEAD": "", "mine.py": "", "a.py": ""}), home) == ["a.py"]


def test_repository_rules_take_precedence_over_user_rules(tmp_path: Path) -> None:
    home = at_home(tmp_path / "home", {".config/git/ignore": "*.gen.py\n", "other": "a.py\n"})
    root = written(
        tmp_path / "project", {".git/HEAD": "", ".gitignore": "!x.gen.py\n", "x.gen.py": "", "y.gen.py": "", "a.py": ""}
    )
    assert found(root, home) == ["a.py", "x.gen.py"]
    written(root, {".git/config": f"[core]\nexcludesfile = {tmp_path / 'home' / 'other'}\n"})
    assert found(root, home) == ["x.gen.py", "y.gen.py"]


def test_a_user_but_not_a_project_may_link_the_rule_file(tmp_path: Path) -> None:
    home = at_home(tmp_path / "home", {"dotfiles/ignore": "mine.py\n"})
    (tmp_path / "home" / ".config" / "git").mkdir(parents=True)
    (tmp_path / "home" / ".config" / "git" / "ignore").symlink_to(tmp_path / "home" / "dotfiles" / "ignore")
    root = written(tmp_path / "project", {".git/HEAD": "", "mine.py": "", "a.py": ""})
    assert found(root, home) == ["a.py"]
    written(tmp_path, {"outside": "a.py\n"})
    (root / ".gitignore").symlink_to(tmp_path / "outside")
    assert found(root, home) == ["a.py"]


def test_only_git_files_are_read_outside_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_rules_with_the_same_content_are_equal(tmp_path: Path) -> None:
    root = written(tmp_path / "app", {"a.py": ""})
    written(tmp_path, {".git/info/exclude": "x\n", ".gitignore": "y\n"})
    before = load_outer_rules(root, None)
    assert before is not None
    assert load_outer_rules(root, None) == before
    written(tmp_path, {".gitignore": "z\n"})
    assert load_outer_rules(root, None) != before


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
def test_the_combined_expression_does_not_change_results(lines: list[str], paths: list[str], folder: bool) -> None:
    with tempfile.TemporaryDirectory() as place:
        rules = load_rule_file(written(Path(place), {".gitignore": "\n".join([*lines, "never"])}) / ".gitignore")
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
def test_a_linear_rule_matches_like_the_backtracking_one(lines: list[str], paths: list[str], folder: bool) -> None:
    slowly = GitIgnoreSpec.from_lines(line for line in lines if _is_understood(line))
    quickly = GitIgnoreSpec.from_lines((line for line in lines if _is_understood(line)), compile_rule)
    for path in (f"{path}/" if folder else path for path in paths):
        assert quickly.check_file(path).include == slowly.check_file(path).include


def _is_understood(line: str) -> bool:
    try:
        compile_rule(line)
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
def test_no_rule_takes_exponential_time(tmp_path: Path, line: str, path: str) -> None:
    rules = load_rule_file(written(tmp_path, {".gitignore": f"{line}\n"}) / ".gitignore")
    assert rules is not None
    assert rules.decide(f"{path}.py") is None
    assert rules.decide(f"{path}b" if "/" not in path else f"{path[:-1]}b") is True


def test_invalid_rules_are_skipped(tmp_path: Path) -> None:
    lines = ("[z-a].py", "[", "a\\", "!", "x" * 5_000, "[[&&||~~].py", "good.py")
    root = written(tmp_path, {".git/HEAD": "", ".gitignore": "\n".join(lines), "good.py": "", "a.py": "", "&.py": ""})
    assert found(root) == ["a.py"]


def test_character_classes_do_not_match_a_slash(tmp_path: Path) -> None:
    root = written(tmp_path, {".git/HEAD": "", ".gitignore": "a[!b]c.py\nx[+-9]y.py\n"})
    written(root, {f"{name}.py": "" for name in ("a/c", "aac", "abc", "x/y", "x5y")})
    assert found(root) == ["a/c.py", "abc.py", "x/y.py"]


def test_an_environment_without_home_has_no_user_rules() -> None:
    assert git_home({}) is None


def test_the_environment_may_name_the_configuration(tmp_path: Path) -> None:
    named = written(tmp_path, {"config": f"[core]\nexcludesfile = {tmp_path}/own\n", "own": "mine.py\n"}) / "config"
    home = git_home({"HOME": str(tmp_path / "home"), "GIT_CONFIG_GLOBAL": str(named)})
    assert found(written(tmp_path / "project", {".git/HEAD": "", "mine.py": ""}), home) == []
