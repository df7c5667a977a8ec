# Two commands set everything up and do the work: `make gate` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What the environment holds besides the gate itself; `EXTRAS=dev` leaves torch out.
EXTRAS ?= bench,dev
RUN ?= .benchgate/run.json
GATE_FLAGS ?=

.PHONY: gate test lint types clean
.DEFAULT_GOAL := test

# Rebuilt only when the list of dependencies changes, so a second run is quick.
comma := ,
STAMP := $(VENV)/.installed-$(subst $(comma),-,$(EXTRAS))

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS)]'
	@touch $@

gate: $(STAMP)
	$(BIN)/python -m ci.run --output $(RUN) $(GATE_FLAGS)
	$(BIN)/python -m ci.compare $(RUN)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Without torch only the gate can be checked: the library's types are torch's.
types: $(STAMP)
	$(BIN)/mypy $(if $(findstring bench,$(EXTRAS)),,ci)

test: lint types
	$(BIN)/python -m pytest

clean:
	rm -rf $(VENV) .benchgate .mypy_cache .pytest_cache .ruff_cache .hypothesis
