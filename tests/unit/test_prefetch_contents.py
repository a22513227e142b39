"""Contents of prefetched files: only files of the project, without secrets, within the budget."""

import os
from pathlib import Path

import pytest

from treering.context.prefetch import checkout as checkouts
from treering.context.prefetch.checkout import Checkout, may_hold_credentials
from treering.context.prefetch.contents import with_contents
from treering.context.prefetch.ranking import PrefetchedFile
from treering.core.tokens import estimate_tokens

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "src" / "plan.py").write_text("berths = 12\n")
    return folder


def checkout_of(root: Path) -> Checkout:
    found = Checkout.at(root, lambda: None)
    assert found is not None
    return found


def filled(root: Path, *paths: str, budget: int = 32_000) -> list[PrefetchedFile]:
    files = [PrefetchedFile(path, 0.5, "edited in the last session") for path in paths]
    return list(with_contents(files, checkout_of(root), budget))


def test_whole_file(root: Path) -> None:
    [file] = filled(root, "src/plan.py")
    assert file.content == "berths = 12\n"
    assert file.tokens == estimate_tokens("berths = 12\n")
    assert not file.truncated
    assert not file.omitted


def test_long_file_is_cut_after_a_line_and_says_so(root: Path) -> None:
    (root / "src" / "long.py").write_text("".join(f"line_{number} = {number}\n" for number in range(5_000)))
    [file] = filled(root, "src/long.py", budget=2_000)
    assert file.truncated
    assert file.content is not None
    *lines, mark = file.content.split("\n")
    assert lines[-1] == f"line_{len(lines) - 1} = {len(lines) - 1}"
    assert mark == f"[… {len(lines)} of 5,000 lines shown]"
    assert 500 < file.tokens <= 1_000, "one file takes at most half of the budget"


def test_budget_holds_for_all_files_together(root: Path) -> None:
    for name in "abcdef":
        (root / f"{name}.py").write_text("".join(f"line_{number} = {number}\n" for number in range(300)))
    files = filled(root, *(f"{name}.py" for name in "abcdef"), budget=6_000)
    assert sum(file.tokens for file in files) <= 6_000
    assert files[0].content is not None
    assert files[-1].omitted == "no room left in the budget"
    assert all(file.content is None or estimate_tokens(file.content) == file.tokens for file in files)


def test_link_out_of_the_project_is_neither_offered_nor_read(root: Path) -> None:
    (root.parent / "outside.py").write_text("private = 1\n")
    (root / "link.py").symlink_to(root.parent / "outside.py")
    (root.parent / "folder").mkdir()
    (root.parent / "folder" / "deep.py").write_text("private = 2\n")
    (root / "vendor").symlink_to(root.parent / "folder")
    assert [file.omitted for file in filled(root, "link.py", "vendor/deep.py")] == ["outside the project"] * 2
    assert checkout_of(root).refusal("link.py") == "outside the project"


def test_root_with_a_similar_name_is_outside(root: Path) -> None:
    other = root.parent / "project2"
    other.mkdir()
    (other / "x.py").write_text("private = 3\n")
    (root / "x.py").symlink_to(other / "x.py")
    assert checkout_of(root).refusal("x.py") == "outside the project"


def test_link_inside_the_project_is_read(root: Path) -> None:
    (root / "alias.py").symlink_to(root / "src" / "plan.py")
    [file] = filled(root, "alias.py")
    assert file.content == "berths = 12\n"


def test_link_to_an_ignored_or_secret_file_is_refused(root: Path) -> None:
    (root / ".gitignore").write_text("local/\n")
    (root / "local").mkdir()
    (root / "local" / "notes.md").write_text("mine\n")
    (root / ".env").write_text("A=1\n")
    (root / "notes.md").symlink_to(root / "local" / "notes.md")
    (root / "plain.txt").symlink_to(root / ".env")
    refusals = [checkout_of(root).refusal(path) for path in ("notes.md", "plain.txt")]
    assert refusals == ["ignored by git", "may hold credentials"]


