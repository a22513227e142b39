"""What programs do: the purpose of a command by the name of its program, subcommand, script or target."""

import re
from collections.abc import Mapping
from enum import StrEnum

from treering.observe.word_sets import word_set


class Purpose(StrEnum):
    """What a command is for."""

    TEST = "test"
    BUILD = "build"
    LINT = "lint"
    FORMAT = "format"
    TYPECHECK = "typecheck"
    INSTALL = "install"
    MIGRATE = "migrate"
    RUN = "run"
    VCS = "vcs"
    READ = "read"
    SEARCH = "search"
    LIST = "list"
    EDIT = "edit"
    NETWORK = "network"
    OTHER = "other"


P = Purpose

# Of several commands in a line, the one with the highest rank is the main one.
RANKS: Mapping[Purpose, int] = {
    P.TEST: 12,
    P.MIGRATE: 11,
    P.BUILD: 10,
    P.TYPECHECK: 9,
    P.LINT: 9,
    P.FORMAT: 8,
    P.INSTALL: 7,
    P.RUN: 6,
    P.NETWORK: 5,
    P.EDIT: 4,
    P.VCS: 3,
    P.SEARCH: 2,
    P.READ: 2,
    P.LIST: 1,
    P.OTHER: 0,
}


def _named(**names: str) -> dict[str, Purpose]:
    return {name: Purpose(purpose) for purpose, listed in names.items() for name in listed.split()}


PROGRAMS: Mapping[str, Purpose] = _named(
    test="""pytest py.test nosetests jest vitest mocha ava karma jasmine playwright cypress tox nox gotestsum ctest
        rspec phpunit pest behave bats unittest trial stestr testng scalatest busted minitest k6 locust wtr newman""",
    build="""gcc g++ clang clang++ cc javac rustc kotlinc scalac ninja meson cmake webpack rollup vite esbuild parcel
        tsup swc babel turbo nx lerna protoc buf sphinx-build mkdocs gulp grunt bazel bazelisk buck2 pants ant sbt
        msbuild xcodebuild swiftc wasm-pack pyinstaller hugo jekyll docusaurus packer goreleaser templ sqlc mockgen""",
    lint="""eslint flake8 pylint golangci-lint staticcheck revive shellcheck hadolint stylelint rubocop tflint yamllint
        markdownlint markdownlint-cli2 actionlint bandit semgrep vulture codespell oxlint ktlint detekt checkstyle
        clippy-driver ansible-lint sqlfluff pre-commit lefthook lint-imports lint-staged knip depcheck pydocstyle
        govulncheck trivy""",
    format="""gofmt goimports gofumpt prettier black isort autopep8 yapf rustfmt clang-format shfmt dprint stylua
        scalafmt google-java-format""",
    typecheck="mypy pyright basedpyright tsc tsgo vue-tsc pytype pyre flow svelte-check ty",
    install="""pip pip3 pip-sync pip-compile pipx apt apt-get brew yum dnf apk pacman conda mamba gem bower asdf nvm
        pyenv rustup sdk choco winget corepack volta snap virtualenv""",
    migrate="alembic flyway liquibase goose dbmate migrate sqitch knex sequelize typeorm atlas yoyo",
    run="""python node ruby php java perl deno tsx ts-node nodemon uvicorn gunicorn flask streamlit celery docker
        docker-compose podman kubectl helm terraform tofu pulumi ansible ansible-playbook psql mysql sqlite3 redis-cli
        mongosh bash sh zsh foreman overmind vercel netlify wrangler serverless sls aws gcloud az heroku fly flyctl
        supabase firebase expo adb Rscript julia lua elixir iex erl ghc runghc swift pm2 systemctl service air
        reflex open code osascript sam skaffold tilt minikube kind k3d""",
    vcs="git hg svn jj sl gh glab hub gt git-town",
    read="""cat head tail less more bat batcat nl wc file stat sed awk gawk jq yq xxd hexdump od strings diff cmp comm
        column cut sort uniq tr md5sum sha256sum shasum zcat tac view mdcat glow""",
    search="grep egrep fgrep rg ag ack ast-grep sg zgrep ugrep",
    list="ls tree exa eza du dir find fd fdfind locate which whereis",
    edit="rm mv cp touch mkdir rmdir ln chmod chown tee patch apply_patch truncate install dd sponge ed unzip tar",
    network="""curl wget http https xh lynx w3m links aria2c yt-dlp scp rsync sftp ftp ssh nc ncat telnet ping dig
        nslookup host traceroute httpie rclone gsutil""",
)

