# On a fresh machine with Python 3.11 or newer, with or without uv: `make run` and `make test` do all the rest.
#
# Another environment beside it, for example with the oldest DuckDB that is supported:
#   make test VENV=.venv-duckdb15 RUN_LOCK=requirements/duckdb15.lock.txt

SHELL := bash
VENV := .venv
RUN_LOCK := requirements/run.lock.txt
DEV_LOCK := requirements/dev.lock.txt
INSTALLED := $(VENV)/.installed
BIN := $(VENV)/bin

# Prefect keeps its own database and logs here, not in the home folder.
PREFECT_HOME ?= $(abspath $(or $(GPULEDGER_DATA),data))/prefect
export PREFECT_HOME PYTHON

.PHONY: run test test-slow lint types environment lock clean

run: $(INSTALLED) ## the whole pipeline on the recorded pages; ends by saying where the report is
	$(BIN)/gpuledger run --fixtures

test: $(INSTALLED) ## the tests that take less than two minutes
	$(BIN)/python -m pytest -m "not slow" --numprocesses auto --dist worksteal

test-slow: $(INSTALLED) ## the others: fuzzing, kills, simulated time, clones, a browser
	$(BIN)/python -m pytest -m slow --numprocesses auto --dist worksteal

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(INSTALLED)
	$(BIN)/mypy

environment: $(INSTALLED) ## only make or refresh the environment

$(INSTALLED): requirements/install $(RUN_LOCK) $(DEV_LOCK) pyproject.toml
	@requirements/install $(VENV) $(RUN_LOCK) $(DEV_LOCK)
	@touch $@

COMPILE = "$$(command -v uv || echo $(BIN)/uv)" pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"

lock: ## the newest versions that work together; needs uv, on the PATH or from an environment made before
	$(COMPILE) pyproject.toml --group build --output-file requirements/run.lock.txt
	$(COMPILE) pyproject.toml --group build --group duckdb15 --output-file requirements/duckdb15.lock.txt
	$(COMPILE) --group dev --constraint requirements/run.lock.txt --output-file requirements/dev.lock.txt

clean: ## everything that is made anew; your prices in data/ stay
	rm -rf .venv .venv-* build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find flows scrapers warehouse tests -name __pycache__ -prune -exec rm -rf {} +
