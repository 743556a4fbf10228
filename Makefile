# `make demo` and `make test` need nothing but Python 3.11+ and make: the virtual
# environment is built on the first call and reused afterwards.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMPS := .make
PIP    := $(BIN)/python -m pip --disable-pip-version-check -q
SOURCES := $(shell find src -name '*.py' -o -name '*.json' -o -name '*.html' -o -name '*.csv') pyproject.toml README.md

.PHONY: demo test test-extras check docs bench wheel clean
.DEFAULT_GOAL := test

$(STAMPS)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"Python 3.11 or newer is needed; this is {v[0]}.{v[1]}. Try: make PYTHON=python3.12")'
	@mkdir -p $(STAMPS)
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(STAMPS)/core: $(STAMPS)/python pyproject.toml
	$(PIP) install -e .
	@touch $@

$(STAMPS)/dev: $(STAMPS)/core pyproject.toml
	$(PIP) install -e '.[dev]'
	@touch $@

demo: $(STAMPS)/core
	$(BIN)/probative demo

check: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

docs: $(STAMPS)/dev
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html

# Builds the wheel, installs it into an empty environment and runs the demo there.
wheel: $(STAMPS)/wheel
$(STAMPS)/wheel: $(STAMPS)/dev $(SOURCES)
	@rm -rf dist $(STAMPS)/wheel-env
	$(BIN)/python -m build --wheel --outdir dist . > $(STAMPS)/wheel.log 2>&1 || { cat $(STAMPS)/wheel.log; exit 1; }
	$(BIN)/python -m venv $(STAMPS)/wheel-env
	$(STAMPS)/wheel-env/bin/python -m pip --disable-pip-version-check -q install dist/*.whl
	cd $(STAMPS) && wheel-env/bin/probative demo > wheel-demo.txt
	@rm -rf $(STAMPS)/wheel-env
	@touch $@

test: check
	$(BIN)/python -m pytest -q -m 'not (neural or spark or cluster or browser)'
	$(MAKE) --no-print-directory docs wheel

# What needs PyTorch, Dask or a browser; a test without what it needs skips and says why.
$(STAMPS)/extras: $(STAMPS)/dev
	$(PIP) install -e '.[dev,crf,cluster]' torch==2.13.0
	@touch $@

test-extras: $(STAMPS)/extras
	$(BIN)/python -m pytest -q -m 'neural or spark or cluster or browser' || [ $$? -eq 5 ]

bench: $(STAMPS)/dev
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) $(STAMPS) build dist docs/_build docs/api .pytest_cache .mypy_cache .ruff_cache .hypothesis