# Words that name the purpose of a script, a target, a task or a session.
_WORDS: Mapping[str, Purpose] = _named(
    test="""test tests testing spec specs check e2e unit integration smoke coverage cov pytest jest vitest playwright
        cypress bench benchmark regression ci verify tst t rspec mocha acceptance testsuite race""",
    lint="lint linter eslint ruff flake8 vet clippy golangci staticcheck stylelint precommit pre-commit quality",
    format="fmt format formatting prettier gofmt black tidy",
    typecheck="typecheck type-check types tsc mypy pyright typing tscheck",
    build="""build compile dist bundle package assemble all webpack generate gen codegen proto image docs doc release
        rebuild binary wasm bin publishlocal jar installdist classes""",
    install="install deps dependencies bootstrap setup init sync vendor download restore",
    migrate="migrate migration migrations migrator migrateup upgrade seed schema rollback makemigrations",
    run="run start dev serve server watch up down stop deploy publish console shell preview clean reset logs",
)
_SPLIT_NAME = re.compile(r"[^a-z0-9]+")


def purpose_of_name(name: str) -> Purpose:
    """The purpose of a script or a target by the words of its name (`test:unit`, `db-migrate`); RUN if none tells."""
    name = name.lower()[:100]
    if (whole := _WORDS.get(name)) is not None:
        return whole
    known = [purpose for word in _SPLIT_NAME.split(name) if (purpose := _WORDS.get(word)) is not None]
    # In `test-build` and `build:test` the test is the purpose; a general word such as `run` never is.
    return max(known, key=lambda purpose: RANKS[purpose], default=Purpose.RUN)


SUBCOMMANDS: Mapping[str, Mapping[str, Purpose]] = {
    "go": _named(
        test="test",
        build="build generate tool",
        lint="vet",
        format="fmt",
        run="run",
        install="get mod install work",
        read="doc",
    ),
    "cargo": _named(
        test="test t nextest bench miri llvm-cov tarpaulin",
        build="build b rustc doc package",
        typecheck="check c",
        lint="clippy deny audit machete",
        format="fmt",
        run="run r",
        install="add install update fetch remove vendor",
        network="search info",
    ),
    "ruff": _named(lint="check", format="format"),
    "biome": _named(lint="lint check ci", format="format"),
    "deno": _named(
        test="test bench", lint="lint", format="fmt", typecheck="check", build="compile", install="install add cache"
    ),
    "dotnet": _named(
        test="test vstest",
        build="build publish pack msbuild clean",
        format="format",
        run="run watch",
        install="restore add tool",
        migrate="ef",
    ),
    "uv": _named(install="sync add remove lock pip venv tool python export", build="build"),
    "poetry": _named(install="install add remove update lock sync", build="build", lint="check"),
    "pdm": _named(install="install add remove update lock sync", build="build"),
    "pipenv": _named(install="install sync lock update"),
    "hatch": _named(test="test", format="fmt", build="build", install="env"),
    "composer": _named(install="install require update remove dump-autoload"),
    "bundle": _named(install="install update add"),
    "mix": _named(
        test="test",
        build="compile",
        format="format",
        lint="credo",
        typecheck="dialyzer",
        install="deps.get",
        migrate="ecto.migrate",
    ),
    "swift": _named(test="test", build="build", run="run", install="package"),
    "flutter": _named(test="test", build="build", lint="analyze", run="run", install="pub"),
    "dart": _named(test="test", build="compile", lint="analyze", format="format", run="run", install="pub"),
    "zig": _named(test="test", build="build build-exe build-lib", format="fmt", run="run"),
    "bazel": _named(test="test coverage", build="build", run="run", search="query cquery"),
    "terraform": _named(lint="validate", format="fmt", install="init", run="plan apply destroy"),
    "docker": _named(build="build buildx", list="ps images", read="logs inspect", install="pull"),
    "docker-compose": _named(build="build", list="ps", read="logs config", install="pull"),
    "podman": _named(build="build", list="ps images", read="logs inspect", install="pull"),
    "kubectl": _named(read="logs describe get explain", edit="edit"),
    "helm": _named(lint="lint", build="package template", install="repo"),
    "mise": _named(install="install use trust", list="ls tasks", run="run"),
    "prisma": _named(migrate="migrate db", build="generate", lint="validate", format="format"),
    "drizzle-kit": _named(migrate="migrate push generate"),
    "rails": _named(test="test", run="server s console c runner", migrate="db:migrate", build="generate g"),
    "artisan": _named(test="test", migrate="migrate", run="serve"),
    "manage.py": _named(
        test="test",
        migrate="migrate makemigrations sqlmigrate",
        run="runserver shell",
        lint="check",
        build="collectstatic",
    ),
    "pre-commit": _named(lint="run", install="install autoupdate"),
    "supabase": _named(migrate="db migration", run="start stop functions"),
    "playwright": _named(test="test", install="install"),
}
"""Purpose by the first word after the program that is not an option; the program's own purpose if not listed."""

