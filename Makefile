# Two commands for newcomers: `make demo` and `make test`. Both create .venv and install first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench docs linkcheck soak clean

demo: $(VENV)/.core
	$(BIN)/mossrules demo

test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto --dist worksteal

lint: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

docs: $(VENV)/.docs
	$(BIN)/python -m docs.cli_reference
	$(BIN)/python -m sphinx -b html -W --keep-going -n docs build/docs

linkcheck: $(VENV)/.docs
	$(BIN)/python -m sphinx -b linkcheck -D plot_gallery=0 docs build/linkcheck

# An hour of random problems through every method: `make soak MINUTES=5` for less.
MINUTES ?= 60
SEED ?= 0
soak: $(VENV)/.dev
	$(BIN)/python -m quality soak --minutes $(MINUTES) --seed $(SEED)

$(VENV)/.core: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("mossrules needs Python 3.11 or newer; run make PYTHON=python3.12, say") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

$(VENV)/.docs: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

clean:
	rm -rf $(VENV) build dist docs/api docs/gallery .mypy_cache .pytest_cache .ruff_cache .hypothesis
