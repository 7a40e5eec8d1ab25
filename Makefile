# EMBERBench. `make help` explains what there is.

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
            $$name -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$name && exit; done; echo python3)
PORT   ?= 8000
JOBS   ?= 2
VENV   := .venv
BIN    := $(VENV)/bin
ARGS   ?=

PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
UV_COMPILE  := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11

.DEFAULT_GOAL := help
.PHONY: help run install test test-python test-postgresql test-js test-browser lint format check openapi lock chromium clean

help: ## Explain the commands
	@echo "make COMMAND, where COMMAND is one of:"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20
	@echo "Options: PORT=8000 (run), PYTHON=python3.12 (the Python to build the environment with), ARGS='--no-demo' (run)"

run: $(VENV)/.site ## Set everything up and serve the site (needs only Python 3.11 or newer)
	@exec $(BIN)/python manage.py serve --port $(PORT) $(ARGS)

install: $(VENV)/.site ## Make the environment without serving

test: test-python test-js test-browser ## Run every test, headless Chromium included

test-python: $(VENV)/.dev ## Run the tests of simulator, command and site
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile

test-postgresql: $(VENV)/.dev ## Run the site's tests on PostgreSQL: make test-postgresql DATABASE_URL=postgres://...
	@test -n "$(DATABASE_URL)" || { echo "Name a database: make test-postgresql DATABASE_URL=postgres://user@host/name"; exit 2; }
	DATABASE_URL=$(DATABASE_URL) $(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile --create-db tests/site

test-js: ## Run the tests of the JavaScript modules (where Node.js is installed)
	@if command -v node >/dev/null; then node --test $$(find tests/js -name '*.test.*js' | sort); \
	else echo "Node.js is not installed: the JavaScript tests were not run."; fi

test-browser: $(VENV)/.dev chromium ## Run the journeys through a real server with headless Chromium
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory node_modules/.stamp; fi # axe-core, to judge the pages
	$(BIN)/python -m pytest -q tests/browser

chromium: ## Get Chromium for the browser tests, where that can be done
	@sh tools/ensure_chromium.sh

lint: $(VENV)/.dev node_modules/.stamp ## Check style, types, imports, migrations, deployment and JavaScript
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	EMBER_DATA=var/lint $(BIN)/python manage.py makemigrations --check --dry-run
	EMBER_DATA=var/lint EMBER_PUBLIC_URL=https://ember.example $(BIN)/python manage.py check --deploy --fail-level WARNING
	npx --no-install tsc --project tsconfig.json

format: $(VENV)/.dev ## Put the Python code into the common format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

check: lint test ## What CI runs

openapi: $(VENV)/.dev ## Write the API's description to docs/openapi.yaml
	EMBER_DATA=var/lint $(BIN)/python manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml

lock: $(VENV)/.dev ## Choose the versions of all dependencies anew
	$(UV_COMPILE) --upgrade --extra site pyproject.toml requirements/build.in -o requirements/site.lock
	$(UV_COMPILE) --upgrade --extra s3 pyproject.toml requirements/build.in -c requirements/site.lock -o requirements/s3.lock
	$(UV_COMPILE) --upgrade --extra dev pyproject.toml requirements/build.in -c requirements/site.lock -o requirements/dev.lock
	npm install --package-lock-only --ignore-scripts --no-audit --no-fund

clean: ## Remove the environment and all caches (not the data in var/)
	rm -rf $(VENV) node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# Not bin/python, which is there before the environment is whole: one whose making broke off is made anew.
$(VENV)/.made:
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(MAKE) --no-print-directory environment
	@touch $@

.PHONY: environment
environment:
	@$(PYTHON) -c '$(NEW_ENOUGH)' || \
	  { echo "Python 3.11 or newer is needed; name it with: make run PYTHON=python3.12"; exit 1; }
	@echo "Making the environment in $(VENV) …"
	@$(PYTHON) -m venv --clear $(VENV) || \
	  { echo "The environment could not be made. On Debian and Ubuntu: sudo apt install python3-venv"; exit 1; }

$(VENV)/.site: requirements/site.lock pyproject.toml | $(VENV)/.made
	@echo "Installing what the site needs …"
	@$(PIP_INSTALL) --require-hashes -r requirements/site.lock
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.site
	@echo "Installing what development needs …"
	@$(PIP_INSTALL) --require-hashes -r requirements/dev.lock
	@touch $@

node_modules/.stamp: package-lock.json
	@command -v npm >/dev/null || { echo "Node.js 20 or newer with npm is needed for the JavaScript checks."; exit 1; }
	npm ci --ignore-scripts --no-audit --no-fund
	@touch $@
