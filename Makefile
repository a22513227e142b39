# Two commands are enough: `make run` and `make test`. Each sets up what it needs, once.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PYTEST := $(BIN)/pytest --numprocesses logical --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help run test test-fast test-agents fuzz soak check format bench bench-store bench-postgres bench-secrets bench-startup bench-mcp bench-retrieval \
        bench-weights bench-query-kinds bench-cues bench-peers bench-precision bench-search bench-working bench-tokens \
        bench-conversation bench-replay bench-facts bench-duplicates bench-ingest bench-consolidation bench-night bench-year \
        bench-patterns bench-pattern-replay bench-pattern-matching bench-pattern-mining bench-pattern-store bench-graph bench-codegraph bench-code-index bench-code-where bench-cochange bench-mcp-load calibrate clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/' | expand -t 31

# pip learned dependency groups in 25.1; older ones are upgraded inside the virtual environment only.
$(VENV)/.pip: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade --constraint constraints.txt pip
	@touch $@

$(VENV)/.run: $(VENV)/.pip pyproject.toml
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.pip pyproject.toml
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[postgres,s3]' --group test
	@touch $(VENV)/.run $@

$(VENV)/.check: $(VENV)/.dev
	$(BIN)/pip install --quiet --constraint constraints.txt --group check
	@touch $@

# Node comes with the test group, so that what runs on it runs the same everywhere.
install_from_npm = mkdir -p $(VENV)/$(1) && cp $(2) $(VENV)/$(1) \
	&& cd $(VENV)/$(1) && PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --loglevel=error

$(VENV)/.node: $(VENV)/.dev tests/node/package.json tests/node/package-lock.json tests/node/.npmrc
	@($(call install_from_npm,node,$(filter tests/%,$^)) --omit=optional) || { printf '%s\n' $(NO_NPM) >&2; exit 1; }
	@touch $@

NO_NPM = "The official MCP clients could not be installed: does npm reach its registry? (npm_config_registry names another.)" \
	"Without them all tests but theirs run with: $(BIN)/pytest --ignore-glob '*test_mcp_conformance.py' --ignore-glob '*test_mcp_inspector.py'"

# Not every agent is published for every platform; the tests of those that are not there are skipped, and say so. What
# could not be installed is tried again the next time.
$(VENV)/.claude: $(VENV)/.dev
	@$(BIN)/pip install --quiet --constraint constraints.txt --group agents && touch $@ \
		|| echo "Claude Code could not be installed; its tests are skipped"

$(VENV)/.agents: $(VENV)/.dev tests/agents/package.json tests/agents/package-lock.json tests/node/.npmrc
	@($(call install_from_npm,agents,$(filter tests/%,$^))) && touch $@ \
		|| echo "Codex and Gemini CLI could not be installed; their tests are skipped"

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/pip install --quiet --constraint constraints.txt --group bench
	@touch $@

$(VENV)/.calibration: $(VENV)/.dev
	$(BIN)/pip install --quiet --constraint constraints.txt --group calibration
	@touch $@

run: $(VENV)/.run  ## set up and show what Treering does, on a temporary project
	@$(BIN)/treering demo

test: $(VENV)/.node  ## set up and run every test, on SQLite and PostgreSQL
	$(PYTEST) --durations 25

test-fast: $(VENV)/.dev  ## run the unit and contract tests on SQLite only, for the edit loop
	TREERING_TEST_ENGINES=sqlite $(PYTEST) tests/unit tests/contract

test-agents: $(VENV)/.claude $(VENV)/.agents  ## let real coding agents use the memory (Claude Code, Codex, Gemini CLI; their models are scripted)
	$(BIN)/pytest -m agents tests/agents

fuzz: $(VENV)/.dev  ## run the property tests with new examples, ten times as many
	TREERING_TEST_PROFILE=fuzz $(PYTEST) --timeout 3600 $$(grep -lE '@given|run_state_machine' tests/*/test_*.py)

soak: $(VENV)/.dev  ## run the tests that kill, race and wait at full length: some twenty minutes
	TREERING_TEST_LENGTH=full $(PYTEST) --timeout 1200 $$(grep -l at_length tests/*/test_*.py)

check: $(VENV)/.check  ## lint, format, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.check  ## rewrite the code in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: bench-store bench-postgres bench-secrets bench-startup bench-mcp bench-tokens bench-conversation bench-replay bench-working bench-search bench-retrieval bench-weights bench-query-kinds bench-cues bench-facts bench-duplicates bench-precision bench-ingest bench-consolidation bench-night bench-year bench-patterns bench-pattern-replay bench-pattern-matching bench-pattern-mining bench-pattern-store bench-graph bench-codegraph bench-code-index bench-code-where bench-peers bench-cochange bench-mcp-load  ## measure every figure in bench/RESULTS.md

bench-store: $(VENV)/.bench  ## embedded engine up to 1,000,000 records
	$(BIN)/python -m bench.store

bench-postgres: $(VENV)/.bench  ## PostgreSQL at 100,000 records
	$(BIN)/python -m bench.postgres

bench-secrets: $(VENV)/.bench  ## secret detection, both ways
	$(BIN)/python -m bench.secrets

bench-startup: $(VENV)/.bench  ## import and command start-up
	$(BIN)/python -m bench.startup

