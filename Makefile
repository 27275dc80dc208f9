# Everything needs Python 3.11 or newer, git and make, and nothing else beforehand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export UV_PYTHON_DOWNLOADS = never

.PHONY: setup run test check unit conformance integration e2e fuzz fuzz-some js screenshots bench services lint types imports

setup: $(VENV)/.ready  ## make .venv and install the lock

$(VENV)/.ready: requirements/test.lock requirements/tools.lock
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/tools.lock
	$(BIN)/uv pip sync --quiet --require-hashes --python $(BIN)/python requirements/test.lock
	touch $@

run: setup  ## everything on one machine; prints the page's address
	$(BIN)/python manage.py serve

test: check fuzz-some integration e2e  ## everything

check: setup lint types imports js unit conformance  ## the fast part

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types:
	$(BIN)/mypy

imports:
	$(BIN)/lint-imports

unit:
	$(BIN)/pytest -q -n 2 tests/unit tests/test_docs.py

conformance:
	$(BIN)/pytest -q -n 2 tests/conformance

js:
	$(BIN)/python scripts/js_tests.py

services: setup  ## PostgreSQL and Chromium, installed where that may be done
	$(BIN)/python scripts/install_services.py

fuzz-some: setup  ## a little of it, the same every time
	$(BIN)/pytest -q -n 2 tests/fuzz

fuzz: setup  ## 10,000 and more hostile inputs through every door
	SCHEDSCOPE_FUZZ=1 $(BIN)/pytest -q -n 2 tests/fuzz

integration: services
	$(BIN)/pytest -q tests/integration

e2e: services
	DJANGO_ALLOW_ASYNC_UNSAFE=1 $(BIN)/pytest -q tests/e2e

screenshots: services
	$(BIN)/python scripts/screenshots.py

bench: setup
	$(BIN)/python manage.py bench basic --nodes 1000 --pods 3000
	$(BIN)/python manage.py bench preempt --nodes 500 --low 2000 --high 500