PACKAGE_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
MANAGER_VERBS: Mapping[str, Purpose] = _named(
    install="""install i ci add remove rm uninstall update upgrade up dedupe link unlink rebuild import fetch prune set
        config cache pack audit approve-builds""",
    test="test t tst",
    run="run run-script exec dlx x create init publish start stop restart login whoami",
    network="view info show search",
    list="ls list outdated why",
    build="build",
)

TASK_RUNNERS = word_set(
    """
    make gmake just task rake mvn mvnw gradle gradlew invoke inv doit mage nx turbo lerna grunt gulp ant sbt
    scons poe moon lein
    """
)
"""Programs whose arguments are names of targets."""

RUNNERS: Mapping[str, frozenset[str]] = {
    "uv": frozenset({"run"}),
    "poetry": frozenset({"run"}),
    "pdm": frozenset({"run"}),
    "pipenv": frozenset({"run"}),
    "rye": frozenset({"run"}),
    "hatch": frozenset({"run"}),
    "pixi": frozenset({"run"}),
    "bundle": frozenset({"exec"}),
    "mise": frozenset({"exec", "x"}),
    "asdf": frozenset({"exec"}),
    "npm": frozenset({"exec", "x"}),
    "pnpm": frozenset({"exec", "dlx"}),
    "yarn": frozenset({"exec", "dlx"}),
    "bun": frozenset({"x"}),
    "conda": frozenset({"run"}),
    "direnv": frozenset({"exec"}),
    "op": frozenset({"run"}),
    "doppler": frozenset({"run"}),
    "dotenvx": frozenset({"run"}),
    "nix": frozenset({"develop", "shell", "run"}),
    "docker": frozenset({"exec", "run"}),
    "podman": frozenset({"exec", "run"}),
    "docker-compose": frozenset({"exec", "run"}),
    "kubectl": frozenset({"exec"}),
    "npx": frozenset(),
    "bunx": frozenset(),
    "pnpx": frozenset(),
    "uvx": frozenset(),
    "pipx": frozenset({"run"}),
    "dotenv": frozenset(),
    "c8": frozenset(),
    "nyc": frozenset(),
    "coverage": frozenset({"run"}),
}
"""Programs that run another command: its purpose counts. The set holds the subcommands that do so; empty: always."""

VALUE_OPTIONS: Mapping[str, frozenset[str]] = {
    "uv": word_set("--with --extra --group --python -p --project --directory --env-file --package"),
    "uvx": frozenset({"--from", "--with", "--python", "-p"}),
    "npx": frozenset({"-p", "--package"}),
    "docker": word_set(
        """
    -e --env -w --workdir -u --user -v --volume --name --network -p -f --file --env-file --mount
    """
    ),
    "docker-compose": word_set(
        """
    -e --env -w --workdir -u --user -f --file -p --project-name --profile --env-file
    """
    ),
    "podman": word_set(
        """
    -e --env -w --workdir -u --user -v --volume --name --network -p --env-file --mount
    """
    ),
    "kubectl": frozenset({"-n", "--namespace", "-c", "--container", "--context"}),
    "conda": frozenset({"-n", "--name", "-p"}),
    "pnpm": frozenset({"--filter", "-F", "--dir", "-C"}),
    "npm": frozenset({"-w", "--workspace", "--prefix"}),
    "yarn": frozenset({"--cwd"}),
    "bun": frozenset({"--cwd", "--filter"}),
    "make": frozenset({"-C", "-f", "--directory", "--file"}),
    "gmake": frozenset({"-C", "-f"}),
    "just": frozenset({"-f", "--justfile", "-d", "--working-directory"}),
    "git": frozenset({"-C", "-c", "--git-dir", "--work-tree"}),
    "gh": frozenset({"-R", "--repo"}),
    "go": frozenset({"-C"}),
    "cargo": frozenset({"--manifest-path", "-p", "--package"}),
    "mvn": frozenset({"-pl", "-f", "-P"}),
    "gradle": frozenset({"-p", "-x", "--tests"}),
    "mise": frozenset({"-C", "--cd"}),
    "poetry": frozenset({"-C", "--directory"}),
    "tox": frozenset({"-e"}),
    "nox": frozenset({"-s"}),
    "dotenv": frozenset({"-e", "-f"}),
    "hatch": frozenset({"-e"}),
}
"""Options before the subcommand that take a value."""