bench-mcp: $(VENV)/.bench  ## the MCP server: from its start to the first answer, the tools, the first search
	$(BIN)/python -m bench.mcp_startup

bench-tokens: $(VENV)/.bench  ## token counts against real vocabularies (VOCABULARIES=directory), and what counting costs
	$(BIN)/python -m bench.tokens $(if $(VOCABULARIES),--vocabularies $(VOCABULARIES))

bench-conversation: $(VENV)/.bench  ## a conversation of 5,000 messages: deciding, building, memory
	$(BIN)/python -m bench.conversation

bench-replay: $(VENV)/.bench  ## recorded sessions through each strategy, at three limits
	$(BIN)/python -m bench.replay

bench-working: $(VENV)/.bench  ## working memory: variables, outputs, prompts, saves
	$(BIN)/python -m bench.working

bench-search: $(VENV)/.bench  ## search as the store grows to 1,000,000 records, and on PostgreSQL
	$(BIN)/python -m bench.search_speed
	$(BIN)/python -m bench.search_postgres

bench-retrieval: $(VENV)/.bench  ## what is found on public sets, against plainer ways
	$(BIN)/python -m bench.retrieval
	$(BIN)/python -m bench.retrieval --engines

bench-weights: $(VENV)/.bench  ## how the weights of the fusion are learned
	$(BIN)/python -m bench.weights

bench-query-kinds: $(VENV)/.bench  ## query kinds and time words
	$(BIN)/python -m bench.query_kinds

bench-cues: $(VENV)/.bench  ## what messages are by their words, and where subjects change
	$(BIN)/python -m bench.cues

bench-facts: $(VENV)/.bench  ## fact extraction on hand-labelled turns in five languages
	$(BIN)/python -m bench.facts

bench-duplicates: $(VENV)/.bench  ## what is said again becomes one record, what is unrelated stays apart
	$(BIN)/python -m bench.duplicates

bench-ingest: $(VENV)/.bench  ## a durable turn as the store grows to 1,000,000
	$(BIN)/python -m bench.ingest

bench-consolidation: $(VENV)/.bench  ## consolidation of 100,000 episodes
	$(BIN)/python -m bench.consolidation

bench-night: $(VENV)/.bench  ## a night of maintenance on 100,000 records
	$(BIN)/python -m bench.night

bench-year: $(VENV)/.bench  ## a simulated year of a team, with every night's maintenance
	$(BIN)/python -m bench.year

bench-patterns: $(VENV)/.bench  ## patterns in simulated worlds: what is believed of those that help, idle and hurt
	$(BIN)/python -m bench.pattern_worlds

bench-pattern-replay: $(VENV)/.bench  ## next steps and recoveries mined from older sessions, tried on newer ones
	$(BIN)/python -m bench.pattern_replay

bench-pattern-matching: $(VENV)/.bench  ## patterns that apply to a task, among up to 20,000
	$(BIN)/python -m bench.pattern_matching

bench-pattern-mining: $(VENV)/.bench  ## mining 10,000 episodes of 50 steps
	$(BIN)/python -m bench.pattern_mining

bench-pattern-store: $(VENV)/.bench  ## 5,000 patterns with 1,000,000 applications on both engines: find, get, validate
	$(BIN)/python -m bench.pattern_store

bench-graph: $(VENV)/.bench  ## the code graph in memory at 50,000 nodes: impact, totals, edits, memory
	$(BIN)/python -m bench.graph

bench-precision: $(VENV)/.bench  ## precise recall on PrecisionMemBench: what is retrieved, and what had better not be
	$(BIN)/python -m bench.precision

bench-peers: $(VENV)/.bench  ## other memory libraries on the same sets
	$(BIN)/python -m bench.peers

bench-codegraph: $(VENV)/.bench  ## the code graph against compilers and language servers (REPOSITORIES=folder of the shared ones, CACHE=folder)
	$(BIN)/python -m bench.codegraph $(if $(REPOSITORIES),--repositories $(REPOSITORIES)) $(if $(CACHE),--cache $(CACHE))

bench-code-index: $(VENV)/.bench  ## the code index from disk to memory, as repositories grow (REPOSITORIES=folder of flask, fastapi, hono, CACHE=folder)
	$(BIN)/python -m bench.code_index $(if $(REPOSITORIES),--repositories $(REPOSITORIES)) $(if $(CACHE),--cache $(CACHE))

bench-code-where: $(VENV)/.bench  ## questions for places in published source (CACHE=folder)
	$(BIN)/python -m bench.code_where $(if $(CACHE),--cache $(CACHE))

bench-cochange: $(VENV)/.bench  ## files that change together, on histories of real repositories (MIRROR=folder of them)
	$(BIN)/python -m bench.cochange --timed --write $(if $(MIRROR),--mirror $(MIRROR))

bench-mcp-load: $(VENV)/.bench  ## fifty clients at once over HTTP for a minute
	$(BIN)/python -m bench.mcp_load

calibrate: $(VENV)/.calibration  ## fit token estimates to real vocabularies (VOCABULARIES=directory TEXTS=folder WRITE=1)
	$(BIN)/python -m bench.calibration $(VOCABULARIES) $(if $(TEXTS),--texts $(TEXTS)) $(if $(KEEP),--keep $(KEEP)) $(if $(WRITE),--write)

clean:  ## remove everything that make created
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
