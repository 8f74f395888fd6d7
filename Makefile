# Every command of the project. The first one that needs .venv makes it from the lock files.

ARGS    ?=
# Tests wait for sockets and processes half of their time: twice as many workers as cores. A worker
# takes whole files, which share a bot or a browser, until it has to help another one out.
WORKERS ?= 4
PYTHON  ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$name && break; done)

BIN      = .venv/bin
# --no-deps: a lock names everything. -qq: only errors are worth reading.
PIP      = $(BIN)/python -m pip install -qq --no-input --disable-pip-version-check
LOCKED   = $(PIP) --require-hashes --no-deps
# A lock must not depend on who made it, so the machine's own package sources are left out.
COMPILE  = PIP_CONFIG_FILE=/dev/null PIP_INDEX_URL= PIP_EXTRA_INDEX_URL= PIP_FIND_LINKS= \
	$(BIN)/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe --no-header \
	--no-emit-options --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	--annotation-style=line $(ARGS)
SLACK    = packages/slack-on-loopback
BENCH    = packages/moot-bench
GROUP    = $(BIN)/python tools/group.py
# Two calls of make at once take turns at .venv; the lock ends with the recipe's shell.
ALONE    = exec 9>.venv.lock && $(PYTHON) -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)'
RUNTIME  = $(BIN)/.python $(BIN)/.runtime $(BIN)/.project
DEV      = $(RUNTIME) $(BIN)/.dev
SAY      = @printf '== %s\n'

# Where Python may not keep what it compiled, every process compiles all it imports anew: seconds for
# each worker, and for each of the many processes that tests start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo run debate extras wheel test test-slow drill test-package static check check-all docs pictures format-check lint types imports complexity docker-lint fix bench results lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(RUNTIME) ## Watch a debate in a local workspace: no Slack, no key needed
	@$(BIN)/moot demo $(ARGS)

run: $(RUNTIME) ## Run the bot on Slack, with the settings in .env
	@$(BIN)/moot run $(ARGS)

debate: $(RUNTIME) ## Debate in the terminal: make debate ARGS='"Kafka or SQS?"'
	@$(BIN)/moot debate $(ARGS)

extras: $(RUNTIME) ## Install what PostgreSQL, traces and MCP servers take, as locked
	@$(ALONE) && $(LOCKED) --no-compile -r requirements-extras.lock

wheel: $(RUNTIME) ## Build wheels of Moot, its bench and the local Slack into dist
	@$(BIN)/python -m hatchling build -t wheel
	@cd $(BENCH) && ../../$(BIN)/python -m hatchling build -t wheel -d ../../dist
	@cd $(SLACK) && ../../$(BIN)/python -m hatchling build -t wheel -d ../../dist

test: $(DEV) $(BIN)/.compiled ## Run the tests but for the slow ones: make test ARGS='tests/core -k vote'
	@$(BIN)/pytest -q -n $(WORKERS) --dist worksteal -m 'not slow and not drill' $(ARGS)

test-slow: $(DEV) ## Run the slow tests, and have Hypothesis try harder in its own
	@$(BIN)/pytest -q -n $(WORKERS) --dist worksteal --hypothesis-profile=large --timeout=600 \
		-m '(slow or hypothesis) and not drill' $(ARGS)

drill: $(DEV) ## Hurt a running bot in 29 ways, five seconds each, and see what is lost
	@$(BIN)/pytest -q -n 2 -m drill --timeout=300 $(ARGS)

test-package: $(DEV) ## Run the local Slack's own tests
	@cd $(SLACK) && ../../$(BIN)/pytest -q -n $(WORKERS) $(ARGS)

static: format-check lint types imports complexity docker-lint

check: static test ## Everything that must pass before a commit lands
	$(SAY) "All checks passed."

check-all: static test test-slow test-package ## What CI runs: the checks and every test, slow ones too
	$(SAY) "All checks passed."

format-check: $(DEV)
	$(SAY) "Format"
	@$(BIN)/ruff format --check --quiet . || { echo "Run: make fix"; exit 1; }

lint: $(DEV)
	$(SAY) "Lint"
	@$(BIN)/ruff check --quiet .

types: $(DEV)
	$(SAY) "Types"
	@$(BIN)/pyright

imports: $(DEV)
	$(SAY) "Who imports whom"
	@report=$$($(BIN)/lint-imports) || { echo "$$report"; exit 1; }

complexity: $(DEV)
	$(SAY) "Complexity of functions, and sizes"
	@$(BIN)/python tools/complexity.py

docker-lint: $(DEV)
	$(SAY) "Dockerfile"
	@$(BIN)/hadolint Dockerfile

docs: $(DEV) ## Rewrite what the documents take from the code
	@$(BIN)/python tools/licences.py

pictures: $(DEV) ## Take the pictures of docs/team.md anew; needs Chromium
	@$(BIN)/python tools/pictures.py $(ARGS)

fix: $(DEV) ## Format, and repair what can be repaired
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .

results: $(DEV) ## Hold the bench on 30 questions for at most $$5, and write docs/results
	@$(BIN)/moot bench --arms solo,vote,gate,critique --max-usd 5 --page docs/results/README.md $(ARGS)

bench: $(DEV) ## Measure latency, cost, load and start: one table, in seven to ten minutes
	@$(BIN)/python -m bench.all $(ARGS)

lock: $(DEV) ## Resolve the lock files anew: make lock ARGS=--upgrade
	@$(COMPILE) --output-file=requirements.lock pyproject.toml
	@$(COMPILE) --extra=mcp --extra=postgres --extra=traces --constraint=requirements.lock \
		--output-file=requirements-extras.lock pyproject.toml
	@$(GROUP) build | $(COMPILE) --constraint=requirements.lock \
		--output-file=requirements-build.lock -
	@$(GROUP) dev | $(COMPILE) --constraint=requirements-extras.lock \
		--constraint=requirements-build.lock \
		--output-file=requirements-dev.lock pyproject.toml -

clean: ## Remove .venv and everything else that can be made again
	@rm -rf .venv .venv.lock build dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/.python:
	@test -n "$(PYTHON)" || { echo "Moot needs Python 3.11 or newer, with venv." \
		"On Debian or Ubuntu: sudo apt install python3 python3-venv" >&2; exit 1; }
	@$(ALONE) && { test -x $(BIN)/pip || $(PYTHON) -m venv .venv; } && touch $@

$(BIN)/.runtime: requirements.lock requirements-build.lock | $(BIN)/.python
	$(SAY) "Installing what Moot needs (once, one to three minutes)"
	@$(ALONE) && $(LOCKED) --no-compile -r requirements.lock -r requirements-build.lock && touch $@

$(BIN)/.project: pyproject.toml $(SLACK)/pyproject.toml $(BENCH)/pyproject.toml | $(BIN)/.runtime
	@$(ALONE) && $(PIP) --no-deps --no-build-isolation --editable . --editable $(SLACK) --editable $(BENCH) && touch $@

$(BIN)/.dev: requirements-dev.lock | $(BIN)/.runtime
	$(SAY) "Installing the tools for development (once, about a minute)"
	@$(ALONE) && $(LOCKED) --no-compile -r requirements-dev.lock && touch $@

# All workers begin at once: each would compile what all of them import. What is wrong with a test is
# told by the tests themselves.
$(BIN)/.compiled: $(BIN)/.dev
	$(SAY) "Compiling what the tests import (once, some ten seconds)"
	@for part in tests/core 'tests --ignore=tests/core'; do \
		$(BIN)/python -m pytest -q -p no:cacheprovider --collect-only $$part >/dev/null 2>&1 & \
	done; wait; touch $@
