# Two commands are enough: `make run` and `make test`. Each sets up what it needs, once.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PYTEST := $(BIN)/pytest --numprocesses logical --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help run panel test test-fast test-agents picture panel-images fuzz soak check format bench clean

help:
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/' | expand -t 31

# pip learned dependency groups in 25.1; older ones are upgraded inside the virtual environment only.
$(VENV)/.pip: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --upgrade --constraint constraints.txt pip
	@touch $@

# Whatever is imported is compiled at its first import, so that pip need not compile all the rest. A shell that forbids
# writing bytecode would have every process compile it again.
export PYTHONDONTWRITEBYTECODE :=
install = $(BIN)/pip install --quiet --no-compile --constraint constraints.txt --editable $(1)

# A variable, because a comma would end the argument of `call`.
WITH_EXTRAS := '.[postgres,s3,languages]'

$(VENV)/.run: $(VENV)/.pip pyproject.toml
	$(call install,.)
	@touch $@

$(VENV)/.dev: $(VENV)/.pip pyproject.toml
	$(call install,$(WITH_EXTRAS) --group test)
	@touch $(VENV)/.run $@

$(VENV)/.check: $(VENV)/.dev
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt --group check
	@touch $@

# Node comes with the test group, so that what runs on it runs the same everywhere.
install_from_npm = mkdir -p $(VENV)/$(1) && cp $(2) $(VENV)/$(1) \
	&& cd $(VENV)/$(1) && PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --loglevel=error

$(VENV)/.node: $(VENV)/.dev tests/node/package.json tests/node/package-lock.json tests/node/.npmrc
	@($(call install_from_npm,node,$(filter tests/%,$^)) --omit=optional) || { printf '%s\n' $(NO_NPM) >&2; exit 1; }
	@touch $@

NO_NPM = "The official MCP clients could not be installed: does npm reach its registry? (npm_config_registry names another.)" \
	"Without them all tests but theirs run with: $(BIN)/pytest --ignore-glob '*test_mcp_conformance.py' --ignore-glob '*test_mcp_inspector.py'"

# The panel is built with Node from the same wheel. Without npm's registry, everything but the panel works.
PANEL         := src/treering/interfaces/panel/dist
PANEL_SOURCES := $(shell find panel -type f -not -path '*/node_modules/*' -not -name schema.d.ts)
in_panel       = cd panel && PATH="$(CURDIR)/$(BIN):$$PATH" npm

$(VENV)/.nodejs: $(VENV)/.pip pyproject.toml
	@$(BIN)/pip install --quiet --no-compile --constraint constraints.txt --group panel
	@touch $@

panel/node_modules/.installed: $(VENV)/.nodejs panel/package.json panel/package-lock.json panel/.npmrc
	@$(in_panel) ci --loglevel=error
	@touch $@

$(PANEL)/index.html: panel/node_modules/.installed $(PANEL_SOURCES) tests/golden/openapi.json
	@$(in_panel) run --silent build

NO_PANEL = "The panel could not be built: does npm reach its registry? (npm_config_registry names another.) Everything else works."

# A browser for the tests of the panel: an installed one, else one from npm. Without any, pytest says so.
$(VENV)/.browser: $(VENV)/.nodejs
	@for name in chromium chromium-browser google-chrome-stable google-chrome chrome; do \
		command -v $$name >/dev/null && exit 0; done; \
		{ $(call install_from_npm,browser,tests/panel/browser/*.* tests/node/.npmrc); } \
		&& TMPDIR="$$PWD" PATH="$(CURDIR)/$(BIN):$$PATH" node install.mjs > path \
		|| echo "No Chromium could be had; the browser tests of the panel do not run"
	@touch $@

# Not every agent is published for every platform; the tests of those that are not there are skipped, and say so. What
# could not be installed is tried again the next time.
$(VENV)/.claude: $(VENV)/.dev
	@$(BIN)/pip install --quiet --constraint constraints.txt --group agents && touch $@ \
		|| echo "Claude Code could not be installed; its tests are skipped"

$(VENV)/.agents: $(VENV)/.dev tests/agents/package.json tests/agents/package-lock.json tests/node/.npmrc
	@($(call install_from_npm,agents,$(filter tests/%,$^))) && touch $@ \
		|| echo "Codex and Gemini CLI could not be installed; their tests are skipped"

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt --group bench
	@touch $@

$(VENV)/.calibration: $(VENV)/.dev
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt --group calibration
	@touch $@

run: $(VENV)/.run  ## set up and show what Treering does, on a temporary project; in a terminal, then serve its panel
	@$(BIN)/treering demo
	@if [ -t 0 ] && [ -t 1 ]; then $(MAKE) --no-print-directory panel || printf '%s\n' $(NO_PANEL); $(BIN)/treering demo --serve; fi

panel: $(PANEL)/index.html  ## build the memory panel that `treering serve` shows
	@:

test: $(VENV)/.node $(VENV)/.browser  ## set up and run every test, on SQLite and PostgreSQL
	@$(MAKE) --no-print-directory panel || printf '%s\n' $(NO_PANEL)
	$(PYTEST) --durations 25

test-fast: $(VENV)/.dev  ## run the unit and contract tests on SQLite only, for the edit loop
	TREERING_TEST_ENGINES=sqlite $(PYTEST) tests/unit tests/contract

test-agents: $(VENV)/.claude $(VENV)/.agents  ## let real coding agents use the memory (Claude Code, Codex, Gemini CLI; their models are scripted)
	$(PYTEST) -m agents tests/agents

picture: $(VENV)/.dev $(VENV)/.claude  ## record docs/images/session.svg from sessions of Claude Code
	$(BIN)/python -m tests.agents.session_picture

panel-images: $(VENV)/.dev $(VENV)/.browser panel  ## make docs/images/panel-*.png from the sample project of the browser tests
	$(BIN)/python -m tests.panel.docs_images

fuzz: $(VENV)/.dev  ## run the property tests with new examples, ten times as many
	TREERING_TEST_PROFILE=fuzz $(PYTEST) --timeout 3600 $$(grep -lE '@given|run_state_machine' tests/*/test_*.py)

soak: $(VENV)/.dev  ## run the tests that kill, race and wait at full length: some twenty minutes
	TREERING_TEST_LENGTH=full $(PYTEST) --timeout 1200 $$(grep -l at_length tests/*/test_*.py)

check: $(VENV)/.check  ## lint, format, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/lint-imports --no-cache --config .importlinter-doors

format: $(VENV)/.check  ## rewrite the code in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(if $(NAME),$(VENV)/.bench,$(VENV)/.run) $(if $(filter calibrate,$(NAME)),$(VENV)/.calibration) $(if $(filter panel,$(NAME)),$(VENV)/.browser panel)  ## run a bench: NAME=short, ARGS=…; without NAME, list them (bench/README.md)
	@$(BIN)/python -m bench $(NAME) $(ARGS)

clean:  ## remove everything that make created
	rm -rf $(VENV) $(PANEL) panel/node_modules build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
