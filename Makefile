# Two commands for newcomers: `make demo` and `make test`. Both create .venv and install first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench docs linkcheck soak lock test-minimum test-newest test-wheel clean

demo: $(VENV)/.core
	$(BIN)/mossrules demo

# Kernels are compiled once beforehand, half of them beside mypy: the processes of pytest would each
# compile all of them.
test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tests/support/warm.py search & $(BIN)/mypy && $(BIN)/python tests/support/warm.py learning && wait $$!
	$(BIN)/pytest -n auto --dist worksteal

lint: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python -m research.benchmarks

docs: $(VENV)/.dev
	$(BIN)/python -m docs.cli_reference
	$(BIN)/python -m sphinx -b html -W --keep-going -n docs build/docs

linkcheck: $(VENV)/.dev
	$(BIN)/python -m sphinx -b linkcheck -D plot_gallery=0 docs build/linkcheck

# An hour of random problems through every method: `make soak MINUTES=5` for less.
MINUTES ?= 60
SEED ?= 0
soak: $(VENV)/.dev
	$(BIN)/python -m research.quality soak --minutes $(MINUTES) --seed $(SEED)

# The suite in environments of their own, under build/: the lowest releases that are allowed, the
# newest there are, and the wheel in place of the sources.
test-minimum test-newest test-wheel: test-%: $(VENV)/.dev
	$(BIN)/python -m research.quality $*

# Exact releases with their hashes, for Python 3.11 and newer, on any platform: see requirements/.
LOCK := $(BIN)/uv pip compile --quiet --upgrade --generate-hashes --no-emit-index-url \
	--no-emit-find-links --no-annotate --custom-compile-command "make lock" pyproject.toml
lock: $(VENV)/.dev
	$(LOCK) --universal --python-version 3.11 --all-extras --group dev --group docs \
		--output-file requirements/development.txt
	$(LOCK) --universal --python-version 3.11 --constraint requirements/development.txt \
		--output-file requirements/core.txt
	$(LOCK) --universal --python-version 3.11 --all-extras --group tests --group bench \
		--resolution lowest-direct --constraint requirements/minimum.in \
		--output-file requirements/minimum.txt

# The lock of the core has no hatchling, so that pip fetches one, for this build alone.
$(VENV)/.core: pyproject.toml requirements/core.txt | $(VENV)/.python
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/core.txt
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	touch $@

$(VENV)/.dev: pyproject.toml research/pyproject.toml requirements/development.txt | $(VENV)/.python
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/development.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation \
		--editable . --editable ./research
	touch $@

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit("mossrules needs Python 3.11 or newer; run make PYTHON=python3.12, say") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	touch $@

clean:
	rm -rf $(VENV) build dist docs/api docs/gallery .mypy_cache .pytest_cache .ruff_cache .hypothesis
