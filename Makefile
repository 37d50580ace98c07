# Two commands matter: `make run` and `make test`. Each sets up all it needs in .venv; a second call starts at once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DB ?= tachograph.duckdb
PORT ?= 8501
# one more than two cores: tests wait for browsers and for processes
WORKERS ?= 3
# the tests start the program hundreds of times: it is compiled once, whatever the environment says
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test quick style check unit attack lake-test schema wheel upgrade clean chromium postgresql

## run: set up, ingest the sample logs, open the dashboard
run: $(VENV)/.ready-run
	$(BIN)/tachograph ingest sample_logs --db $(DB)
	$(BIN)/tachograph dashboard --db $(DB) --port $(PORT)

## test: set up, then style, types and all tests that are not marked `thorough`, ten minutes on two cores
test: $(VENV)/.ready-dev chromium check unit

## quick: for the inner loop: style, and the tests that start no process, browser or screen, fill no store of their own and take under half
## a second: reading, claims, prices, charts, words, and answers about the samples. tests/conftest.py marks the others slow, some are by hand.
quick: style
	$(BIN)/python -m pytest -n auto --dist worksteal -q -m "not slow"

style: $(VENV)/.ready-dev
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .

check: style
	$(BIN)/mypy

unit: $(VENV)/.ready-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -q

## attack: before a release, an hour: kills, full disks, crowds, hostile pages and broken logs at full size, and laws on whole stores with
## ten times as many examples
LAWS := borrowed_texts bulkheads chains claude_streams growing_transcripts laws_of_logs no_text pipeline readers_fail_midway reports \
  response_prices textless_exports undo usage verdicts wrong_rows
attack: $(VENV)/.ready-dev chromium
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -q --hypothesis-profile=thorough tests/attack $(LAWS:%=tests/test_%.py)
	$(BIN)/python -m tests.fuzz.fuzz_ingest 5000

## lake-test: lakes on a real PostgreSQL and an object storage, and the store's own tests with the DuckDB that lakes need, in an environment
## of its own; PROFILE=thorough: 20 writers at once, 100 kills
LAKE := .venv-lake
lake-test: $(LAKE)/.ready postgresql
	$(LAKE)/bin/python -m pytest -n $(WORKERS) --dist loadfile -q $(PROFILE:%=--hypothesis-profile=%) tests/lake tests/test_store.py tests/test_pipeline.py tests/test_undo.py

$(LAKE)/.ready: pyproject.toml
	$(PYTHON) -m venv $(LAKE)
	$(LAKE)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,lake,lake-dev]'
	@touch $@

postgresql:
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing PostgreSQL for the tests of lakes"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null; \
	  else \
	    echo "The tests of lakes need PostgreSQL: sudo apt-get install postgresql, then make lake-test again."; exit 1; \
	  fi; }

## schema: write the store's tables and views from the row models and the catalogue
schema: $(VENV)/.ready-run
	$(BIN)/python -m ingest.store.ddl

## wheel: build dist/*.whl, in an environment of pip's own
wheel: $(VENV)/bin/python
	@echo "Building the wheel: pip takes some seconds for what builds it."
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@ls dist/*.whl

## upgrade: the newest versions that pyproject.toml allows, into constraints.txt: then make test, and commit what it passed with
upgrade:
	rm -rf $(VENV)-newest
	$(PYTHON) -m venv $(VENV)-newest
	$(VENV)-newest/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@sed -n '/^#/p' constraints.txt > constraints.new
	$(VENV)-newest/bin/python -m pip freeze --disable-pip-version-check --exclude-editable >> constraints.new
	mv constraints.new constraints.txt
	rm -rf $(VENV)-newest

clean:
	rm -rf $(VENV) $(VENV)-newest $(LAKE) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Tachograph needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready-run: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Setting up $(VENV) with what Tachograph needs: takes about a minute, once."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]' --constraint constraints.txt
	@touch $@

$(VENV)/.ready-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Setting up $(VENV) with what its tests need, too: takes some two minutes, once."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' --constraint constraints.txt
	@touch $(VENV)/.ready-run $@

# The pages are tested in a real browser, which pip cannot bring.
chromium:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing Chromium for the browser tests"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	  else \
	    echo "The browser tests need Chromium: sudo apt-get install chromium (or Google Chrome), then make test again."; exit 1; \
	  fi; }
