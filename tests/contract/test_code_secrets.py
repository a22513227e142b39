"""Secrets in source code never reach the stored index, on both engines."""

from pathlib import Path
from zlib import decompress

import pytest

from tests.code_projects import code_of, written
from treering.code.encoding import unpack_definitions
from treering.code.locations.chunk_texts import chunks_in
from treering.core.settings import IndexSettings
from treering.memory import Memory

SECRET = "AKIA" + "IOSFODNN7EXAMPLX"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PASSWORD = "Tr0ub4dor" + "!3x"

FILES = {
    "a.py": f"""# the key is {TOKEN}
import importlib
KEY = "{SECRET}"
TABLE = {{"{SECRET}": 1, "b": f"{SECRET}"}}
@app.route("/x/{SECRET}")
def f(a="{SECRET}", b: "{SECRET}" = 1):
    '''{TOKEN}'''
    connect("{SECRET}").execute(password="{PASSWORD}")
    boto3.client(key="{SECRET}")["{TOKEN}"].go()
    getattr(x, "{SECRET}")()
    "{SECRET}".join(x).foo()
    importlib.import_module("{SECRET}")
    fetch("https://me:{PASSWORD}@example.org/a").read()
__all__ = ["{SECRET}", "f"]
x["{SECRET}"] = f
""",
    "a.ts": f"""const KEY = "{SECRET}"; export const O = {{ key: "{SECRET}", "{SECRET}": 1, ["{SECRET}"]() {{}} }};
connect("{SECRET}").execute('{TOKEN}'); o["{SECRET}"](); `{SECRET}`.foo(); app.get("/x/{SECRET}", h);
type T = "{SECRET}" | "b"; class A {{ "{SECRET}"() {{}} k = `{TOKEN}`; }}
require("{SECRET}"); import("{SECRET}"); describe("{SECRET}", () => {{ it("{SECRET}", () => {{ f(); }}) }});
new Foo("{SECRET}").bar(); enum E {{ A = "{SECRET}" }} /* password: {PASSWORD}*/ function after() {{}}
""",
    "view.tsx": f'export const V = () => <a href="https://me:{PASSWORD}@x.org">{TOKEN}</a>;\n',
    "a.go": f"""package main
const Key = "{SECRET}"
var V = Connect("{SECRET}").Execute(`{TOKEN}`)
// {TOKEN}
func main() {{ m["{SECRET}"](); http.HandleFunc("/{SECRET}", h); Foo("{SECRET}").Bar(); t.Run("{SECRET}", g) }}
type S struct {{ A int `json:"{SECRET}"` }}
""",
    "a.rs": f"""const KEY: &str = "{SECRET}";
/// {TOKEN}
#[get("/{SECRET}")]
fn main() {{ connect("{SECRET}").execute(r#"{TOKEN}"#); m["{SECRET}"].go(); println!("{SECRET}"); foo!("{SECRET}"); }}
""",
    "package.json": f'{{"name": "a", "main": "{SECRET}", "scripts": {{"x": "K={TOKEN} y"}}, "exports": "./{TOKEN}"}}',
    "pyproject.toml": f'[project]\nname = "a"\n[project.scripts]\nx = "{SECRET}:y"\n[tool.x]\ntoken = "{TOKEN}"\n',
    "Cargo.toml": f'[package]\nname = "a"\n[dependencies]\nb= {{ git = "https://u:{PASSWORD}@h/x" }}\nc = "{SECRET}"\n',
    "go.mod": f"module a\nreplace x => ../{SECRET}\n",
    "broken.py": f'def f(:\n    connect("{SECRET}").execute("{TOKEN}\n',
}
NEEDLES = (SECRET, TOKEN, PASSWORD)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path / "project", FILES)


@pytest.mark.parametrize("many_files", [2, 1_000], ids=["crew", "one process"])
def test_no_secret_of_the_code_is_stored(memory: Memory, root: Path, many_files: int) -> None:
    done = code_of(memory, many_files=many_files).index(root)
    assert done.read == len(FILES)
    now = memory._parts.clock()
    assert memory.store.find_traces(memory.scope, now, NEEDLES).found == ()
    with memory.store.reading(memory.scope, now) as tx:
        files = list(tx.code.contents())
        facts = tx.code.facts([file.path for file in files])
        unresolved = tx.code.unresolved([file.path for file in files])
        symbols = [chunk.symbol.encode() for chunk in tx.chunks.every()]
    assert facts.keys() == FILES.keys()
    looked_at = [decompress(each.facts) for each in facts.values()]
    looked_at += [*unresolved.values(), *symbols]
    looked_at += [part for file in files for part in (file.definitions, file.edges)]
    assert not [needle for needle in NEEDLES for part in looked_at if needle.encode() in part]


def test_code_around_a_secret_is_understood(memory: Memory, root: Path) -> None:
    code_of(memory).index(root)
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        named = {
            f"{file.path}::{each.qualname}"
            for file in tx.code.contents()
            for each in unpack_definitions(file.definitions)
        }
    assert {"a.py::f", "a.ts::after", "a.go::main", "a.rs::main", "view.tsx::V"} <= named


def test_chunks_are_split_from_redacted_text(memory: Memory, root: Path) -> None:
    code = code_of(memory)
    code.index(root)
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        there = chunks_in(root, FILES, tx.code, IndexSettings())
        assert {chunk.digest for chunk in tx.chunks.every()} == there.keys()
    shown = [chunk.text for chunk in there.values()]
    shown += [use.text for path in FILES for use in code.unresolved(path)]
    shown += [place.text + place.symbol for place in code.where("where is the connection executed?", limit=50)]
    assert len(shown) > len(FILES)
    assert not [needle for needle in NEEDLES for text in shown if needle in text]


def test_a_file_is_the_same_until_its_secret_changes(memory: Memory, root: Path) -> None:
    """Digests are computed from the files, not from the redacted text."""
    code_of(memory).index(root)
    written(root, {"a.py": FILES["a.py"].replace(SECRET, SECRET[:-1] + "Y")})
    assert code_of(memory).index(root).read == 1
    assert code_of(memory).index(root).read == 0


def test_a_name_that_looks_like_a_secret_is_not_shown(memory: Memory, tmp_path: Path) -> None:
    code = code_of(memory)
    code.index(written(tmp_path / "named", {"a.py": f"{SECRET}.go()\n"}))
    assert [use.text for use in code.unresolved("a.py")] == ["[redacted:aws_access_key].go"]
