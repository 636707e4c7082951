# Two commands matter to a newcomer: `make demo` and `make test`.
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# The first Python on PATH that is new enough; a name or path in the environment or on the command line wins.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
NAMES := python3 python3.14 python3.13 python3.12 python3.11 python
PYTHON ?= $(shell for name in $(NAMES); do $$name -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$name && break; done)

.PHONY: demo test lint fix bench docs constraints clean system-packages

# Python's venv puts pip in last: without it there is no environment, or an earlier attempt broke off.
define environment
@$(PIP) --version >/dev/null 2>&1 || { test -n "$(PYTHON)" && $(PYTHON) -m venv $(VENV); } || \
	{ echo "no environment: driftgate needs Python 3.11 or newer with venv; name one by make PYTHON=..." >&2; exit 1; }
endef

$(VENV)/.runtime: pyproject.toml constraints.txt
	$(environment)
	$(PIP) install --quiet --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt
	$(environment)
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@ $(VENV)/.runtime

demo: $(VENV)/.runtime
	$(BIN)/driftgate demo

test: system-packages $(VENV)/.dev
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

# In CI only: nobody's own machine is changed.
system-packages:
	@if [ "$$CI" = true ]; then PYTHON="$(PYTHON)" tests/install-system-packages; fi

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

fix: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

docs: $(VENV)/.dev
	$(BIN)/python docs/generate.py

# The one place that writes constraints.txt; needs uv on PATH (it is not part of any extra).
constraints:
	uv pip compile --universal --no-annotate --no-header --python-version 3.11 --extra dev pyproject.toml --output-file constraints.txt

clean:
	rm -rf $(VENV) .driftgate build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