def test_ignored_files_are_refused(root: Path) -> None:
    (root / ".gitignore").write_text("*.log\nbuild/\n")
    (root / "src" / ".gitignore").write_text("/own.py\n!keep.log\n")
    (root / "build").mkdir()
    for path in ("build/out.py", "a.log", "src/own.py", "src/keep.log"):
        (root / path).write_text("x\n")
    paths = ("build/out.py", "a.log", "src/own.py", "src/keep.log", "src/plan.py")
    ignored = "ignored by git"
    assert [checkout_of(root).refusal(path) for path in paths] == [ignored, ignored, ignored, "", ""]


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "app/.env.production",
        ".envrc",
        "deploy/prod.env",
        "certs/server.pem",
        "certs/server.key",
        "id_rsa",
        "keys/id_ed25519.pub",
        ".aws/credentials",
        "config/credentials.json",
        "config/Secrets.yaml",
        "k8s/db-secret.yaml",
        ".npmrc",
        ".netrc",
        "terraform.tfstate",
        "service-account-prod.json",
        ".git/config",
        "release.keystore",
    ],
)
def test_names_of_credentials(path: str) -> None:
    assert may_hold_credentials(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        "src/secrets.py",
        "docs/secrets.md",
        "src/credentials/store.go",
        "environment.ts",
        "src/keys.ts",
        "monkey.py",
        "tokens.json",
        "credentials_test.go",
        ".github/workflows/ci.yml",
    ],
)
def test_names_of_ordinary_files(path: str) -> None:
    assert not may_hold_credentials(path)


def test_secrets_in_contents_are_redacted(root: Path) -> None:
    (root / "src" / "client.py").write_text(f'token = "{TOKEN}"\nretries = 3\n')
    [file] = filled(root, "src/client.py")
    assert file.content is not None
    assert TOKEN not in file.content
    assert "[redacted:" in file.content
    assert "retries = 3" in file.content


def test_binary_huge_deleted_and_special_files_have_a_reason(root: Path) -> None:
    (root / "image.bin").write_bytes(b"\x89PNG\0\0")
    (root / "data.sql").write_text("x" * (checkouts.MAX_BYTES + 1))
    (root / "folder").mkdir()
    (root / "broken.py").symlink_to(root / "nowhere.py")
    os.mkfifo(root / "pipe")
    paths = ("image.bin", "data.sql", "gone.py", "folder", "broken.py", "pipe")
    reasons = [file.omitted for file in filled(root, *paths)]
    assert reasons == ["binary", "too large", "deleted", "not a regular file", "deleted", "not a regular file"]


@pytest.mark.parametrize("descends", [True, False], ids=["relative opening", "without it"])
@pytest.mark.parametrize("replaced", ["src/plan.py", "src"])
def test_link_that_replaces_a_file_or_folder_after_the_check_is_not_followed(
    root: Path, replaced: str, descends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkouts, "_CAN_DESCEND", descends)
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "plan.py").write_text("private = 4\n")
    checkout = checkout_of(root)
    assert checkout.read("src/plan.py") == "berths = 12\n"
    resolve = Checkout._resolved

    def resolved_before_the_change(self: Checkout, path: str) -> str:
        found = resolve(self, path)
        (root / replaced).rename(root / "moved")
        (root / replaced).symlink_to(outside / "plan.py" if replaced.endswith(".py") else outside)
        return found

    monkeypatch.setattr(Checkout, "_resolved", resolved_before_the_change)
    [file] = with_contents([PrefetchedFile("src/plan.py", 0.5, "")], checkout, 1_000)
    assert file.content is None
    assert file.omitted in ("cannot be read", "outside the project")


def test_no_folder_on_this_machine(tmp_path: Path) -> None:
    assert Checkout.at(tmp_path / "nowhere", lambda: None) is None
    [file] = with_contents([PrefetchedFile("a.py", 0.5, "")], None, 1_000)
    assert file.omitted == "the project's folder is not on this machine"
