# The Python that makes .venv: the one that made it last, else python3. Another one: make run PYTHON=python3.13
PYTHON ?= $(if $(wildcard .venv/bin/python),.venv/bin/python,python3)
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
BIN := .venv/bin
APP := .venv/.installed-$(VERSION)
DEV := .venv/.installed-dev-$(VERSION)
THREATS := chat/text/threats.idx
PYTEST := $(BIN)/python -m pytest
QUICK := -m "not process and not browser and not slow and not long and not openviking" -n auto

.PHONY: help setup prepare run test test-all test-long test-openviking lint bench screenshots

help: ## Shows the targets.
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 18

setup: $(DEV) prepare ## Makes the environment in .venv; nothing is started.

run: $(APP) prepare ## Starts web and worker, and prints the address.
	@exec $(BIN)/python manage.py up

# Token ranks are wanted, not needed: without them counts are estimates, so a failure only warns.
prepare: $(APP) $(THREATS)
	@$(BIN)/python manage.py compile_locales --verbosity 0
	@test -d "$${DATA_DIR:-data}/tiktoken" || $(BIN)/python manage.py token_ranks || true

test: $(DEV) prepare ## The quick suite: SQLite, no browser, no processes.
	env -u DATABASE_URL -u REDIS_URL $(PYTEST) $(QUICK)

test-all: test lint ## Both databases and channel layers, processes, browsers; all but what is long.
	# PostgreSQL is asked what tells the databases apart, not pages and what asks none.
	$(BIN)/python -m tests.servers $(PYTEST) $(QUICK) $(addprefix --ignore=tests/,text documents providers memory/backends/openviking openviking openviking_server commands admin views cases/test_faults.py cases/test_backends_failing.py test_blocking.py)
	env -u DATABASE_URL -u REDIS_URL $(PYTEST) -m "browser and not openviking" -n 2 --dist loadfile
	env -u DATABASE_URL -u REDIS_URL $(PYTEST) -m "(process or slow) and not browser and not long and not openviking" -n 2

test-long: $(DEV) prepare ## Kills and repeats that take long; not part of test-all.
	env -u DATABASE_URL -u REDIS_URL $(PYTEST) -m "long and not openviking" -n 2

# OPENVIKING_DIR keeps the server's own environment between runs.
test-openviking: $(DEV) prepare ## Against a real OpenViking: 1.3 GB and some minutes the first time.
	env -u DATABASE_URL -u REDIS_URL OPENVIKING_DIR="$${OPENVIKING_DIR:-data/openviking}" $(PYTEST) -m openviking -n 0 tests/openviking

lint: $(DEV) ## Style and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy chat memoryapp

bench: $(DEV) prepare ## Speed, as ratios to a bare relay on this machine.
	$(BIN)/python -m tests.bench

screenshots: $(DEV) prepare ## Takes the pictures in docs/.
	$(BIN)/python -m tests.screenshots

$(APP): requirements.txt
	@case "$(VERSION)" in 3.11|3.12|3.13) ;; *) echo "Python 3.11, 3.12 or 3.13 is needed;" \
		"$(PYTHON) is $(or $(VERSION),not there). Name another: make run PYTHON=python3.12"; exit 1 ;; esac
	@case "$(PYTHON)" in .venv/*) ;; *) rm -rf .venv; $(PYTHON) -m venv .venv || \
		{ rm -rf .venv; echo "The virtual environment could not be made. On Debian and Ubuntu: apt install python3-venv"; exit 1; } ;; esac
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(THREATS): $(APP) $(wildcard chat/text/threat*.py chat/text/threat_rules/*.py)
	@$(BIN)/python manage.py compile_threats --verbosity 0
	@touch $@

$(DEV): $(APP) requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@
