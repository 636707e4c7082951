# Two commands matter to a newcomer: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test lint fix bench docs constraints clean

$(VENV)/.runtime: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@ $(VENV)/.runtime

demo: $(VENV)/.runtime
	$(BIN)/driftgate demo

test: $(VENV)/.dev
	@if [ "$$CI" = true ]; then tests/install-system-packages; fi
	$(BIN)/python -m pytest

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
