# `make demo` and `make test` need nothing but Python 3.11+ and make: the virtual
# environment is built on the first call and reused afterwards.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
LOWEST := .venv-lowest
NEWEST := .venv-newest
NOT_LOWEST := huge_counts_stay_sane or fuzz or random_command_lines or study or crossval or schemes or another_format \
  or what_was_edited or names_a_flag or operating_system or killed or interrupt
STAMPS := .make
PIP    := $(BIN)/python -m pip --disable-pip-version-check -q
# one process per core, each taking over tests of the others when it has none left, and each with one
# thread: more would wait for one another
PARALLEL := -n auto --dist worksteal
EXTRA := neural or cluster or spark or browser or latex
test test-slow test-lowest test-newest: export OMP_NUM_THREADS = 1
test test-slow test-lowest test-newest: export OPENBLAS_NUM_THREADS = 1
SOURCES := $(shell find src -name '*.py' -o -name '*.json' -o -name '*.html' -o -name '*.csv') pyproject.toml README.md

.PHONY: demo test test-slow test-extras test-lowest test-newest coverage check docs bench wheel clean
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
	$(BIN)/python -m pytest -q -m lint tests/test_imports.py tests/cli/test_flags.py

docs: $(STAMPS)/dev
	rm -rf docs/api  # one page per public name; those of former names would stay
	$(BIN)/sphinx-build -q -E -W --keep-going -b html docs docs/_build/html

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
	$(BIN)/python -m pytest -q $(PARALLEL) -m 'not (slow or lint or $(EXTRA))'
	$(MAKE) --no-print-directory -j2 docs wheel

# Kills, interrupts, recorded commands of studies, simulations, fuzzing: before a release, and in CI.
test-slow: $(STAMPS)/dev
	$(BIN)/python -m pytest -q $(PARALLEL) -m 'slow and not ($(EXTRA))'

# What needs PyTorch, Dask, Spark, a browser or LaTeX. Nothing skips here: what is missing is a failure, and so is
# a run that collects no test.
$(STAMPS)/extras: $(STAMPS)/dev
	$(PIP) install -e '.[dev,crf,cluster,spark]' torch==2.13.0
	@touch $@

test-extras: $(STAMPS)/extras
	PROBATIVE_NO_SKIP=1 $(BIN)/python -m pytest -q -m '$(EXTRA)'

# The lowest versions that pyproject.toml allows, in an environment of their own. SciPy 1.15 has no
# incomplete beta function for counts of 10^12; later versions have. What takes long and calls nothing that
# the rest does not is left out.
$(STAMPS)/lowest: $(STAMPS)/python pyproject.toml .ci/lowest.py
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) .ci/lowest.py > $(STAMPS)/lowest.txt
	$(LOWEST)/bin/python -m pip --disable-pip-version-check -q install -c $(STAMPS)/lowest.txt \
	  -e '.[crf]' conlleval hypothesis mpmath 'pandas<3' polars 'pyarrow<20' pytest pytest-xdist scikit-learn seqeval
	@touch $@

test-lowest: $(STAMPS)/lowest
	$(LOWEST)/bin/python -m pytest -q $(PARALLEL) -p no:cacheprovider -W ignore::DeprecationWarning \
	  -m 'not (slow or lint or $(EXTRA))' -k 'not ($(NOT_LOWEST))' \
	  tests/cli tests/matching tests/reading tests/reporting tests/tables tests/test_compare.py tests/test_counts.py \
	  tests/test_gates.py tests/test_imports.py tests/test_metrics.py tests/test_score.py \
	  tests/inference/test_intervals.py tests/inference/test_posteriors.py

# A quick part with the newest Python that is installed besides the default one; nothing without one.
test-newest: $(STAMPS)/python
	@newest=$$($(PYTHON) .ci/newest.py); \
	if [ -z "$$newest" ]; then echo "test-newest: no newer Python is installed"; exit 0; fi; \
	rm -rf $(NEWEST) && $$newest -m venv $(NEWEST) && \
	$(NEWEST)/bin/python -m pip --disable-pip-version-check -q install -e . conlleval hypothesis mpmath pandas polars pyarrow pytest \
	  pytest-xdist scikit-learn seqeval && \
	$(NEWEST)/bin/python --version && \
	$(NEWEST)/bin/python -m pytest -q $(PARALLEL) -p no:cacheprovider -W ignore::DeprecationWarning \
	  -m 'not (slow or lint or $(EXTRA))' tests/test_compare.py tests/test_score.py tests/test_counts.py tests/test_imports.py \
	  tests/test_public.py tests/jobs/test_combinations.py tests/cli/test_compare_command.py

# Which lines the tests reach, those in the processes that they start included.
coverage: $(STAMPS)/dev
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -q -m 'not (slow or lint or $(EXTRA))'
	$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage report

# All benchmarks; their figures go into docs/results/benchmarks.csv. `make bench WRITE=` only prints them, and `make bench ONLY="labels many"` runs some.
WRITE = --write
bench: $(STAMPS)/dev
	$(BIN)/python benchmarks/run.py $(WRITE) $(ONLY)

clean:
	rm -rf $(VENV) $(LOWEST) $(NEWEST) $(STAMPS) .coverage* build dist docs/_build docs/api .pytest_cache .mypy_cache .ruff_cache .hypothesis
